// Clusters: Envoy's message and the short forms of endpoints and protocol.
#pragma once
#include "config/cursor.h"
#include "config/model/cluster.h"

namespace damper::config {

Cluster read_cluster(Cursor c);

}  // namespace damper::config
