// The header matchers of retry policies that stand in clusters (HttpProtocolOptions.retry_policy).
// Those of routes are in their entries.
#pragma once
#include <unordered_map>
#include <vector>

#include "config/model/cluster.h"
#include "route/matchers.h"

namespace damper::router {

struct RetryMatchers {
  std::vector<route::HeaderMatcher> response;  // retriable_headers
  std::vector<route::HeaderMatcher> request;   // retriable_request_headers
};

// Only clusters with a policy are in it.
using ClusterMatchers = std::unordered_map<const config::Cluster*, RetryMatchers>;

// `clusters` outlives what is made of it.
Result<ClusterMatchers> compile_cluster_matchers(const std::vector<config::Cluster>& clusters);

}  // namespace damper::router
