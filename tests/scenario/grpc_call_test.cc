// What a gRPC call comes to where its status stands at its end, how long it may take, and calls
// that stream both ways (docs/grpc.md).
#include <future>
#include <gtest/gtest.h>

#include "tests/support/gauges.h"
#include "tests/support/grpc_wire.h"
#include "tests/support/h2_peer.h"
#include "tests/support/log_file.h"

namespace damper::tests {
namespace {

std::string budget(const std::string& fields) {
  return "circuit_breakers: { thresholds: [ { retry_budget: { " + fields + " } } ] }";
}

const std::string kCutAfterHead = kGrpcHead + chunk("message");  // and then it closes
const std::string kNoStatus = kGrpcHead + chunk("message") + "0\r\n\r\n";

// Each answer on a connection of its own, which the upstream then closes: it must not be used
// again.
const std::string kOneEach = ", max_requests_per_connection: 1";
ScriptedUpstream::Script one_each(std::vector<std::string> responses) {
  return
      [responses = std::move(responses)](ScriptedUpstream& self, WireConnection& connection, int) {
        if (!self.receive(connection)) return;
        const std::size_t turn = std::min(self.requests().size(), responses.size()) - 1;
        connection.send(responses[turn]);
      };
}

// --- Success and failure -------------------------------------------------------------------------

TEST(GrpcCall, ASuccessFeedsTheBudgetAtItsEndAndAFailureDoesNot) {
  const std::tuple<std::string, bool> rows[] = {{trailers_only(0), true},
                                                {late_trailers(0), true},
                                                {late_trailers(5), true},
                                                {trailers_only(13), false},
                                                {late_trailers(1), false},
                                                {late_trailers(8), false},
                                                {late_trailers(13), false},
                                                {late_trailers(14), false},
                                                {early_trailers(4), false},
                                                {kNoStatus, false},
                                                {kCutAfterHead, false},
                                                {kGrpcHead + "0\r\n\r\n", false},
                                                {http_response(200, "html"), false}};
  for (const auto& [response, feeds] : rows) {
    SCOPED_TRACE(response);
    ScriptedUpstream upstream(one_each({response, trailers_only(14), trailers_only(0)}));
    RunningProxy proxy(grpc_route(upstream.endpoint(), grpc_retry("unavailable"),
                                  budget("window: { ratio: 100%, min_retries: 0 }") + kOneEach));
    {
      // To the end of the connection: some of these answers have no other end.
      WireConnection client = proxy.connect();
      client.send(grpc_call());
      client.read_response();
    }
    EXPECT_EQ(grpc_status(proxy.ask(grpc_call())), feeds ? "0" : "14");
    EXPECT_EQ(proxy.stat("cluster.app.retry_refused.budget_window"), feeds ? 0 : 1);
  }
}

TEST(GrpcCall, TheThrottleCountsFailuresAtTheirEndAndWordsToStop) {
  const std::string stop = "grpc-retry-pushback-ms: -1\r\n";
  const std::pair<std::string, bool> rows[] = {
      {late_trailers(14), true},        {late_trailers(5), false},
      {late_trailers(5, stop), true},   {trailers_only(5, stop), true},
      {early_trailers(14, stop), true}, {trailers_only(0, stop), false}};
  for (const auto& [response, counts] : rows) {
    SCOPED_TRACE(response);
    ScriptedUpstream upstream(in_turn({response, response, trailers_only(14), trailers_only(0)}));
    RunningProxy proxy(grpc_route(upstream.endpoint(), grpc_retry("unavailable"),
                                  budget("throttle: { max_tokens: 6, token_ratio: 0.001 }")));
    for (int i = 0; i < 2; ++i) proxy.ask(grpc_call());
    EXPECT_EQ(grpc_status(proxy.ask(grpc_call())), counts ? "14" : "0");
    EXPECT_EQ(proxy.stat("cluster.app.retry_refused.budget_throttle"), counts ? 1 : 0);
  }
}

TEST(GrpcCall, TheBreakerCountsWhatCallsCameTo) {
  const std::pair<std::string, bool> rows[] = {
      {late_trailers(0), false},
      {late_trailers(5), false},
      {late_trailers(8), false},
      {late_trailers(14), true},
      {early_trailers(14), true},
      {trailers_only(14), true},
      {trailers_only(13), true},
      {late_trailers(2), true},
      {kNoStatus, true},
      {kCutAfterHead, true},
      {http_response(200, ""), true},
      {late_trailers(14, "grpc-retry-pushback-ms: 1000\r\n"), false},
      {late_trailers(14, "x-damper-retry: final; by=b\r\n"), false}};
  for (const auto& [response, opens] : rows) {
    SCOPED_TRACE(response);
    ScriptedUpstream upstream(one_each({response}));
    RunningProxy proxy(grpc_route(
        upstream.endpoint(), "",
        "breaker: { failure_percent: 50, min_requests: 2, probes: 1, open_for: 60s }" + kOneEach));
    for (int i = 0; i < 2; ++i) {
      WireConnection client = proxy.connect();
      client.send(grpc_call());
      client.read_response();
    }
    EXPECT_EQ(proxy.stat("cluster.app.breaker.opened"), opens ? 1 : 0);
  }
}

TEST(GrpcCall, AStreamAsAProbeClosesTheBreakerWhenItBegins) {
  std::promise<void> seen;
  ScriptedUpstream upstream([&](ScriptedUpstream& self, WireConnection& connection, int number) {
    self.receive(connection);
    connection.send(number < 2 ? trailers_only(14) : kGrpcHead + chunk("event"));
    if (number < 2) return;
    seen.get_future().wait();
    connection.send(grpc_end(0));
    connection.wait_for_close();
  });
  RunningProxy proxy(
      grpc_route(upstream.endpoint(), "",
                 "breaker: { failure_percent: 50, min_requests: 2, probes: 1, open_for: 1ms }"));
  for (int i = 0; i < 2; ++i) proxy.ask(grpc_call());
  EXPECT_TRUE(proxy.stat_becomes("cluster.app.breaker.state", 3));
  WireConnection client = proxy.connect();
  client.send(grpc_call());
  EXPECT_TRUE(proxy.stat_becomes("cluster.app.breaker.state", 1));
  seen.set_value();
  EXPECT_EQ(grpc_status(*client.read_response()), "0");
}

TEST(GrpcCall, AClientThatLeavesAStreamSaysNothingAboutTheHost) {
  LogFile log;
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int) {
    self.receive(connection);
    connection.send(kGrpcHead + chunk("event"));
    connection.wait_for_close();
  });
  RunningProxy proxy(
      grpc_route(upstream.endpoint(), grpc_retry("unavailable"),
                 "breaker: { failure_percent: 1, min_requests: 1, probes: 1, open_for: 60s }",
                 log.setting("format: \"%RESPONSE_FLAGS% %RETRY_VERDICT%\\n\"")));
  WireConnection client = proxy.connect();
  client.send(grpc_call());
  EXPECT_TRUE(client.readable_within(10'000));
  client.close();
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"DC -"});
  EXPECT_EQ(proxy.stat("cluster.app.breaker.opened"), 0);
  expect_nothing_left(proxy, log);
}

