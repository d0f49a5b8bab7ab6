// An operator damps the retries of a cluster while the proxy runs (POST /retry/clusters/<name>).
#include <gtest/gtest.h>

#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

constexpr const char* kNoBudget =
    "circuit_breakers: { thresholds: [ { retry_budget: { disabled: true } } ] }";

TEST(Damping, OffRefusesEveryRetryAndSaysSoEverywhere) {
  LogFile log;
  ScriptedUpstream upstream(always(http_response(503, "busy")));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx"), kNoBudget,
                               log.setting("format: \"%RETRY_VERDICT%\\n\"")));
  const WireMessage said = proxy.admin("POST", "/retry/clusters/app?mode=off");
  EXPECT_EQ(said.status(), 200);
  EXPECT_NE(said.body.find("app      default   off "), std::string::npos) << said.body;
  const WireMessage answer = proxy.get();
  EXPECT_EQ(answer.body, "busy");
  EXPECT_EQ(answer.field("x-damper-retry"), "final; by=; attempts=1; verdict=live_off");
  EXPECT_EQ(upstream.requests().size(), 1u);
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.live_off"), 1);
  EXPECT_EQ(proxy.stat("cluster.app.live_override_changes"), 1);
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"live_off"});

  proxy.admin("POST", "/retry/clusters/app?mode=normal");
  proxy.get();
  EXPECT_EQ(upstream.requests().size(), 3u);
}

TEST(Damping, FallsBackByItself) {
  ScriptedUpstream upstream(always(http_response(503, "busy")));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx"), kNoBudget));
  proxy.admin("POST", "/retry/clusters/app?mode=off&for=10ms");
  EXPECT_TRUE(proxy.stat_becomes("cluster.app.live_override_changes", 2));
  EXPECT_NE(proxy.admin("GET", "/retry?format=json").body.find("\"mode\":\"normal\""),
            std::string::npos);
  proxy.get();
  EXPECT_EQ(upstream.requests().size(), 2u);
}

TEST(Damping, MayLeaveOnlyConnectFailures) {
  RefusingPort dead;
  ScriptedUpstream upstream(always(http_response(503, "busy")));
  RunningProxy proxy(one_route(dead.endpoint() + ", " + upstream.endpoint(),
                               retry("5xx", "num_retries: 2"), kNoBudget));
  proxy.admin("POST", "/retry/clusters/app?mode=connect_failure_only");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(proxy.get().body, "busy");
  EXPECT_EQ(upstream.requests().size(), 2u);
  EXPECT_EQ(proxy.stat("cluster.app.retry_attempts.connect_failure"), 2);
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.live_off"), 2);
}

TEST(Damping, ARatioReplacesThatOfTheBudget) {
  std::vector<std::string> responses(20, http_response(200, ""));
  responses.push_back(http_response(503, ""));
  ScriptedUpstream upstream(in_turn(responses));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx"),
                               "circuit_breakers: { thresholds: [ { retry_budget: { window: { "
                               "ratio: 10%, min_retries: 0 } } } ] }"));
  for (int i = 0; i < 20; ++i) proxy.get();
  proxy.admin("POST", "/retry/clusters/app?mode=normal&ratio=0%");
  proxy.get();
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.budget_window"), 1);
  proxy.admin("POST", "/retry/clusters/app?mode=normal");
  proxy.get();
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_retry"), 1);
}

TEST(Damping, IsToldInAFormToo) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint()));
  WireConnection client = WireConnection::connect_to(proxy.server().admin_address().port());
  client.send(
      "POST /retry/clusters/app HTTP/1.1\r\nhost: a\r\ncontent-length: 24\r\n\r\n"
      "mode=off&for=9m&ratio=5%");
  EXPECT_EQ(client.read_response()->status(), 200);
  const std::string json = proxy.admin("GET", "/retry/clusters/app?format=json").body;
  EXPECT_NE(json.find("\"mode\":\"off\",\"seconds_left\":540,\"ratio_percent\":5,"),
            std::string::npos)
      << json;
}

TEST(Damping, WhatCannotBeIsRefusedAndALinkChangesNothing) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint()));
  EXPECT_EQ(proxy.admin("POST", "/retry/clusters/none?mode=off").status(), 404);
  const WireMessage bad = proxy.admin("POST", "/retry/clusters/app?mode=on");
  EXPECT_EQ(bad.status(), 400);
  EXPECT_EQ(bad.body, "mode=on: allowed are normal, connect_failure_only and off\n");
  EXPECT_EQ(proxy.admin("GET", "/retry/clusters/app?mode=off").status(), 200);
  EXPECT_EQ(proxy.stat("cluster.app.live_override_changes"), 0);
  EXPECT_NE(proxy.admin("GET", "/retry").body.find("app      high      normal "),
            std::string::npos);
}

TEST(Damping, AmplificationIsShown) {
  ScriptedUpstream upstream(always(http_response(503, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx"), kNoBudget));
  proxy.get();
  EXPECT_NE(proxy.admin("GET", "/retry?format=json").body.find("\"amplification\":2.000"),
            std::string::npos);
}

}  // namespace
}  // namespace damper::tests
