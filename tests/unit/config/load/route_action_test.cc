#include "config/load/route_action.h"

#include <gtest/gtest.h>

#include "tests/support/config_text.h"

namespace damper::config {
namespace {

TEST(RouteActions, AreReadInFull) {
  const RouteAction action = load_action(R"(
    timeout: 0s, idle_timeout: 1h, prefix_rewrite: /new, host_rewrite_literal: b.example, priority: HIGH,
    cluster_not_found_response_code: NOT_FOUND, upgrade_configs: [ { upgrade_type: WebSocket, enabled: false } ],
    max_stream_duration: { max_stream_duration: 0s, grpc_timeout_header_max: 3s, grpc_timeout_header_offset: 10ms },
    hedge_policy: { hedge_on_per_try_timeout: false }, layer: { role: entrance }, inherit: none)");
  RouteAction expected;
  expected.cluster = "app";
  expected.timeout = 0s;
  expected.idle_timeout = 1h;
  expected.prefix_rewrite = "/new";
  expected.host_rewrite_literal = "b.example";
  expected.priority = Priority::kHigh;
  expected.cluster_not_found_status = 404;
  expected.websocket = false;
  expected.max_stream_duration = 0s;
  expected.grpc_timeout_header_max = 3s;
  expected.grpc_timeout_header_offset = 10ms;
  expected.hedge_policy.emplace();
  expected.layer = LayerRole::kEntrance;
  expected.inherit = false;
  EXPECT_EQ(action, expected);
  EXPECT_EQ(load_action("layer: off").layer, LayerRole::kOff);
  EXPECT_TRUE(load_action("").inherit);
  EXPECT_TRUE(load_action("inherit: all").inherit);
}

}  // namespace
}  // namespace damper::config
