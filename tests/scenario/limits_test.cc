// Limits of listeners and clusters: what is over them is refused at once and says so.
#include <gtest/gtest.h>

#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

constexpr const char* kGet = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";

std::string limit(const std::string& fields) {
  return "circuit_breakers: { thresholds: [ { " + fields + " } ] }";
}

TEST(Limits, AListenerAcceptsSoManyConnections) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "", "max_connections: 1"));
  WireConnection first = proxy.connect();
  first.send(kGet);
  EXPECT_EQ(first.read_response()->status(), 200);
  WireConnection second = proxy.connect();
  EXPECT_TRUE(second.wait_for_close());
  EXPECT_EQ(proxy.stat("http.in.downstream_cx_overflow"), 1);
  first.close();
  EXPECT_TRUE(proxy.stat_becomes("http.in.downstream_cx_active", 0));
  EXPECT_EQ(proxy.get().status(), 200);
}

// With one request at the upstream, and another one waiting for its connection if `one_waits`.
void expect_refusal(const std::string& fields, bool one_waits) {
  LogFile log;
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(
      upstream.endpoint(), retry("5xx"), limit(fields),
      log.setting("format: \"%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS%\\n\"")));
  WireConnection first = proxy.connect();
  first.send(kGet);
  ASSERT_TRUE(upstream.wait_for_requests(1));
  WireConnection second = proxy.connect();
  if (one_waits) {
    second.send(kGet);
    ASSERT_TRUE(proxy.stat_becomes("cluster.app.upstream_rq_pending_active", 1));
  }
  const WireMessage answer = proxy.get();
  EXPECT_EQ(answer.status(), 503);
  EXPECT_EQ(answer.field("x-envoy-overloaded"), "true");
  EXPECT_TRUE(answer.field("x-damper-retry").value_or("").starts_with("final"));
  EXPECT_EQ(log.lines(1),
            std::vector<std::string>{"503 UO upstream_reset_before_response_started{overflow}"});
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_pending_overflow"), 1);
}

TEST(Limits, AClusterTakesSoManyRequests) { expect_refusal("max_requests: 1", false); }

TEST(Limits, SoManyRequestsMayWaitForAConnection) {
  expect_refusal("max_connections: 1, max_pending_requests: 1", true);
}

TEST(Limits, WhoWaitsGetsTheConnectionWhenItIsFree) {
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(
      one_route(upstream.endpoint(), "", limit("max_connections: 1, max_pending_requests: 100")));
  std::vector<WireConnection> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(proxy.connect());
    clients.back().send(kGet);
  }
  for (WireConnection& client : clients) {
    const auto answer = client.read_response();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status(), 200);
  }
  EXPECT_EQ(upstream.connections(), 1u);
}

TEST(Limits, AConnectionServesSoManyRequests) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "max_requests_per_connection: 2",
                               "common_http_protocol_options: { max_requests_per_connection: 3 }"));
  WireConnection client = proxy.connect();
  for (int i = 0; i < 3; ++i) {
    client.send(kGet);
    const auto answer = client.read_response();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->field("connection").value_or("") == "close", i == 2);
  }
  EXPECT_TRUE(client.wait_for_close());
  EXPECT_EQ(upstream.connections(), 2u);
}

TEST(Limits, PrioritiesHaveLimitsOfTheirOwn) {
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(
      "listeners:\n- { name: in, address: \"127.0.0.1:0\", routes: [ { match: { prefix: /high }, "
      "route: { cluster: app, priority: HIGH, timeout: 100ms } }, { match: { prefix: / }, route: { "
      "cluster: app } } ] }\nclusters:\n- { name: app, endpoints: [ " +
      upstream.endpoint() + " ], " + limit("max_requests: 1 }, { priority: HIGH, max_requests: 1") +
      " }\n");
  WireConnection first = proxy.connect();
  first.send(kGet);
  ASSERT_TRUE(upstream.wait_for_requests(1));
  EXPECT_EQ(proxy.get().status(), 503);
  EXPECT_EQ(proxy.get("/high").status(), 504);
}

}  // namespace
}  // namespace damper::tests
