// Which host an attempt goes to, and what a connection that dies costs.
#include <gtest/gtest.h>

#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

TEST(Hosts, ARetryPrefersAHostThatWasNotTried) {
  ScriptedUpstream a(always(http_response(503, "")));
  ScriptedUpstream b(always(http_response(503, "")));
  ScriptedUpstream c(always(http_response(503, "")));
  RunningProxy proxy(one_route(a.endpoint() + ", " + b.endpoint() + ", " + c.endpoint(),
                               retry("5xx", "num_retries: 2"), "lb_policy: RANDOM"));
  proxy.get();
  for (const auto* host : {&a, &b, &c}) EXPECT_EQ(host->requests().size(), 1u);
}

TEST(Hosts, ASingleHostIsTriedAgain) {
  ScriptedUpstream upstream(always(http_response(503, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx", "num_retries: 2")));
  proxy.get();
  EXPECT_EQ(upstream.requests().size(), 3u);
}

TEST(Hosts, NoneAnswers503WithUH) {
  RunningProxy proxy(
      "listeners:\n- { name: in, address: \"127.0.0.1:0\", routes: [ { match: { prefix: / }, "
      "route: "
      "{ cluster: app } } ] }\nclusters:\n- { name: app, endpoints: [] }\n");
  const WireMessage answer = proxy.get();
  EXPECT_EQ(answer.status(), 503);
  EXPECT_EQ(answer.body, "no healthy upstream");
  EXPECT_TRUE(answer.field("x-damper-retry").value_or("").starts_with("final"));
  EXPECT_EQ(proxy.stat("cluster.app.upstream_cx_none_healthy"), 1);
}

TEST(Hosts, OneThatFailsAgainAndAgainIsEjected) {
  RefusingPort dead;
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(one_route(dead.endpoint() + ", " + upstream.endpoint(), "",
                               "outlier_detection: { consecutive_local_origin_failure: 2, "
                               "split_external_local_origin_errors: "
                               "true, max_ejection_percent: 100, base_ejection_time: 60s }"));
  for (int i = 0; i < 4; ++i) proxy.get();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(proxy.get().status(), 200);
  EXPECT_NE(proxy.admin("GET", "/clusters").body.find("failed_outlier_check"), std::string::npos);
}

TEST(Hosts, AllEjectedAndNoPanicAnswers503WithUH) {
  ScriptedUpstream upstream(always(http_response(503, "busy")));
  RunningProxy proxy(
      one_route(upstream.endpoint(), "",
                "common_lb_config: { healthy_panic_threshold: 0 }, "
                "outlier_detection: { consecutive_5xx: 2, max_ejection_percent: 100 }"));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(proxy.get().body, "busy");
  EXPECT_EQ(proxy.get().body, "no healthy upstream");
  EXPECT_EQ(proxy.stat("cluster.app.upstream_cx_none_healthy"), 1);
}

TEST(Hosts, OneThatDoesWorseThanTheOthersIsEjected) {
  std::vector<std::unique_ptr<ScriptedUpstream>> hosts;
  std::string endpoints;
  for (int i = 0; i < 5; ++i) {
    hosts.push_back(
        std::make_unique<ScriptedUpstream>(always(http_response(i == 0 ? 500 : 200, ""))));
    endpoints += (i == 0 ? "" : ", ") + hosts.back()->endpoint();
  }
  RunningProxy proxy(one_route(endpoints, "",
                               "outlier_detection: { consecutive_5xx: 0, interval: 200ms, "
                               "success_rate_request_volume: 1, max_ejection_percent: 20 }"));
  const auto until = Clock::now() + std::chrono::seconds(10);
  const std::string found = "cluster.app.outlier_detection.ejections_enforced_success_rate";
  while (proxy.stat(found) == 0 && Clock::now() < until) proxy.get();
  EXPECT_EQ(proxy.stat(found), 1);
  EXPECT_EQ(proxy.stat("cluster.app.outlier_detection.ejections_active"), 1);
}

// Answers the first request of a connection, and closes it when the second has come.
ScriptedUpstream::Script dies_on_reuse() {
  return [](ScriptedUpstream& self, WireConnection& connection, int) {
    self.receive(connection);
    connection.send(http_response(200, "fine"));
    self.receive(connection);
  };
}

TEST(KeepAliveRace, IsRetriedForFreeWhereTheRequestMayBeRepeated) {
  ScriptedUpstream upstream(dies_on_reuse());
  RunningProxy proxy(one_route(upstream.endpoint(), retry("connect-failure")));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(proxy.get().status(), 200);
  EXPECT_EQ(upstream.requests().size(), 5u);
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.limit"), 0);
}

TEST(KeepAliveRace, IsNotHiddenFromAPostNorWithoutAPolicy) {
  for (const std::string& policy : {std::string(), retry("connect-failure")}) {
    ScriptedUpstream upstream(dies_on_reuse());
    RunningProxy proxy(one_route(upstream.endpoint(), policy));
    const std::string post = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nhi";
    EXPECT_EQ(proxy.ask(post).status(), 200);
    EXPECT_EQ(proxy.ask(post).status(), 503);
  }
}

TEST(KeepAlive, AConnectionThatWasClosedWhileIdleIsNotUsed) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int) {
    self.receive(connection);
    connection.send(http_response(200, "fine"));
  });
  RunningProxy proxy(one_route(upstream.endpoint()));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(proxy.get().status(), 200);
    EXPECT_TRUE(proxy.stat_becomes("cluster.app.upstream_cx_active", 0));
  }
}

TEST(KeepAlive, AnUnaskedAnswerNeverMeetsTheNextRequest) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int number) {
    self.receive(connection);
    connection.send(http_response(200, "right"));
    if (number == 0) connection.send(http_response(408, "too slow"));
    connection.wait_for_close();
  });
  RunningProxy proxy(one_route(upstream.endpoint()));
  EXPECT_EQ(proxy.get().body, "right");
  EXPECT_TRUE(proxy.stat_becomes("cluster.app.upstream_cx_active", 0));
  EXPECT_EQ(proxy.get().body, "right");
}

TEST(KeepAlive, TheRestOfARetriedResponseIsReadAndTheConnectionKept) {
  ScriptedUpstream upstream(
      in_turn({http_response(503, std::string(10'000, 'x')), http_response(200, "fine")}));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx")));
  EXPECT_EQ(proxy.get().status(), 200);
  EXPECT_EQ(proxy.get().status(), 200);
  EXPECT_LE(upstream.connections(), 2u);
}

TEST(KeepAlive, ManyRequestsShareOneConnection) {
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(one_route(upstream.endpoint()));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(proxy.get().status(), 200);
  EXPECT_EQ(upstream.connections(), 1u);
}

}  // namespace
}  // namespace damper::tests
