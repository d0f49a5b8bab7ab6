// The retry budget of a cluster, part by part, and where its verdict is seen.
#include <gtest/gtest.h>

#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

std::string budget(const std::string& fields) {
  return "circuit_breakers: { thresholds: [ { " + fields + " } ] }";
}

TEST(Budget, AnEmptyWindowRefusesAndSaysSoEverywhere) {
  LogFile log;
  ScriptedUpstream upstream(always(http_response(503, "busy")));
  RunningProxy proxy(one_route(
      upstream.endpoint(), retry("5xx"), budget("retry_budget: { window: { min_retries: 1 } }"),
      log.setting("format: \"%RETRY_VERDICT% %RESPONSE_FLAGS% %ATTEMPTS%\\n\"")));
  EXPECT_EQ(proxy.get().field("x-damper-retry"), "final; by=; attempts=2; verdict=limit");
  const WireMessage refused = proxy.get();
  EXPECT_EQ(refused.status(), 503);
  EXPECT_EQ(refused.body, "busy");
  EXPECT_EQ(refused.field("x-damper-retry"), "final; by=; attempts=1; verdict=budget_window");
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.budget_window"), 1);
  EXPECT_EQ(proxy.stat("cluster.app.budget_denied"), 1);
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_retry_overflow"), 1);
  const auto lines = log.lines(2);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].starts_with("limit URX " + upstream.endpoint() + ":")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("budget_window UO " + upstream.endpoint() + ":")) << lines[1];
}

TEST(Budget, SuccessesFillTheWindow) {
  std::vector<std::string> responses(20, http_response(200, ""));
  responses.push_back(http_response(503, ""));
  responses.push_back(http_response(503, ""));
  ScriptedUpstream upstream(in_turn(responses));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx"),
                               budget("retry_budget: { window: { ratio: 10%, min_retries: 0 } }")));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(proxy.get().status(), 200);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(proxy.get().status(), 503);
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_retry"), 2);
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.budget_window"), 1);
}

TEST(Budget, AnEmptyBucketRefusesAndSaysSoEverywhere) {
  LogFile log;
  ScriptedUpstream upstream(always(http_response(503, "busy")));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx"),
                               budget("retry_budget: { throttle: { max_tokens: 4 } }"),
                               log.setting("format: \"%RETRY_VERDICT% %RESPONSE_FLAGS%\\n\"")));
  EXPECT_EQ(proxy.get().field("x-damper-retry"), "final; by=; attempts=2; verdict=limit");
  EXPECT_EQ(proxy.get().field("x-damper-retry"), "final; by=; attempts=1; verdict=budget_throttle");
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.budget_throttle"), 1);
  EXPECT_EQ(proxy.stat("cluster.app.budget_denied"), 1);
  EXPECT_EQ(log.lines(2), (std::vector<std::string>{"limit URX", "budget_throttle UO"}));
}

TEST(Budget, WhatACandidateWouldRefuseIsCountedAndDone) {
  LogFile log;
  ScriptedUpstream upstream(in_turn({http_response(503, "busy"), http_response(200, "")}));
  RunningProxy proxy(
      one_route(upstream.endpoint(), retry("5xx"),
                budget("retry_budget: { window: {}, candidate: { window: { min_retries: 0 } } }"),
                log.setting("format: \"%RETRY_VERDICT%,%RETRY_SHADOW_VERDICT%\\n\"")));
  EXPECT_EQ(proxy.get().status(), 200);
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_retry"), 1);
  EXPECT_EQ(proxy.stat("cluster.app.budget_denied"), 0);
  EXPECT_EQ(proxy.stat("cluster.app.budget_shadow_denied"), 1);
  EXPECT_EQ(proxy.stat("cluster.app.retry_shadow_refused.budget_window"), 1);
  EXPECT_EQ(log.lines(1), (std::vector<std::string>{"-,budget_window"}));
}

TEST(Budget, EachRouteHasARatioOfItsOwn) {
  ScriptedUpstream upstream(always(http_response(503, "busy")));
  RunningProxy proxy(
      one_route(upstream.endpoint(), retry("5xx"),
                budget("retry_budget: { window: { ratio: 100%, min_retries: 0, credit: requests }, "
                       "scope: operation }")));
  EXPECT_EQ(proxy.get().status(), 503);  // pays for its own retry
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_retry"), 1);
  for (int i = 0; i < 3; ++i)
    proxy.ask("PUT / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_retry"), 4);
  EXPECT_EQ(proxy.stat("cluster.app.budget_denied"), 0);
}