TEST(GrpcCall, ItsAttemptsAreLoggedAndCountedByTheirStatus) {
  LogFile log;
  ScriptedUpstream upstream(in_turn({trailers_only(14), late_trailers(13)}));
  RunningProxy proxy(grpc_route(upstream.endpoint(), grpc_retry("unavailable"), "",
                                log.setting("format: \"%ATTEMPTS% %GRPC_STATUS_NUMBER%\\n\"")));
  proxy.ask(grpc_call());
  const std::string line = log.lines(1).at(0);
  EXPECT_NE(line.find("grpc_unavailable"), std::string::npos) << line;
  EXPECT_NE(line.find("grpc_internal"), std::string::npos) << line;
  EXPECT_TRUE(line.ends_with(" 13")) << line;
  EXPECT_EQ(proxy.stat("cluster.app.retry_attempts.grpc_unavailable"), 1);
}

// --- Time ----------------------------------------------------------------------------------------

// Envoy's envelope: no filter but the router.
std::string bootstrap(const std::string& endpoint, const std::string& route) {
  const std::string port = endpoint.substr(endpoint.find(':') + 1);
  return R"(
static_resources:
  listeners:
  - name: in
    address: { socket_address: { address: 127.0.0.1, port_value: 0 } }
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
          http_protocol_options: { enable_trailers: true }
          route_config:
            virtual_hosts:
            - { name: all, domains: [ "*" ], routes: [ { match: { prefix: / }, route: { cluster: app, )" +
         route + R"( } } ] }
          http_filters:
          - name: envoy.filters.http.router
            typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }
  clusters:
  - name: app
    load_assignment:
      cluster_name: app
      endpoints: [ { lb_endpoints: [ { endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: )" +
         port + R"( } } } } ] } ]
)";
}

// In milliseconds; -1: there is none in that form.
long told_timeout(const WireMessage& request) {
  const std::string text = request.field("grpc-timeout").value_or("");
  return text.ends_with("m") ? std::atol(text.c_str()) : -1;
}

TEST(GrpcCall, WithoutTheFilterItsTimeoutPassesAndARetryIsToldWhatIsLeft) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int number) {
    self.receive(connection);
    if (number == 0) connection.readable_within(100);
    connection.send(number == 0 ? trailers_only(8, "connection: close\r\n") : trailers_only(0));
  });
  RunningProxy proxy(
      bootstrap(upstream.endpoint(), grpc_retry("resource-exhausted") + ", timeout: 0s"));
  EXPECT_EQ(grpc_status(proxy.ask(grpc_call("grpc-timeout: 4S\r\n"))), "0");
  ASSERT_EQ(upstream.requests().size(), 2u);
  EXPECT_EQ(upstream.requests()[0].field("grpc-timeout"), "4S");
  EXPECT_LE(told_timeout(upstream.requests()[1]), 3900);
  EXPECT_GT(told_timeout(upstream.requests()[1]), 0);
}

// Ends each call by a reset once its grpc-timeout is over, as gRPC's servers do. Whatever comes
// meanwhile is read.
ScriptedUpstream::Script resets_at_its_deadline() {
  return [](ScriptedUpstream& self, WireConnection& connection, int) {
    H2Server server(self, connection);
    while (const auto call = server.receive()) {
      const TimePoint over = Clock::now() + std::chrono::milliseconds(told_timeout(*call));
      for (Duration left = over - Clock::now(); left > Duration::zero();
           left = over - Clock::now()) {
        const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
        if (connection.readable_within(static_cast<int>(ms)) && !server.pump()) return;
      }
      server.reset(call->id, http::Reset::kCancel);
    }
  };
}

constexpr const char* kTimeoutFormat =
    "format: \"%GRPC_STATUS_NUMBER% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% %RETRY_VERDICT% "
    "%UPSTREAM_REQUEST_ATTEMPT_COUNT%\\n\"";

// Either clock may be the first, and nobody can tell which was.
TEST(GrpcCall, AnUpstreamThatResetsAtTheDeadlineHasExceededIt) {
  constexpr std::size_t kCalls = 30;
  LogFile log;
  ScriptedUpstream upstream(resets_at_its_deadline());
  RunningProxy proxy(one_route(upstream.endpoint(), grpc_retry("reset,unavailable"), "http: 2",
                               kWithTrailers + ", " + log.setting(kTimeoutFormat)));
  for (std::size_t i = 0; i < kCalls; ++i) {
    EXPECT_EQ(grpc_status(proxy.ask(grpc_call("grpc-timeout: 10m\r\n"))), "4");
  }
  EXPECT_EQ(log.lines(kCalls), std::vector<std::string>(kCalls, "4 UT response_timeout - 1"));
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_timeout"), static_cast<long>(kCalls));
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_retry"), 0);
  expect_no_requests_left(proxy);
}

// Here no timer of ours runs: it is always the reset.
TEST(GrpcCall, AResetAfterADeadlineThatNobodyEnforcesHasExceededItToo) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int) {
    const auto call = self.receive(connection);
    if (told_timeout(*call) < 100)
      connection.readable_within(static_cast<int>(told_timeout(*call)));
  });
  RunningProxy proxy(bootstrap(upstream.endpoint(), grpc_retry("reset") + ", timeout: 0s"));
  EXPECT_EQ(grpc_status(proxy.ask(grpc_call("grpc-timeout: 10m\r\n"))), "4");
  EXPECT_EQ(upstream.requests().size(), 1u);
  EXPECT_EQ(grpc_status(proxy.ask(grpc_call("grpc-timeout: 10000m\r\n"))), "14");
  EXPECT_EQ(upstream.requests().size(), 3u);
}

