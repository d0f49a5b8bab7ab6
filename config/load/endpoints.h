// The hosts of a cluster: load_assignment, or in short `endpoints`.
#pragma once
#include "config/cursor.h"
#include "config/model/cluster.h"

namespace damper::config {

// Reads either form. The short one also chooses the cluster's type if it is not written: a name
// needs DNS.
void read_endpoints(Cursor& cluster, Cluster& out);

}  // namespace damper::config