// Answers 503 to the first attempt of each request; holds every retry until it is told to go on.
class HeldRetries {
 public:
  HeldRetries()
      : upstream([this](ScriptedUpstream& self, WireConnection& connection, int) {
          while (const auto request = self.receive(connection)) {
            if (request->field("x-envoy-attempt-count") == "1") {
              connection.send(http_response(503, "busy"));
              continue;
            }
            std::unique_lock lock(mu_);
            released_.wait_for(lock, std::chrono::seconds(10), [this] { return go_; });
            connection.send(http_response(200, "fine"));
          }
        }) {}
  ~HeldRetries() { release(); }

  void release() {
    const std::lock_guard lock(mu_);
    go_ = true;
    released_.notify_all();
  }

 private:
  std::mutex mu_;
  std::condition_variable released_;
  bool go_ = false;

 public:
  ScriptedUpstream upstream;
};

std::string counting_route(const ScriptedUpstream& upstream, const std::string& thresholds) {
  return "listeners:\n- { name: in, address: \"127.0.0.1:0\", virtual_hosts: [ { name: all, "
         "domains: [\"*\"], include_request_attempt_count: true, routes: [ { match: { prefix: / }, "
         "route: { cluster: app, " +
         retry("5xx") + " } } ] } ] }\nclusters:\n- { name: app, endpoints: [" +
         upstream.endpoint() + "], " + budget(thresholds) + " }\n";
}

void expect_one_at_a_time(const std::string& thresholds, const std::string& verdict) {
  HeldRetries held;
  RunningProxy proxy(counting_route(held.upstream, thresholds));
  WireConnection first = proxy.connect();
  first.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  ASSERT_TRUE(held.upstream.wait_for_requests(2));  // its retry runs
  const WireMessage refused = proxy.get();
  EXPECT_EQ(refused.status(), 503);
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused." + verdict), 1);
  held.release();
  EXPECT_EQ(first.read_response()->status(), 200);
  EXPECT_TRUE(proxy.stat_becomes("cluster.app.retries_active", 0));
  EXPECT_EQ(proxy.get().status(), 200);  // its place is free again
}

TEST(Budget, ConcurrencyCountsRetriesThatRun) {
  expect_one_at_a_time("retry_budget: { budget_percent: 0, min_retry_concurrency: 1 }",
                       "budget_concurrency");
}

TEST(Budget, MaxRetriesAloneHoldsWhereNoBudgetIsWritten) {
  expect_one_at_a_time("max_retries: 1", "budget_concurrency");
}

TEST(Budget, TheRateIsCapped) {
  ScriptedUpstream upstream(always(http_response(503, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx"),
                               budget("retry_budget: { max_retries_per_second: 2 }")));
  const TimePoint start = Clock::now();
  for (int i = 0; i < 5; ++i) proxy.get();
  if (Clock::now() - start < std::chrono::milliseconds(900)) {
    EXPECT_EQ(proxy.stat("cluster.app.retry_refused.budget_rate"), 3);
  }
  EXPECT_GE(proxy.stat("cluster.app.upstream_rq_retry"), 2);
}

TEST(Budget, WithoutAWordTheDefaultsHold) {
  ScriptedUpstream upstream(always(http_response(503, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx")));
  for (int i = 0; i < 10; ++i) proxy.get();
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_retry"), 3);
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.budget_window"), 7);
}

TEST(Budget, DisabledMeansNone) {
  ScriptedUpstream upstream(always(http_response(503, "")));
  RunningProxy proxy(
      one_route(upstream.endpoint(), retry("5xx"), budget("retry_budget: { disabled: true }")));
  for (int i = 0; i < 20; ++i) proxy.get();
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_retry"), 20);
}

TEST(Budget, IsExactAcrossWorkers) {
  ScriptedUpstream upstream(always(http_response(503, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx"),
                               budget("retry_budget: { window: { min_retries: 5 } }")),
                     {.concurrency = 2, .drain_time = Duration::zero()});
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&proxy] {
      for (int k = 0; k < 10; ++k) proxy.get();  // each on a connection of its own
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_retry"), 5);
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.budget_window"), 35);
}

}  // namespace
}  // namespace damper::tests
