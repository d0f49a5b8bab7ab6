// Envoy config.core.v3.Http2ProtocolOptions, of a listener and of a cluster.
#pragma once
#include "config/cursor.h"
#include "config/model/common.h"

namespace damper::config {

void read_http2_options(Cursor c, Http2Options& out);  // nothing where it is not written

}  // namespace damper::config
