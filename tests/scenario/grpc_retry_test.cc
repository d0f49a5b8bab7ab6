// Retries of gRPC calls: a status is heeded in the head and in trailers that follow it at once
// (docs/grpc.md).
#include <future>
#include <gtest/gtest.h>

#include "tests/support/gauges.h"
#include "tests/support/grpc_wire.h"
#include "tests/support/log_file.h"

namespace damper::tests {
namespace {

// Answers all requests of all connections in turn, the last one again and again.
WireMessage ask_twice(const std::string& first, const std::string& retry_policy,
                      std::size_t& requests, const std::string& headers = "") {
  ScriptedUpstream upstream(in_turn({first, late_trailers(0)}));
  RunningProxy proxy(grpc_route(upstream.endpoint(), retry_policy));
  const WireMessage answer = proxy.ask(grpc_call(headers));
  requests = upstream.requests().size();
  return answer;
}

TEST(GrpcRetry, EachTokenReadsTheHeadAndEarlyTrailers) {
  const std::pair<std::string, int> rows[] = {{"cancelled", 1},
                                              {"deadline-exceeded", 4},
                                              {"resource-exhausted", 8},
                                              {"internal", 13},
                                              {"unavailable", 14}};
  for (const auto& [token, status] : rows) {
    for (const std::string& first : {trailers_only(status), early_trailers(status)}) {
      SCOPED_TRACE(token + first);
      std::size_t requests = 0;
      EXPECT_EQ(grpc_status(ask_twice(first, grpc_retry(token), requests)), "0");
      EXPECT_EQ(requests, 2u);
    }
    std::size_t requests = 0;
    EXPECT_EQ(grpc_status(ask_twice(early_trailers(5), grpc_retry(token), requests)), "5");
    EXPECT_EQ(requests, 1u);
  }
}

TEST(GrpcRetry, ATrustedCallerMayAskForIt) {
  for (const std::string& first : {trailers_only(14), early_trailers(14)}) {
    std::size_t requests = 0;
    const std::string steering =
        "x-envoy-retry-grpc-on: unavailable\r\nx-envoy-max-retries: 1\r\nidempotency-key: k\r\n";
    EXPECT_EQ(grpc_status(ask_twice(first, "timeout: 5s", requests, steering)), "0");
    EXPECT_EQ(requests, 2u);
  }
}

TEST(GrpcRetry, AMethodThatMayNotBeRepeatedIsRetriedOnlyIfNothingWasExecuted) {
  std::size_t requests = 0;
  EXPECT_EQ(grpc_status(ask_twice(early_trailers(14), retry("unavailable"), requests)), "14");
  EXPECT_EQ(requests, 1u);
  const std::string promised = retry("unavailable", "retry_non_idempotent_on: [ 503 ]");
  EXPECT_EQ(grpc_status(ask_twice(early_trailers(14), promised, requests)), "0");
  EXPECT_EQ(requests, 2u);
}

TEST(GrpcRetry, TheStatusOfAPlainProxyIsAStatusOfHttp) {
  std::size_t requests = 0;
  EXPECT_EQ(grpc_status(ask_twice(http_response(502, "bad gateway"), grpc_retry("gateway-error"),
                                  requests)),
            "0");
  EXPECT_EQ(requests, 2u);
  const WireMessage refused =
      ask_twice(http_response(502, "bad gateway"), grpc_retry("unavailable"), requests);
  EXPECT_EQ(refused.status(), 502);
  EXPECT_EQ(requests, 1u);
}

TEST(GrpcRetry, AnAnswerThatIsNoGrpcIsDeliveredAsItIs) {
  std::size_t requests = 0;
  const WireMessage answer =
      ask_twice(http_response(200, "<html>"), grpc_retry("unavailable,5xx"), requests);
  EXPECT_EQ(answer.body, "<html>");
  EXPECT_EQ(requests, 1u);
}

TEST(GrpcRetry, ARateLimitIsNotRetriedUnlessItIsAskedFor) {
  std::size_t requests = 0;
  const std::string limited = trailers_only(14, "x-envoy-ratelimited: true\r\n");
  ask_twice(limited, grpc_retry("unavailable"), requests);
  EXPECT_EQ(requests, 1u);
  ask_twice(limited, grpc_retry("unavailable,envoy-ratelimited"), requests);
  EXPECT_EQ(requests, 2u);
}

// --- How long a head is held back ----------------------------------------------------------------

TEST(GrpcRetry, AHeadIsNotHeldBackUntilItsTrailersCome) {
  LogFile log;
  std::promise<void> head_arrived;
  ScriptedUpstream upstream([&](ScriptedUpstream& self, WireConnection& connection, int) {
    self.receive(connection);
    connection.send(kGrpcHead);
    head_arrived.get_future().wait();
    connection.send(chunk("one") + grpc_end(14));
  });
  RunningProxy proxy(grpc_route(upstream.endpoint(), grpc_retry("unavailable"), "",
                                log.setting("format: \"%RETRY_VERDICT% %ATTEMPTS%\\n\"")));
  WireConnection client = proxy.connect();
  client.send(grpc_call());
  ASSERT_TRUE(client.readable_within(10'000));
  head_arrived.set_value();
  const WireMessage answer = *client.read_response();
  EXPECT_EQ(answer.body, "one");
  EXPECT_EQ(grpc_status(answer), "14");
  EXPECT_EQ(trailer(answer, "x-damper-retry"), "-");
  EXPECT_EQ(upstream.requests().size(), 1u);
  const auto lines = log.lines(1);
  EXPECT_TRUE(lines.at(0).starts_with("response_started ")) << lines.at(0);
  EXPECT_NE(lines.at(0).find("grpc_unavailable"), std::string::npos) << lines.at(0);
  client.close();
  expect_nothing_left(proxy, log);
}

TEST(GrpcRetry, AMessageEndsTheWaitAndNothingIsLost) {
  const std::string message(100'000, 'm');
  ScriptedUpstream upstream(always(kGrpcHead + chunk(message) + grpc_end(14)));
  RunningProxy proxy(grpc_route(upstream.endpoint(), grpc_retry("unavailable")));
  const WireMessage answer = proxy.ask(grpc_call());
  EXPECT_EQ(answer.body, message);
  EXPECT_EQ(grpc_status(answer), "14");
  EXPECT_EQ(upstream.requests().size(), 1u);
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.response_started"), 1);
}

TEST(GrpcRetry, AnEndWithoutTrailersEndsTheWait) {
  ScriptedUpstream upstream(always(kGrpcHead + "0\r\n\r\n"));
  RunningProxy proxy(grpc_route(upstream.endpoint(), grpc_retry("unavailable")));
  const WireMessage answer = proxy.ask(grpc_call());
  EXPECT_TRUE(answer.complete);
  EXPECT_EQ(answer.body, "");
  EXPECT_EQ(grpc_status(answer), "-");
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.not_retriable"), 1);
}

TEST(GrpcRetry, AConnectionThatBreaksAfterAHeldHeadIsARetriableReset) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int number) {
    self.receive(connection);
    connection.send(number == 0 ? kGrpcHead : late_trailers(0));
    if (number > 0) connection.wait_for_close();
  });
  RunningProxy proxy(grpc_route(upstream.endpoint(), grpc_retry("unavailable,reset")));
  EXPECT_EQ(grpc_status(proxy.ask(grpc_call())), "0");
  EXPECT_EQ(proxy.stat("cluster.app.retry_attempts.reset"), 1);
}

TEST(GrpcRetry, ACallThatStillSendsGetsItsHeadAtOnce) {
  ScriptedUpstream upstream([](ScriptedUpstream&, WireConnection& connection, int) {
    connection.read_some();
    connection.send(early_trailers(14));
    connection.wait_for_close();
  });
  RunningProxy proxy(grpc_route(upstream.endpoint(), grpc_retry("unavailable", "num_retries: 3")));
  WireConnection client = proxy.connect();
  client.send(grpc_call_begins() + chunk("first"));
  EXPECT_EQ(grpc_status(*client.read_response()), "14");
  EXPECT_EQ(upstream.connections(), 1u);
}

// --- Pushback ------------------------------------------------------------------------------------

TEST(GrpcRetry, PushbackInEarlyTrailersIsWaitedFor) {
  std::size_t requests = 0;
  const TimePoint start = Clock::now();
  EXPECT_EQ(grpc_status(ask_twice(early_trailers(14, "grpc-retry-pushback-ms: 200\r\n"),
                                  grpc_retry("unavailable"), requests)),
            "0");
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(200));
  EXPECT_EQ(requests, 2u);
}

TEST(GrpcRetry, PushbackThatForbidsOrDoesNotFitEndsIt) {
  for (const std::string value : {"-1", "soon", "60000"}) {
    for (const bool in_head : {true, false}) {
      SCOPED_TRACE(value);
      const std::string pushback = "grpc-retry-pushback-ms: " + value + "\r\n";
      const std::string first =
          in_head ? trailers_only(14, pushback) : early_trailers(14, pushback);
      std::size_t requests = 0;
      const WireMessage answer = ask_twice(first, grpc_retry("unavailable"), requests);
      EXPECT_EQ(grpc_status(answer), "14");
      EXPECT_EQ(requests, 1u);
    }
  }
}

// --- The mark ------------------------------------------------------------------------------------

TEST(GrpcRetry, TheFinalMarkStandsWhereTheStatusIs) {
  const std::string mark = "final; by=; attempts=2; verdict=limit";
  const auto last_answer = [](const std::string& response) {
    ScriptedUpstream upstream(always(response));
    // What comes at the end of the limit is not waited for: its status is seen when it has gone.
    RunningProxy proxy(grpc_route(upstream.endpoint(), grpc_retry("unavailable")));
    const WireMessage answer = proxy.ask(grpc_call());
    EXPECT_EQ(upstream.requests().size(), response.find("message") == response.npos ? 2u : 1u);
    EXPECT_EQ(grpc_status(answer), "14");
    return answer;
  };
  const WireMessage in_head = last_answer(trailers_only(14));
  EXPECT_EQ(in_head.field("x-damper-retry"), mark);
  EXPECT_EQ(in_head.field("grpc-retry-pushback-ms"), "-1");
  const WireMessage in_trailers = last_answer(early_trailers(14));
  EXPECT_EQ(in_trailers.field("x-damper-retry"), std::nullopt);
  EXPECT_EQ(trailer(in_trailers, "x-damper-retry"), mark);
  EXPECT_EQ(trailer(in_trailers, "grpc-retry-pushback-ms"), "-1");
  // Here a retry was possible until the message came: the layers above may know better.
  EXPECT_EQ(trailer(last_answer(late_trailers(14)), "x-damper-retry"), "-");
}

TEST(GrpcRetry, AMessageBeforeTheLastFailureDoesNotHideThatItIsFinal) {
  ScriptedUpstream upstream(in_turn({early_trailers(14), late_trailers(14)}));
  LogFile log;
  RunningProxy proxy(grpc_route(upstream.endpoint(), grpc_retry("unavailable"), "",
                                log.setting("format: \"%RETRY_VERDICT% %GRPC_STATUS%\\n\"")));
  const WireMessage answer = proxy.ask(grpc_call());
  EXPECT_EQ(answer.body, "message");
  EXPECT_EQ(trailer(answer, "x-damper-retry"), "final; by=; attempts=2; verdict=limit");
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"limit Unavailable"});
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_retry_limit_exceeded"), 1);
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_retry_success"), 0);
}

