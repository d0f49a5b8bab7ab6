// Deadlines on the wire: what attempts are told, and what is not worth beginning.
#include <gtest/gtest.h>

#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

using namespace std::chrono_literals;

std::string filter(const std::string& settings) {
  return "filters: [ deadline: { " + settings + " } ]";
}
std::string in_ms(int ms) {
  return "x-envoy-expected-rq-timeout-ms: " + std::to_string(ms) + "\r\n";
}

int told_ms(const WireMessage& attempt) {
  return std::stoi(attempt.field("x-envoy-expected-rq-timeout-ms").value_or("-1"));
}

std::int64_t unix_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

TEST(Deadlines, EachAttemptIsToldWhatIsLeft) {
  ScriptedUpstream upstream(
      in_turn({http_response(503, "", "grpc-retry-pushback-ms: 50\r\n"), http_response(200, "")}));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx")));
  const std::int64_t start = unix_ms();
  EXPECT_EQ(proxy.get("/", in_ms(5000)).status(), 200);
  const std::int64_t end = unix_ms();
  const auto attempts = upstream.requests();
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_LE(told_ms(attempts[0]), 5000);
  EXPECT_LE(told_ms(attempts[1]), told_ms(attempts[0]) - 49);
  for (const WireMessage& attempt : attempts) {  // both name the same moment
    const std::int64_t at = std::stoll(attempt.field("x-deadline").value_or("0"));
    EXPECT_GE(at, start + 4999);
    EXPECT_LE(at, end + 5001);
  }
}

TEST(Deadlines, AGrpcCallIsToldInItsOwnForm) {
  ScriptedUpstream upstream(always(http_response(200, "", "grpc-status: 0\r\n")));
  RunningProxy proxy(one_route(upstream.endpoint()));
  proxy.get("/s/M", "content-type: application/grpc\r\ngrpc-timeout: 4S\r\n");
  const std::string told = upstream.requests().at(0).field("grpc-timeout").value_or("");
  EXPECT_EQ(told.back(), 'm') << told;
  EXPECT_LE(std::stoi(told), 4000);
  EXPECT_GT(std::stoi(told), 0);
}

TEST(Deadlines, TheCalleeRefusesWhatItCannotDoInTimeAndSaysSoEverywhere) {
  LogFile log;
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx"), "",
                               "direction: inbound, " + filter("expected_cost: 100ms") + ", " +
                                   log.setting("format: \"%RESPONSE_CODE% %RESPONSE_FLAGS% "
                                               "%RESPONSE_CODE_DETAILS% %UPSTREAM_HOST%\\n\"")) +
                     "node: { id: stock }\n");
  const WireMessage refused = proxy.get("/", in_ms(50));
  EXPECT_EQ(refused.status(), 504);
  EXPECT_EQ(refused.body, "deadline too close");
  EXPECT_EQ(refused.field("x-damper-retry"), "final; by=stock; attempts=0; verdict=deadline");
  EXPECT_EQ(proxy.stat("http.in.deadline_rejected"), 1);
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"504 UT deadline_too_close -"});
  EXPECT_EQ(upstream.requests().size(), 0u);
  EXPECT_EQ(proxy.get("/", in_ms(5000)).status(), 200);
}

TEST(Deadlines, AGrpcCallIsRefusedWithItsStatusAndPushback) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "",
                               "direction: inbound, " + filter("expected_cost: 100ms")));
  const WireMessage refused =
      proxy.get("/s/M", "content-type: application/grpc\r\ngrpc-timeout: 50m\r\n");
  EXPECT_EQ(refused.status(), 200);
  EXPECT_EQ(refused.field("grpc-status"), "4");
  EXPECT_EQ(refused.field("grpc-message"), "deadline too close");
  EXPECT_EQ(refused.field("grpc-retry-pushback-ms"), "-1");
}

TEST(Deadlines, TheLayerAboveDoesNotRetryARefusal) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy callee(
      one_route(upstream.endpoint(), "", "", "direction: inbound, " + filter("expected_cost: 2s")));
  RunningProxy caller(
      one_route("127.0.0.1:" + std::to_string(callee.port()), retry("5xx", "num_retries: 3")));
  EXPECT_EQ(caller.get("/", in_ms(1000)).body, "deadline too close");
  EXPECT_EQ(callee.stat("http.in.deadline_rejected"), 1);
  EXPECT_EQ(caller.stat("cluster.app.retry_refused.marked"), 1);
}

TEST(Deadlines, ARequestWithoutOneGetsTheDefault) {
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(upstream.endpoint(), "timeout: 0s", "", filter("default: 100ms")));
  EXPECT_EQ(proxy.get().status(), 504);
  EXPECT_TRUE(upstream.wait_for_scripts_to_end());
  EXPECT_LE(told_ms(upstream.requests().at(0)), 100);
}