TEST(GrpcCall, AResetThatComesBeforeTheDeadlineIsAReset) {
  ScriptedUpstream upstream(h2_script([](H2Server& server, const H2Message& call, int) {
    server.reset(call.id, http::Reset::kCancel);
  }));
  LogFile log;
  RunningProxy proxy(one_route(upstream.endpoint(), grpc_retry("reset"), "http: 2",
                               kWithTrailers + ", " + log.setting(kTimeoutFormat)));
  EXPECT_EQ(grpc_status(proxy.ask(grpc_call("grpc-timeout: 10S\r\n"))), "14");
  EXPECT_EQ(log.lines(1),
            std::vector<std::string>{
                "14 URX,UR upstream_reset_before_response_started{remote_reset} limit 2"});
}

TEST(GrpcCall, AHeaderThatIsEnforcedIsToldAnewToEachAttempt) {
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(
      bootstrap(upstream.endpoint(), "max_stream_duration: { grpc_timeout_header_max: 0s }, " +
                                         grpc_retry("reset", "per_try_timeout: 0.5s")));
  const WireMessage answer = proxy.ask(grpc_call("grpc-timeout: 700m\r\n"));
  EXPECT_EQ(grpc_status(answer), "4");
  ASSERT_EQ(upstream.requests().size(), 2u);
  EXPECT_LE(told_timeout(upstream.requests()[0]), 500);
  EXPECT_LE(told_timeout(upstream.requests()[1]), 200);
  EXPECT_GT(told_timeout(upstream.requests()[1]), 0);
}

