// Gauges that nobody has to keep up to date on the way of a request: they are worked out when
// somebody asks.
#pragma once
#include "server/clusters_page.h"
#include "server/snapshot.h"

namespace damper::server {

// Breakers (…_open, and remaining_… where track_remaining is set), hosts in service and out of it,
// the state of the failure-rate breaker.
void refresh_gauges(const Snapshot& snapshot, const HostsOf& hosts, stats::Registry& registry,
                    stats::Cells& cells, TimePoint now);

}  // namespace damper::server