TEST(Deadlines, OneThatEndsDuringAnAttemptCancelsIt) {
  LogFile log;
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx"), "",
                               log.setting("format: \"%RESPONSE_CODE% %RESPONSE_FLAGS% "
                                           "%RESPONSE_CODE_DETAILS% %DEADLINE_LEFT%\\n\"")));
  EXPECT_EQ(proxy.get("/", in_ms(100)).status(), 504);
  EXPECT_TRUE(upstream.wait_for_scripts_to_end());
  EXPECT_EQ(upstream.requests().size(), 1u);
  EXPECT_TRUE(log.lines(1).at(0).starts_with("504 UT response_timeout ")) << log.lines(1).at(0);
}

TEST(Deadlines, InShadowNothingIsRefused) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(
      one_route(upstream.endpoint(), "", "",
                "direction: inbound, " + filter("expected_cost: 10s, mode: shadow")));
  EXPECT_EQ(proxy.get("/", in_ms(5000)).status(), 200);
  EXPECT_EQ(proxy.stat("http.in.deadline_shadow_rejected"), 1);
  EXPECT_EQ(proxy.stat("http.in.deadline_rejected"), 0);
}

TEST(Deadlines, InShadowNotEvenAPastOneIsRefused) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "", filter("mode: shadow")));
  EXPECT_EQ(proxy.get("/", "x-deadline: 1000\r\n").status(), 200);
  EXPECT_EQ(proxy.stat("http.in.deadline_shadow_rejected"), 1);
}

// Neither proxy's route timeout runs while the client sends, and none takes the other's for a
// deadline.
TEST(Deadlines, ASlowUploadPassesThroughTwoProxies) {
  ScriptedUpstream upstream(always(http_response(200, "all of it")));
  RunningProxy inner(one_route(upstream.endpoint(), "timeout: 100ms"));
  RunningProxy outer(one_route("127.0.0.1:" + std::to_string(inner.port()), "timeout: 100ms"));
  for (const RunningProxy* proxy : {&inner, &outer}) {
    WireConnection client = proxy->connect();
    client.send(
        "POST / HTTP/1.1\r\nhost: a\r\nx-envoy-expected-rq-timeout-ms: 100\r\n"
        "transfer-encoding: chunked\r\n\r\n3\r\nall\r\n");
    EXPECT_FALSE(client.readable_within(300));
    client.send("0\r\n\r\n");
    EXPECT_EQ(client.read_response()->status(), 200);
  }
  for (const WireMessage& attempt : upstream.requests()) {
    EXPECT_EQ(attempt.field("x-envoy-expected-rq-timeout-ms"), std::nullopt);
  }
}

TEST(Deadlines, APastOneIsRefusedAtOnceOnBothSides) {
  for (const auto* direction : {"inbound", "outbound"}) {
    for (const std::string& header : {std::string("x-deadline: 1000\r\n"),
                                      std::string("x-request-deadline: 1000\r\n"), in_ms(0)}) {
      SCOPED_TRACE(direction + header);
      ScriptedUpstream upstream(always(http_response(200, "")));
      RunningProxy proxy(
          one_route(upstream.endpoint(), "", "", "direction: " + std::string(direction)));
      const WireMessage refused = proxy.get("/", header);
      EXPECT_EQ(refused.status(), 504);
      EXPECT_EQ(refused.body, "deadline too close");
      EXPECT_EQ(upstream.requests().size(), 0u);
      EXPECT_EQ(proxy.stat("http.in.deadline_rejected"), 1);
    }
  }
}

TEST(Deadlines, ARetryThatDoesNotFitGivesTheAnswerBackAtOnce) {
  LogFile log;
  ScriptedUpstream upstream(always(http_response(503, "busy")));
  RunningProxy proxy(one_route(
      upstream.endpoint(), retry("5xx", "num_retries: 3"), "",
      filter("min_attempt_time: 6s") + ", " + log.setting("format: \"%RETRY_VERDICT%\\n\"")));
  const WireMessage answer = proxy.get("/", in_ms(5000));
  EXPECT_EQ(answer.status(), 503);
  EXPECT_EQ(answer.body, "busy");
  EXPECT_EQ(answer.field("x-damper-retry"), "final; by=; attempts=1; verdict=deadline");
  EXPECT_EQ(upstream.requests().size(), 1u);
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.deadline"), 1);
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"deadline"});
}

TEST(Deadlines, AWaitThatDoesNotFitIsNotBegun) {
  ScriptedUpstream upstream(always(http_response(503, "busy", "grpc-retry-pushback-ms: 6000\r\n")));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx")));
  const TimePoint start = Clock::now();
  EXPECT_EQ(proxy.get("/", in_ms(5000)).body, "busy");
  EXPECT_LT(Clock::now() - start, 4s);
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.deadline"), 1);
}

TEST(Deadlines, AnEdgeBelievesNobody) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "", "edge: true"));
  EXPECT_EQ(proxy.get("/", "x-deadline: 1000\r\n").status(), 200);
  EXPECT_GT(told_ms(upstream.requests().at(0)), 5000);
}

}  // namespace
}  // namespace damper::tests
