// How a cluster's hosts are spoken to. Envoy extensions.upstreams.http.v3.HttpProtocolOptions, its
// older fields in the cluster itself, and in short `http: 1 | 2 | auto`.
#pragma once
#include "config/cursor.h"
#include "config/model/cluster.h"

namespace damper::config {

void read_upstream_http(Cursor& cluster, Cluster& out);

}  // namespace damper::config
