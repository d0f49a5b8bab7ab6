// A second attempt beside one that takes long: the faster answer wins, the other is cancelled.
#include <array>
#include <future>
#include <gtest/gtest.h>

#include "tests/support/gauges.h"
#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

using namespace std::chrono_literals;

const std::string kAfter10ms = "hedge_policy: { hedge_after: 10ms }";
const std::string kOnPerTryTimeout =
    "hedge_policy: { hedge_on_per_try_timeout: true }, " + retry("5xx", "per_try_timeout: 200ms");

std::string post(const std::string& headers = "") {
  return "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n" + headers + "\r\nhi";
}

// The first connection gets no answer; the others get one.
ScriptedUpstream::Script first_is_silent(std::string response) {
  return [response = std::move(response)](ScriptedUpstream& self, WireConnection& connection,
                                          int number) {
    while (self.receive(connection)) {
      if (number == 0) {
        connection.wait_for_close();
        return;
      }
      if (!connection.send(response)) return;
    }
  };
}

// An upstream whose connections answer when the test says so, each as it is told.
class ToldUpstream {
 public:
  ~ToldUpstream() {
    for (auto& answer : answers_) {
      if (!answer.told) answer.promise.set_value("");
    }
  }

  void answer(std::size_t connection, const std::string& response) {
    answers_.at(connection).told = true;
    answers_.at(connection).promise.set_value(response);
  }

 private:
  struct Answer {
    std::promise<std::string> promise;
    bool told = false;
  };
  std::array<Answer, 4> answers_;

 public:
  ScriptedUpstream upstream{[this](ScriptedUpstream& self, WireConnection& connection, int number) {
    if (!self.receive(connection)) return;
    connection.send(answers_.at(static_cast<std::size_t>(number)).promise.get_future().get());
  }};
};

WireConnection send(const RunningProxy& proxy, const std::string& request) {
  WireConnection client = proxy.connect();
  client.send(request);
  return client;
}

TEST(Hedge, TheFasterAnswerWinsAndTheLosersConnectionIsClosed) {
  for (const std::string& route :
       {kAfter10ms, kOnPerTryTimeout, kAfter10ms + ", " + retry("5xx")}) {
    SCOPED_TRACE(route);
    LogFile log;
    ScriptedUpstream upstream(first_is_silent(http_response(200, "quick")));
    {
      RunningProxy proxy(
          one_route(upstream.endpoint(), route, "",
                    log.setting("format: \"%RESPONSE_CODE% %RETRY_VERDICT% %ATTEMPTS%\\n\"")));
      EXPECT_EQ(proxy.get().body, "quick");
      EXPECT_EQ(upstream.requests().size(), 2u);
      EXPECT_EQ(upstream.requests()[1].field("x-envoy-attempt-count"), "2");
      EXPECT_TRUE(proxy.stat_becomes("cluster.app.upstream_rq_tx_reset", 1));
      EXPECT_EQ(proxy.stat("cluster.app.hedges"), 1);
      EXPECT_EQ(proxy.stat("cluster.app.hedges_won"), 1);
      EXPECT_EQ(proxy.stat("cluster.app.retry_attempts.hedge"), 1);
      EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_retry_success"), 1);
      const auto lines = log.lines(1);
      ASSERT_EQ(lines.size(), 1u);
      EXPECT_TRUE(lines[0].starts_with("200 - ")) << lines[0];
      EXPECT_NE(lines[0].find("cancelled"), std::string::npos) << lines[0];
      EXPECT_EQ(proxy.stat("cluster.app.upstream_cx_active"), 1);
    }
    EXPECT_TRUE(upstream.wait_for_scripts_to_end());
  }
}

TEST(Hedge, TheOriginalMayStillWin) {
  LogFile log;
  ToldUpstream told;
  RunningProxy proxy(one_route(told.upstream.endpoint(), kAfter10ms, "",
                               log.setting("format: \"%RESPONSE_CODE%\\n\"")));
  WireConnection client = send(proxy, "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  ASSERT_TRUE(told.upstream.wait_for_requests(2));
  told.answer(0, http_response(200, "original"));
  EXPECT_EQ(client.read_response()->body, "original");
  EXPECT_EQ(proxy.stat("cluster.app.hedges"), 1);
  EXPECT_EQ(proxy.stat("cluster.app.hedges_won"), 0);
  told.answer(1, "");
  client.close();
  EXPECT_TRUE(told.upstream.wait_for_scripts_to_end());
  expect_nothing_left(proxy, log);
}

TEST(Hedge, GoesToAnotherHost) {
  ScriptedUpstream slow(silent());
  ScriptedUpstream quick(always(http_response(200, "quick")));
  RunningProxy proxy(one_route(slow.endpoint() + ", " + quick.endpoint(), kAfter10ms,
                               "circuit_breakers: { thresholds: [ { retry_budget: { disabled: true "
                               "} } ] }"));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(proxy.get().body, "quick");
  EXPECT_EQ(proxy.stat("cluster.app.hedges"), static_cast<long>(slow.requests().size()));
  EXPECT_EQ(quick.requests().size(), 4u);
}

TEST(Hedge, OneThatFindsNoPlaceLeavesTheOriginalAlone) {
  LogFile log;
  ToldUpstream told;
  RunningProxy proxy(one_route(told.upstream.endpoint(), kAfter10ms,
                               "circuit_breakers: { thresholds: [ { max_requests: 1 } ] }",
                               log.setting("format: \"%RESPONSE_CODE% %RESPONSE_FLAGS%\\n\"")));
  WireConnection client = send(proxy, "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  ASSERT_TRUE(proxy.stat_becomes("cluster.app.upstream_rq_pending_overflow", 1));
  told.answer(0, http_response(200, "original"));
  EXPECT_EQ(client.read_response()->body, "original");
  EXPECT_EQ(told.upstream.requests().size(), 1u);
  client.close();
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"200 -"});
  expect_nothing_left(proxy, log);
}

