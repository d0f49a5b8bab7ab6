// x-envoy-* headers: what callers may ask for, and what attempts and answers say.
#include <gtest/gtest.h>

#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

constexpr const char* kTrustNobody = "trust: [ 192.0.2.0/24 ]";

TEST(Steering, ATrustedCallerMayAskForRetries) {
  ScriptedUpstream upstream(in_turn({http_response(418, ""), http_response(200, "fine")}));
  RunningProxy proxy(one_route(upstream.endpoint()));
  EXPECT_EQ(proxy
                .get("/",
                     "x-envoy-retry-on: retriable-status-codes\r\n"
                     "x-envoy-retriable-status-codes: 418\r\nx-envoy-max-retries: 1\r\n")
                .status(),
            200);
  for (const WireMessage& attempt : upstream.requests()) {
    EXPECT_EQ(attempt.field("x-envoy-retry-on"), std::nullopt);
    EXPECT_EQ(attempt.field("x-envoy-max-retries"), std::nullopt);
  }
}

TEST(Steering, AStrangerMayNot) {
  ScriptedUpstream upstream(always(http_response(503, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), "timeout: 10s", "", kTrustNobody));
  proxy.get("/", "x-envoy-retry-on: 5xx\r\nx-envoy-upstream-rq-timeout-ms: 1\r\n");
  EXPECT_EQ(upstream.requests().size(), 1u);
  EXPECT_EQ(upstream.requests()[0].field("x-envoy-retry-on"), std::nullopt);
}

TEST(Steering, IsAQuestionOfThePeersAddress) {
  ScriptedUpstream upstream(always(http_response(503, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "", "trust: [ 127.0.0.1/32 ]"));
  const auto attempts_for = [&](const char* peer, const std::string& header) {
    const std::size_t before = upstream.requests().size();
    WireConnection client = WireConnection::connect_to(proxy.port(), peer);
    client.send("GET / HTTP/1.1\r\nhost: a\r\n" + header + "\r\n\r\n");
    EXPECT_EQ(client.read_response()->status(), 503);
    return upstream.requests().size() - before;
  };
  EXPECT_EQ(attempts_for("127.0.0.1", "x-envoy-retry-on: 5xx"), 2u);
  EXPECT_EQ(attempts_for("127.0.0.2", "x-envoy-retry-on: 5xx"), 1u);
}

TEST(Steering, TimeoutsOnlyGetShorter) {
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(upstream.endpoint(), "timeout: 300ms"));
  for (const std::string ms : {"100", "60000"}) {
    const TimePoint start = Clock::now();
    EXPECT_EQ(proxy.get("/", "x-envoy-upstream-rq-timeout-ms: " + ms + "\r\n").status(), 504);
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(9));
  }
}

TEST(Steering, APerTryTimeoutMayBeAskedFor) {
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(upstream.endpoint()));
  EXPECT_EQ(proxy.get("/", "x-envoy-upstream-rq-per-try-timeout-ms: 100\r\n").status(), 504);
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_per_try_timeout"), 1);
}

std::string counting(const std::string& endpoint, const std::string& policy = retry("5xx")) {
  return "listeners:\n- { name: in, address: \"127.0.0.1:0\", virtual_hosts: [ { name: all, "
         "domains: [\"*\"], include_request_attempt_count: true, "
         "include_attempt_count_in_response: true, include_is_timeout_retry_header: true, routes: "
         "[ "
         "{ match: { prefix: / }, route: { cluster: app, " +
         policy + " } } ] } ] }\nclusters:\n- { name: app, endpoints: [" + endpoint + "] }\n";
}

TEST(AttemptHeaders, CountAttemptsInRequestsAndTheResponse) {
  ScriptedUpstream upstream(in_turn({http_response(503, ""), http_response(200, "")}));
  RunningProxy proxy(counting(upstream.endpoint()));
  EXPECT_EQ(proxy.get().field("x-envoy-attempt-count"), "2");
  EXPECT_EQ(upstream.requests()[0].field("x-envoy-attempt-count"), "1");
  EXPECT_EQ(upstream.requests()[1].field("x-envoy-attempt-count"), "2");
  EXPECT_EQ(upstream.requests()[0].field("x-envoy-is-timeout-retry"), std::nullopt);
  EXPECT_EQ(upstream.requests()[1].field("x-envoy-is-timeout-retry"), "false");
}

TEST(AttemptHeaders, ACountThatCameInIsNeverLowered) {
  ScriptedUpstream upstream(always(http_response(503, "")));
  RunningProxy proxy(counting(upstream.endpoint(), retry("5xx", "num_retries: 3")));
  proxy.get("/", "x-envoy-attempt-count: 3\r\n");
  std::vector<std::string> counts;
  for (const auto& attempt : upstream.requests())
    counts.push_back(*attempt.field("x-envoy-attempt-count"));
  EXPECT_EQ(counts, (std::vector<std::string>{"3", "3", "3", "4"}));
}

TEST(AttemptHeaders, ATimeoutIsToldToTheNextAttempt) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int number) {
    self.receive(connection);
    if (number > 0) connection.send(http_response(200, ""));
    connection.wait_for_close();
  });
  RunningProxy proxy(counting(upstream.endpoint(), retry("timeout", "per_try_timeout: 100ms")));
  EXPECT_EQ(proxy.get().status(), 200);
  EXPECT_EQ(upstream.requests()[1].field("x-envoy-is-timeout-retry"), "true");
}

TEST(AttemptHeaders, TellTheTimeThatTheAttemptHas) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy whole(one_route(upstream.endpoint(), "timeout: 5s"));
  RunningProxy per_try(
      one_route(upstream.endpoint(), "timeout: 5s, " + retry("5xx", "per_try_timeout: 1s")));
  RunningProxy none(one_route(upstream.endpoint(), "timeout: 0s"));
  for (RunningProxy* proxy : {&whole, &per_try, &none}) {
    proxy->get("/", "x-envoy-expected-rq-timeout-ms: 77777\r\n");
  }
  const auto told = [&](std::size_t i) {
    return std::stol(upstream.requests()[i].field("x-envoy-expected-rq-timeout-ms").value_or("0"));
  };
  EXPECT_GT(told(0), 1000);
  EXPECT_LE(told(0), 5000);
  EXPECT_GT(told(1), 0);
  EXPECT_LE(told(1), 1000);
  EXPECT_GT(told(2), 70000);  // no limit of ours, but the caller has one
  EXPECT_LE(told(2), 77777);
}

TEST(AttemptHeaders, TheAnswerTellsTheServiceTimeUnlessSuppressed) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint()));
  EXPECT_TRUE(proxy.get().field("x-envoy-upstream-service-time"));
  RunningProxy mute(one_route(
      upstream.endpoint(), "", "",
      "http_filters: [ { name: envoy.filters.http.router, typed_config: { \"@type\": "
      "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router, suppress_envoy_headers: "
      "true } } ]"));
  EXPECT_FALSE(mute.get().field("x-envoy-upstream-service-time"));
  EXPECT_FALSE(upstream.requests()[1].field("x-envoy-expected-rq-timeout-ms"));
}

}  // namespace
}  // namespace damper::tests
