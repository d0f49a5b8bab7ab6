// What the HTTP/2 codecs may be told. Names and defaults in config/model/listener.h.
#pragma once
#include <cstddef>

#include "config/model/common.h"
#include "http/h1_options.h"

namespace damper::http {

struct H2Options {
  config::Http2Options http2;
  std::size_t max_head_bytes = 60 * 1024;  // names and values
  std::size_t max_headers = 100;
  Underscores headers_with_underscores = Underscores::kAllow;  // server only
  bool proxy_100_continue = false;  // server only: leaves `expect` among the fields
};

}  // namespace damper::http