TEST(Hedge, AnswersQuickEnoughAreNotHedged) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), "hedge_policy: { hedge_after: 10s }"));
  EXPECT_EQ(proxy.get().status(), 200);
  EXPECT_EQ(proxy.stat("cluster.app.hedges"), 0);
}

TEST(Hedge, APostIsHedgedOnlyWithTheClientsKey) {
  for (const std::string& route : {kAfter10ms + ", timeout: 200ms", kOnPerTryTimeout}) {
    SCOPED_TRACE(route);
    ScriptedUpstream silent_one(silent());
    RunningProxy refusing(one_route(silent_one.endpoint(), route));
    EXPECT_EQ(refusing.ask(post()).status(), 504);
    EXPECT_EQ(silent_one.requests().size(), 1u);
    EXPECT_EQ(refusing.stat("cluster.app.hedges"), 0);
    EXPECT_EQ(refusing.stat("cluster.app.hedges_refused"), 1);
  }
  ScriptedUpstream upstream(first_is_silent(http_response(200, "quick")));
  RunningProxy proxy(one_route(upstream.endpoint(), kAfter10ms));
  EXPECT_EQ(proxy.ask(post("idempotency-key: k1\r\n")).body, "quick");
  for (const WireMessage& attempt : upstream.requests()) {
    EXPECT_EQ(attempt.field("idempotency-key"), "k1");
    EXPECT_EQ(attempt.body, "hi");
  }
}

TEST(Hedge, ThePatienceBeginsWhenTheRequestIsWhole) {
  ScriptedUpstream upstream(first_is_silent(http_response(200, "second")));
  RunningProxy proxy(one_route(upstream.endpoint(), kAfter10ms));
  WireConnection client = proxy.connect();
  client.send("PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nh");
  EXPECT_FALSE(client.readable_within(50));
  EXPECT_EQ(proxy.stat("cluster.app.hedges"), 0);
  client.send("i");
  EXPECT_EQ(client.read_response()->body, "second");
  EXPECT_EQ(proxy.stat("cluster.app.hedges"), 1);
}

TEST(Hedge, TheBudgetMayRefuse) {
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(upstream.endpoint(), kAfter10ms + ", timeout: 200ms",
                               "circuit_breakers: { thresholds: [ { retry_budget: { window: { "
                               "min_retries: 1 } } } ] }"));  // half of it is less than one
  EXPECT_EQ(proxy.get().status(), 504);
  EXPECT_EQ(upstream.requests().size(), 1u);
  EXPECT_EQ(proxy.stat("cluster.app.hedges_refused"), 1);
}

TEST(Hedge, AFailureWaitsForTheOtherAttempt) {
  for (const std::size_t first : {0u, 1u}) {
    SCOPED_TRACE(first);
    LogFile log;
    ToldUpstream told;
    RunningProxy proxy(one_route(told.upstream.endpoint(), kAfter10ms, "",
                                 log.setting("format: \"%RESPONSE_CODE% %RESPONSE_FLAGS%\\n\"")));
    WireConnection client = send(proxy, "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    ASSERT_TRUE(told.upstream.wait_for_requests(2));
    told.answer(first, http_response(503, "busy"));
    ASSERT_TRUE(proxy.stat_becomes("cluster.app.retry.upstream_rq_503", 1));
    told.answer(1 - first, http_response(200, "fine"));
    EXPECT_EQ(client.read_response()->body, "fine");
    client.close();
    EXPECT_EQ(log.lines(1), std::vector<std::string>{"200 -"});
    expect_nothing_left(proxy, log);
  }
}

TEST(Hedge, AConnectionThatBreaksWaitsForTheOtherAttempt) {
  for (const std::size_t first : {0u, 1u}) {
    SCOPED_TRACE(first);
    ToldUpstream told;
    RunningProxy proxy(one_route(told.upstream.endpoint(), kAfter10ms));
    WireConnection client = send(proxy, "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    ASSERT_TRUE(told.upstream.wait_for_requests(2));
    told.answer(first, "");
    ASSERT_TRUE(proxy.stat_becomes("cluster.app.upstream_rq_rx_reset", 1));
    told.answer(1 - first, http_response(200, "fine"));
    EXPECT_EQ(client.read_response()->body, "fine");
  }
}

TEST(Hedge, IfBothFailTheLastAnswerIsDelivered) {
  LogFile log;
  ToldUpstream told;
  RunningProxy proxy(one_route(told.upstream.endpoint(), kAfter10ms + ", " + retry("5xx"), "",
                               log.setting("format: \"%RETRY_VERDICT%\\n\"")));
  WireConnection client = send(proxy, "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  ASSERT_TRUE(told.upstream.wait_for_requests(2));
  told.answer(1, http_response(503, "hedge"));
  ASSERT_TRUE(proxy.stat_becomes("cluster.app.retry.upstream_rq_503", 1));
  told.answer(0, http_response(503, "original"));
  const auto answer = client.read_response();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "original");
  EXPECT_EQ(answer->field("x-damper-retry"), "final; by=; attempts=2; verdict=limit");
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"limit"});
  client.close();
  expect_nothing_left(proxy, log);
}