TEST(GrpcRetry, OneLayerRetriesWhereverTheMarkStands) {
  for (const std::string& response : {trailers_only(14), early_trailers(14)}) {
    ScriptedUpstream upstream(always(response));
    RunningProxy inner(grpc_route(upstream.endpoint(), grpc_retry("unavailable")));
    RunningProxy outer(grpc_route("127.0.0.1:" + std::to_string(inner.port()),
                                  grpc_retry("unavailable", "num_retries: 2")));
    const WireMessage answer = outer.ask(grpc_call());
    EXPECT_EQ(grpc_status(answer), "14");
    EXPECT_EQ(upstream.requests().size(), 2u);
    EXPECT_EQ(outer.stat("cluster.app.retry_refused.marked"), 1);
  }
}

TEST(GrpcRetry, AnEdgeKeepsMarksInTrailersToItself) {
  ScriptedUpstream upstream(always(late_trailers(14, "x-damper-retry: final; by=b\r\n")));
  RunningProxy proxy(grpc_route(upstream.endpoint(), "", "", "edge: true"));
  const WireMessage answer = proxy.ask(grpc_call());
  EXPECT_EQ(grpc_status(answer), "14");
  EXPECT_EQ(trailer(answer, "x-damper-retry"), "-");
}

// --- What attempts are told ----------------------------------------------------------------------

