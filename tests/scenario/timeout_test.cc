// Timeouts: attempts that take too long are really cancelled, and no wait hides a timeout.
#include <gtest/gtest.h>

#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

TEST(Timeout, OfTheRouteAnswers504AndClosesTheUpstreamConnection) {
  LogFile log;
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(upstream.endpoint(), "timeout: 100ms", "",
                               log.setting("format: \"%RESPONSE_CODE% %RESPONSE_FLAGS% "
                                           "%RESPONSE_CODE_DETAILS% %RETRY_VERDICT%\\n\"")));
  const WireMessage answer = proxy.get();
  EXPECT_EQ(answer.status(), 504);
  EXPECT_EQ(answer.body, "upstream request timeout");
  EXPECT_TRUE(upstream.wait_for_scripts_to_end());
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_timeout"), 1);
  EXPECT_EQ(proxy.stat("cluster.app.upstream_cx_active"), 0);
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"504 UT response_timeout -"});
}

TEST(Timeout, OfATryIsRetriedAfterTheFirstConnectionIsClosed) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int number) {
    self.receive(connection);
    if (number > 0) connection.send(http_response(200, "second"));
    connection.wait_for_close();
  });
  RunningProxy proxy(one_route(upstream.endpoint(), retry("timeout", "per_try_timeout: 200ms")));
  EXPECT_EQ(proxy.get().body, "second");
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_per_try_timeout"), 1);
  EXPECT_EQ(proxy.stat("cluster.app.upstream_cx_active"), 1);  // the silent one is gone
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_tx_reset"), 1);
}

TEST(Timeout, OfTheLastTryAnswers504) {
  LogFile log;
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(upstream.endpoint(), retry("timeout", "per_try_timeout: 50ms"), "",
                               log.setting("format: \"%RESPONSE_FLAGS% %RETRY_VERDICT% "
                                           "%RESPONSE_CODE_DETAILS%\\n\"")));
  EXPECT_EQ(proxy.get().status(), 504);
  EXPECT_EQ(upstream.requests().size(), 2u);
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"URX,UT limit upstream_per_try_timeout"});
}

TEST(Timeout, OfATryCountsTheWaitForAConnection) {
  // The only connection is busy: the second request waits for it.
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(upstream.endpoint(),
                               "timeout: 5s, retry_policy: { per_try_timeout: 100ms }",
                               "circuit_breakers: { thresholds: [ { max_connections: 1 } ] }"));
  WireConnection first = proxy.connect();
  first.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  WireConnection second = proxy.connect();
  second.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  EXPECT_EQ(first.read_response()->status(), 504);
  EXPECT_EQ(second.read_response()->status(), 504);
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_pending_active"), 0);
}

TEST(Timeout, IdleTryIsEndedWhileItsBodyStalls) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int) {
    self.receive(connection);
    connection.send("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf ");
    connection.wait_for_close();
  });
  RunningProxy proxy(
      one_route(upstream.endpoint(), "retry_policy: { per_try_idle_timeout: 100ms }"));
  EXPECT_FALSE(proxy.get().complete);
  EXPECT_TRUE(upstream.wait_for_scripts_to_end());
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_active"), 0);
}

TEST(Timeout, OfTheRouteHoldsWhileTheBodyEndsDuringABackOff) {
  // The upstream refuses early; the body's end comes while the retry waits.
  ScriptedUpstream upstream([](ScriptedUpstream&, WireConnection& connection, int) {
    connection.read_some();
    connection.send(http_response(503, "", "retry-after: 20\r\n"));
    connection.wait_for_close();
  });
  RunningProxy proxy(
      one_route(upstream.endpoint(), retry("5xx", "idempotent: true") + ", timeout: 200ms"));
  WireConnection client = proxy.connect();
  client.send("PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nab");
  ASSERT_TRUE(proxy.stat_becomes("cluster.app.retries_waiting", 1));
  client.send("cd");
  EXPECT_EQ(client.read_response()->status(), 504);
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_timeout"), 1);
  EXPECT_EQ(proxy.stat("cluster.app.retries_waiting"), 0);
}