TEST(Hedge, IfBothFailAFurtherRetryMayFollow) {
  ToldUpstream told;
  RunningProxy proxy(one_route(told.upstream.endpoint(), "hedge_policy: { hedge_after: 10ms }, " +
                                                             retry("5xx", "num_retries: 2")));
  WireConnection client = send(proxy, "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  ASSERT_TRUE(told.upstream.wait_for_requests(2));
  const std::string last = http_response(503, "", "connection: close\r\n");
  told.answer(0, last);
  told.answer(1, last);
  ASSERT_TRUE(told.upstream.wait_for_requests(3));
  told.answer(2, http_response(200, "third"));
  EXPECT_EQ(client.read_response()->body, "third");
}

TEST(Hedge, IfTheHedgeFailsTheOriginalGetsAnotherPerTryTime) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int number) {
    while (self.receive(connection)) {
      if (number == 0) {
        connection.wait_for_close();
        return;
      }
      if (!connection.send(number == 1 ? http_response(503, "busy", "connection: close\r\n")
                                       : http_response(200, "third"))) {
        return;
      }
    }
  });
  RunningProxy proxy(
      one_route(upstream.endpoint(),
                "timeout: 0s, hedge_policy: { hedge_on_per_try_timeout: true }, " +
                    retry("5xx", "per_try_timeout: 50ms, num_retries: 3"),
                "circuit_breakers: { thresholds: [ { retry_budget: { disabled: true } } ] }"));
  EXPECT_EQ(proxy.get().body, "third");
  EXPECT_EQ(upstream.requests().size(), 3u);
}

TEST(Hedge, TheRouteTimeoutCancelsBoth) {
  LogFile log;
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(upstream.endpoint(), kAfter10ms + ", timeout: 200ms", "",
                               log.setting("format: \"%RESPONSE_CODE% %RESPONSE_FLAGS%\\n\"")));
  EXPECT_EQ(proxy.get().status(), 504);
  EXPECT_TRUE(upstream.wait_for_scripts_to_end());
  EXPECT_EQ(upstream.requests().size(), 2u);
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"504 UT"});
  expect_nothing_left(proxy, log);
}

TEST(Hedge, AClientThatLeavesCancelsBoth) {
  LogFile log;
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(upstream.endpoint(), kAfter10ms, "",
                               log.setting("format: \"%RESPONSE_FLAGS%\\n\"")));
  WireConnection client = send(proxy, "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  ASSERT_TRUE(upstream.wait_for_requests(2));
  client.close();
  EXPECT_TRUE(upstream.wait_for_scripts_to_end());
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"DC"});
  expect_nothing_left(proxy, log);
}

// Answers at once, but the first attempts of /slow not at all.
TEST(Hedge, WhatIsLongMayBeLearned) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int) {
    while (const auto request = self.receive(connection)) {
      if (request->target() == "/slow" && request->field("x-envoy-attempt-count") == "1") {
        connection.wait_for_close();
        return;
      }
      if (!connection.send(http_response(200, "quick"))) return;
    }
  });
  RunningProxy proxy(
      one_route(upstream.endpoint(), "hedge_policy: { hedge_after: p95 }, timeout: 300ms"));
  EXPECT_EQ(proxy.get("/slow").status(), 504);  // nothing is known yet
  WireConnection client = proxy.connect();
  for (int i = 0; i < 100; ++i) {
    client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    ASSERT_EQ(client.read_response()->status(), 200);
  }
  int status = 504;
  for (int i = 0; i < 20 && status == 504; ++i) status = proxy.get("/slow").status();
  EXPECT_EQ(status, 200);
}

}  // namespace
}  // namespace damper::tests
