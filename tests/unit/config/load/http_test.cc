#include "config/load/http.h"

#include <gtest/gtest.h>

#include "tests/support/config_text.h"

namespace damper::config {
namespace {

TEST(Listeners, AreReadInFull) {
  const Listener listener = load_listener(R"(edge: true
  enable_reuse_port: false
  tcp_backlog_size: 5
  per_connection_buffer_limit_bytes: 2048
  use_remote_address: true
  internal_address_config: { cidr_ranges: [ { address_prefix: 127.0.0.0, prefix_len: 8 } ] }
  server_header_transformation: PASS_THROUGH
  path_with_escaped_slashes_action: UNESCAPE_AND_REDIRECT
  http_protocol_options: { accept_http_10: true, default_host_for_http_10: a, enable_trailers: true }
  common_http_protocol_options: { idle_timeout: 0s, headers_with_underscores_action: REJECT_REQUEST }
  upgrade_configs: [ { upgrade_type: websocket } ])");
  EXPECT_TRUE(listener.edge);
  EXPECT_FALSE(listener.reuse_port);
  EXPECT_EQ(listener.backlog, 5);
  EXPECT_EQ(listener.buffer_limit_bytes, 2048u);
  EXPECT_TRUE(listener.http.use_remote_address);
  EXPECT_EQ(listener.http.internal_addresses,
            (std::vector<CidrRange>{{.address_prefix = "127.0.0.0", .prefix_len = 8}}));
  EXPECT_EQ(listener.http.server_header, HttpOptions::ServerHeader::kPassThrough);
  EXPECT_EQ(listener.http.path_with_escaped_slashes,
            HttpOptions::EscapedSlashes::kUnescapeAndRedirect);
  EXPECT_EQ(listener.http.http1,
            (Http1Options{
                .accept_http_10 = true, .default_host_for_http_10 = "a", .enable_trailers = true}));
  EXPECT_EQ(listener.http.idle_timeout, 0s);
  EXPECT_EQ(listener.http.headers_with_underscores, HttpOptions::Underscores::kRejectRequest);
  EXPECT_TRUE(listener.http.websocket);
}

}  // namespace
}  // namespace damper::config