TEST(GrpcRetry, AttemptsAreCountedInGrpcsWordsToo) {
  struct Row {
    std::string came;
    std::string first, second;  // grpc-previous-rpc-attempts
  };
  for (const Row& row : {Row{"", "-", "1"}, Row{"grpc-previous-rpc-attempts: 3\r\n", "3", "3"},
                         Row{"x-envoy-attempt-count: 2\r\n", "1", "1"}}) {
    SCOPED_TRACE(row.came);
    ScriptedUpstream upstream(in_turn({early_trailers(14), late_trailers(0)}));
    RunningProxy proxy(grpc_route(upstream.endpoint(), grpc_retry("unavailable")));
    proxy.ask(grpc_call(row.came));
    const auto told = upstream.requests();
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(told[0].field("grpc-previous-rpc-attempts").value_or("-"), row.first);
    EXPECT_EQ(told[1].field("grpc-previous-rpc-attempts").value_or("-"), row.second);
  }
}

// --- Hedges --------------------------------------------------------------------------------------

TEST(GrpcHedge, AHedgeThatFailsAtOnceLeavesTheOriginalItsTime) {
  for (const std::string& failure : {trailers_only(14), early_trailers(14)}) {
    LogFile log;
    std::promise<void> hedge_failed;
    ScriptedUpstream upstream([&](ScriptedUpstream& self, WireConnection& connection, int number) {
      self.receive(connection);
      if (number > 0) {
        connection.send(failure);
      } else {
        hedge_failed.get_future().wait();
        connection.send(late_trailers(0));
      }
    });
    RunningProxy proxy(grpc_route(
        upstream.endpoint(), "hedge_policy: { hedge_after: 10ms }, " + grpc_retry("unavailable"),
        "", log.setting("format: \"%ATTEMPTS%\\n\"")));
    WireConnection client = proxy.connect();
    client.send(grpc_call());
    ASSERT_TRUE(upstream.wait_for_requests(2));
    EXPECT_EQ(upstream.requests()[1].field("grpc-previous-rpc-attempts"), "1");
    EXPECT_TRUE(proxy.stat_becomes("cluster.app.upstream_rq_active", 1));
    hedge_failed.set_value();
    const WireMessage answer = *client.read_response();
    EXPECT_EQ(grpc_status(answer), "0");
    EXPECT_EQ(answer.body, "message");
    EXPECT_EQ(proxy.stat("cluster.app.hedges_won"), 0);
    EXPECT_NE(log.lines(1).at(0).find("grpc_unavailable"), std::string::npos);
    client.close();
    expect_nothing_left(proxy, log);
  }
}

TEST(GrpcHedge, AnOriginalThatFailsAtOnceLeavesTheHedgeItsTime) {
  std::promise<void> hedged;
  std::promise<void> original_failed;
  ScriptedUpstream upstream([&](ScriptedUpstream& self, WireConnection& connection, int number) {
    self.receive(connection);
    (number == 0 ? hedged : original_failed).get_future().wait();
    connection.send(number == 0 ? early_trailers(14) : late_trailers(0));
  });
  RunningProxy proxy(grpc_route(
      upstream.endpoint(), "hedge_policy: { hedge_after: 10ms }, " + grpc_retry("unavailable")));
  WireConnection client = proxy.connect();
  client.send(grpc_call());
  ASSERT_TRUE(upstream.wait_for_requests(2));
  hedged.set_value();
  EXPECT_TRUE(proxy.stat_becomes("cluster.app.upstream_rq_active", 1));
  original_failed.set_value();
  EXPECT_EQ(grpc_status(*client.read_response()), "0");
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_retry_success"), 1);
}

}  // namespace
}  // namespace damper::tests
