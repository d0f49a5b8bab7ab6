// Reads a part of a configuration from the text of its fields; a text that does not load fails the
// test.
#pragma once
#include <string>

#include "config/load.h"

namespace damper::config {

Bootstrap load(const std::string& text, const LoadOptions& options = {});
Cluster load_cluster(const std::string& fields);        // beside name and endpoints
Thresholds load_thresholds(const std::string& fields);  // in flow form, of priority DEFAULT
Listener load_listener(const std::string& fields);      // beside name, address and routes
Route load_route(const std::string& route);
RouteAction load_action(const std::string& fields);        // in flow form, beside cluster
RetryPolicy load_retry_policy(const std::string& fields);  // in flow form

}  // namespace damper::config