TEST(GrpcCall, MaxStreamDurationLeavesTheRouteTimeoutAsItIs) {
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(bootstrap(upstream.endpoint(),
                               "max_stream_duration: { grpc_timeout_header_max: 30s }, "
                               "timeout: 0.1s"));
  EXPECT_EQ(proxy.get().status(), 504);
  EXPECT_EQ(grpc_status(proxy.ask(grpc_call())), "4");
  EXPECT_EQ(grpc_status(proxy.ask(grpc_call("grpc-timeout: 10S\r\n"))), "4");
}

TEST(GrpcCall, ADeadlineThatPassesWhileAHeadIsHeldBackIsExceeded) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int) {
    self.receive(connection);
    connection.send(kGrpcHead);
    connection.wait_for_close();
  });
  // Whether the head or the end of the time comes first, there is one answer, and it ends.
  RunningProxy proxy(grpc_route(upstream.endpoint(), grpc_retry("unavailable") + ", timeout: 5ms"));
  for (int i = 0; i < 20; ++i) {
    WireConnection client = proxy.connect();
    client.send(grpc_call());
    const auto answer = client.read_response();
    ASSERT_TRUE(answer);
    EXPECT_TRUE(grpc_status(*answer) == "4" || !answer->complete);
  }
  EXPECT_TRUE(proxy.stat_becomes("cluster.app.upstream_rq_active", 0));
}

// --- Streams -------------------------------------------------------------------------------------

// Answers each message with one.
ScriptedUpstream::Script echo_stream() {
  return [](ScriptedUpstream&, WireConnection& connection, int) {
    std::string came;
    while (came.find("first") == came.npos) came += connection.read_some();
    connection.send(kGrpcHead + chunk("first"));
    while (came.find("second") == came.npos) came += connection.read_some();
    connection.send(chunk("second"));
    while (came.find("0\r\n\r\n") == came.npos) came += connection.read_some();
    connection.send(grpc_end(0));
    connection.wait_for_close();
  };
}

