// HTTP filters: http_filters with "@type", the short form `filters`, and typed_per_filter_config.
#pragma once
#include "config/cursor.h"
#include "config/model/listener.h"

namespace damper::config {

// Envoy's http_filters. The router, which may be left out, sets what it says about requests in
// `out`.
void read_http_filters(const std::vector<Cursor>& items, HttpOptions& out);
// `filters: [ fault: {…}, headers: {…} ]`; a name alone stands for its defaults.
void read_short_filters(const std::vector<Cursor>& items, HttpOptions& out);

std::vector<FilterOverride> read_filter_overrides(Cursor c);

}  // namespace damper::config
