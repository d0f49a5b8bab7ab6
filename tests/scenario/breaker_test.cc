// The failure-rate breaker of a cluster: what passes, and where a refusal is seen.
#include <gtest/gtest.h>

#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

std::string breaker(const std::string& open_for) {
  return "breaker: { failure_percent: 50, min_requests: 2, probes: 1, open_for: " + open_for + " }";
}

TEST(Breaker, OpensRefusesAtOnceAndSaysSoEverywhere) {
  LogFile log;
  ScriptedUpstream upstream(always(http_response(500, "broken")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", breaker("60s"),
                               log.setting("format: \"%RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% "
                                           "%UPSTREAM_HOST%\\n\"")));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(proxy.get().status(), 500);
  const WireMessage refused = proxy.get();
  EXPECT_EQ(refused.status(), 503);
  EXPECT_EQ(refused.body, "circuit breaker open: too much fails");
  EXPECT_EQ(refused.field("retry-after"), "60");
  EXPECT_EQ(refused.field("x-envoy-overloaded"), "true");
  EXPECT_TRUE(refused.field("x-damper-retry").value_or("").starts_with("final"));
  EXPECT_EQ(upstream.requests().size(), 2u);
  EXPECT_EQ(proxy.stat("cluster.app.breaker.opened"), 1);
  EXPECT_EQ(proxy.stat("cluster.app.breaker.rejected"), 1);
  EXPECT_EQ(proxy.stat("cluster.app.breaker.state"), 2);
  EXPECT_NE(proxy.admin("GET", "/clusters").body.find("app::breaker::state::open\n"),
            std::string::npos);
  const auto lines = log.lines(3);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[2], "UO circuit_breaker_open -");
}

TEST(Breaker, ACallerWithoutTimeSaysNothingAboutTheCluster) {
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(upstream.endpoint(), "timeout: 100ms", breaker("60s")));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(proxy.get("/", "x-envoy-expected-rq-timeout-ms: 5\r\n").status(), 504);
  }
  EXPECT_EQ(proxy.stat("cluster.app.breaker.opened"), 0);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(proxy.get().status(), 504);  // our own timeout does
  EXPECT_EQ(proxy.stat("cluster.app.breaker.opened"), 1);
}

TEST(Breaker, AProbeThatSucceedsClosesIt) {
  ScriptedUpstream upstream(in_turn({"", "", http_response(200, "well again")}));
  RunningProxy proxy(one_route(upstream.endpoint(), "", breaker("1ms")));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(proxy.get().status(), 503);
  EXPECT_TRUE(proxy.stat_becomes("cluster.app.breaker.state", 3));
  EXPECT_EQ(proxy.get().body, "well again");
  EXPECT_EQ(proxy.stat("cluster.app.breaker.state"), 1);
}

TEST(Breaker, AProbeThatFailsIsNotRetriedAndOpensItAgain) {
  ScriptedUpstream upstream(always(http_response(503, "busy")));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx", "num_retries: 1"),
                               breaker("1ms") +
                                   ", circuit_breakers: { thresholds: [ { retry_budget: { "
                                   "disabled: true } } ] }"));
  proxy.get();  // and its retry: that is two
  EXPECT_TRUE(proxy.stat_becomes("cluster.app.breaker.state", 3));
  const WireMessage probe = proxy.get();
  EXPECT_EQ(probe.body, "busy");
  EXPECT_EQ(probe.field("x-damper-retry"), "final; by=; attempts=1; verdict=breaker_open");
  EXPECT_EQ(upstream.requests().size(), 3u);
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.breaker_open"), 1);
  EXPECT_EQ(proxy.stat("cluster.app.breaker.opened"), 2);
}

TEST(Breaker, WhileProbesRunOthersAreRefusedAndAClientThatLeavesFreesTheirPlace) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int) {
    while (const auto request = self.receive(connection)) {
      if (request->target() == "/slow") {
        connection.wait_for_close();
        return;
      }
      connection.send(http_response(request->target() == "/bad" ? 500 : 200, ""));
    }
  });
  RunningProxy proxy(one_route(upstream.endpoint(), "", breaker("1ms")));
  for (int i = 0; i < 2; ++i) proxy.get("/bad");
  EXPECT_TRUE(proxy.stat_becomes("cluster.app.breaker.state", 3));
  WireConnection probe = proxy.connect();
  probe.send("GET /slow HTTP/1.1\r\nhost: a\r\n\r\n");
  ASSERT_TRUE(upstream.wait_for_requests(3));
  const WireMessage refused = proxy.get();
  EXPECT_EQ(refused.status(), 503);
  EXPECT_EQ(refused.field("retry-after"), "1");
  probe.close();
  EXPECT_TRUE(proxy.stat_becomes("http.in.downstream_rq_active", 0));
  EXPECT_EQ(proxy.get().status(), 200);
}

TEST(Breaker, AServerThatAsksForPatienceDoesNotOpenIt) {
  ScriptedUpstream upstream(always(http_response(503, "busy", "retry-after: 1\r\n")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", breaker("60s")));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(proxy.get().body, "busy");
  EXPECT_EQ(proxy.stat("cluster.app.breaker.opened"), 0);
}

TEST(Breaker, EveryAttemptCountsAndTheAnswerThatOpensItIsDelivered) {
  ScriptedUpstream upstream(always(http_response(503, "busy")));
  RunningProxy proxy(
      one_route(upstream.endpoint(), retry("5xx", "num_retries: 3"), breaker("60s")));
  EXPECT_EQ(proxy.get().body, "busy");  // the second attempt opens it, so there is no third
  EXPECT_EQ(upstream.requests().size(), 2u);
}

}  // namespace
}  // namespace damper::tests
