// What /clusters shows: limits, budgets and hosts of every cluster, in Envoy's line format or as
// JSON.
#pragma once
#include <functional>
#include <string>

#include "server/snapshot.h"

namespace damper::server {

using HostsOf = std::function<const upstream::Hosts&(std::size_t cluster)>;

std::string clusters_text(const Snapshot& snapshot, const HostsOf& hosts, TimePoint now);
std::string clusters_json(const Snapshot& snapshot, const HostsOf& hosts, TimePoint now);

}  // namespace damper::server