TEST(Timeout, OfTheRouteEndsARunningWait) {
  ScriptedUpstream upstream(always(http_response(503, "busy")));
  RunningProxy proxy(one_route(
      upstream.endpoint(),
      "timeout: 300ms, retry_policy: { retry_on: 5xx, num_retries: 1000, retry_back_off: { "
      "base_interval: 1ms, max_interval: 2ms } }",
      "circuit_breakers: { thresholds: [ { retry_budget: { disabled: true } } ] }"));
  const WireMessage answer = proxy.get();
  EXPECT_TRUE(answer.status() == 504 || answer.status() == 503);  // 503: no further try fits
  EXPECT_EQ(proxy.stat("cluster.app.retries_waiting"), 0);
  EXPECT_EQ(proxy.stat("cluster.app.retries_active"), 0);
}

TEST(Timeout, InTheBodyCutsTheResponse) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int) {
    self.receive(connection);
    connection.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n");
    connection.wait_for_close();
  });
  RunningProxy proxy(one_route(upstream.endpoint(), "timeout: 100ms"));
  const WireMessage answer = proxy.get();
  EXPECT_EQ(answer.status(), 200);
  EXPECT_EQ(answer.body, "hello");
  EXPECT_FALSE(answer.complete);
  EXPECT_TRUE(upstream.wait_for_scripts_to_end());
}

TEST(Timeout, OfAStreamWithoutProgressAnswers504) {
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(
      one_route(upstream.endpoint(), "timeout: 0s", "", "stream_idle_timeout: 100ms"));
  EXPECT_EQ(proxy.get().status(), 504);
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_idle_timeout"), 1);
}

TEST(Timeout, TheRouteMayHaveItsOwnForStreamsWithoutProgress) {
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(upstream.endpoint(), "timeout: 0s, idle_timeout: 100ms"));
  EXPECT_EQ(proxy.get().status(), 504);
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_idle_timeout"), 1);
}

TEST(Timeout, OfAWholeStreamIsTheRoutesOrTheListeners) {
  for (const auto& [route, listener] :
       {std::pair{"timeout: 0s, max_stream_duration: { max_stream_duration: 100ms }", ""},
        std::pair{"timeout: 0s", "common_http_protocol_options: { max_stream_duration: 100ms }"}}) {
    ScriptedUpstream upstream(silent());
    RunningProxy proxy(one_route(upstream.endpoint(), route, "", listener));
    EXPECT_EQ(proxy.get().status(), 504);
    EXPECT_EQ(proxy.stat("http.in.downstream_rq_max_duration_reached"), 1);
  }
}

TEST(Timeout, OfARequestThatIsNotReceivedAnswers408) {
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(upstream.endpoint(), "", "", "request_timeout: 100ms"));
  EXPECT_EQ(proxy.ask("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nab").status(), 408);
}

TEST(Timeout, OfAHeadThatDoesNotComeAnswers408AndCloses) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "", "request_headers_timeout: 100ms"));
  WireConnection client = proxy.connect();
  client.send("GET / HTTP/1.1\r\nho");
  EXPECT_EQ(client.read_response()->status(), 408);
  EXPECT_TRUE(client.wait_for_close());
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_header_timeout"), 1);
}

TEST(Timeout, OfAnIdleConnectionClosesIt) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "",
                               "common_http_protocol_options: { idle_timeout: 100ms }"));
  WireConnection client = proxy.connect();
  client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  EXPECT_EQ(client.read_response()->status(), 200);
  EXPECT_TRUE(client.wait_for_close());
}

TEST(Timeout, OfConnectingIsRetriedAsAConnectFailure) {
  // TEST-NET-1 (RFC 5737): nobody answers there, or the network says so at once.
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(one_route("\"192.0.2.1:9\", " + upstream.endpoint(), retry("connect-failure"),
                               "connect_timeout: 100ms"));
  EXPECT_EQ(proxy.get().status(), 200);
  EXPECT_EQ(proxy.get().status(), 200);
}

}  // namespace
}  // namespace damper::tests