std::string read_until(WireConnection& client, const std::string& text) {
  std::string came;
  while (came.find(text) == came.npos) {
    const std::string more = client.read_some();
    if (more.empty()) return came + "(end)";
    came += more;
  }
  return came;
}

TEST(GrpcStream, FlowsBothWaysAndTheRouteTimeoutRunsFromItsHalfClose) {
  ScriptedUpstream upstream(echo_stream());
  RunningProxy proxy(
      grpc_route(upstream.endpoint(), grpc_retry("unavailable,reset") + ", timeout: 200ms"));
  WireConnection client = proxy.connect();
  client.send(grpc_call_begins() + chunk("first"));
  EXPECT_NE(read_until(client, "first").find("200 OK"), std::string::npos);
  EXPECT_FALSE(client.readable_within(300));  // longer than the timeout
  client.send(chunk("second"));
  read_until(client, "second");
  client.send("0\r\n\r\n");
  EXPECT_NE(read_until(client, "grpc-status: 0\r\n\r\n").find("grpc-status: 0"), std::string::npos);
}

TEST(GrpcStream, AnIdleOneEndsByTheStreamIdleTimeout) {
  LogFile log;
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(
      grpc_route(upstream.endpoint(), grpc_retry("unavailable"), "",
                 "stream_idle_timeout: 100ms, " + log.setting("format: \"%RESPONSE_FLAGS%\\n\"")));
  WireConnection client = proxy.connect();
  client.send(grpc_call_begins() + chunk("first"));
  EXPECT_TRUE(client.read_response());
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"SI"});
  client.close();
  expect_nothing_left(proxy, log);
}

TEST(GrpcStream, ALongUploadBeforeAnyHeadIsNeitherHeldNorStopped) {
  constexpr std::size_t kBytes = 4'000'000;
  std::promise<std::size_t> received;
  ScriptedUpstream upstream([&](ScriptedUpstream&, WireConnection& connection, int) {
    std::size_t bytes = 0;
    while (bytes < kBytes) {
      const std::string piece = connection.read_some();
      if (piece.empty()) break;
      bytes += piece.size();
    }
    received.set_value(bytes);
    connection.send(late_trailers(14));
    connection.wait_for_close();
  });
  RunningProxy proxy(grpc_route(upstream.endpoint(), grpc_retry("unavailable"), "",
                                "per_connection_buffer_limit_bytes: 20000"));
  WireConnection client = proxy.connect();
  client.send(grpc_call_begins());
  const std::string piece = chunk(std::string(100'000, 'x'));
  for (std::size_t sent = 0; sent < kBytes; sent += 100'000) ASSERT_TRUE(client.send(piece));
  EXPECT_GE(received.get_future().get(), kBytes);
  EXPECT_EQ(grpc_status(*client.read_response()), "14");
  EXPECT_EQ(proxy.stat("cluster.app.retry_or_shadow_abandoned"), 1);
}

TEST(GrpcStream, AStreamIsNotCopiedFromItsHeadOn) {
  constexpr std::size_t kBytes = 4'000'000;
  ScriptedUpstream upstream([&](ScriptedUpstream&, WireConnection& connection, int) {
    connection.read_some();
    connection.send(kGrpcHead + chunk("begun"));
    for (std::size_t bytes = 0; bytes < kBytes;) {
      const std::string piece = connection.read_some();
      if (piece.empty()) return;
      bytes += piece.size();
    }
    connection.send(grpc_end(0));
    connection.wait_for_close();
  });
  RunningProxy proxy(grpc_route(upstream.endpoint(), grpc_retry("unavailable")));
  WireConnection client = proxy.connect();
  client.send(grpc_call_begins() + chunk("first"));
  read_until(client, "begun");
  const std::string piece = chunk(std::string(100'000, 'x'));
  for (std::size_t sent = 0; sent < kBytes; sent += 100'000) ASSERT_TRUE(client.send(piece));
  read_until(client, "grpc-status: 0");
  // Over a limit of 1 MiB a copy would have been given up, and that counted.
  EXPECT_EQ(proxy.stat("cluster.app.retry_or_shadow_abandoned"), 0);
}

}  // namespace
}  // namespace damper::tests
