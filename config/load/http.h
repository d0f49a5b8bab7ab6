// HttpConnectionManager: how a listener speaks HTTP.
#pragma once
#include "config/cursor.h"
#include "config/model/listener.h"

namespace damper::config {

// Envoy's message behind "@type". `name`: of the listener, for the names that are not written.
HttpOptions read_connection_manager(Cursor c, const std::string& name);
// The same settings where they stand beside a listener's own, in its short form. The caller ends
// with no_other_keys.
HttpOptions read_short_http(Cursor& c, const std::string& name);

}  // namespace damper::config
