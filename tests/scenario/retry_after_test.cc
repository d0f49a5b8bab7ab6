// Retry-After: a retry comes no earlier than the server says, or not at all.
#include <ctime>
#include <gtest/gtest.h>

#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string busy(const std::string& header) { return http_response(503, "busy", header + "\r\n"); }

std::string imf_date(seconds from_now) {
  const std::time_t at = std::time(nullptr) + from_now.count();
  std::tm utc{};
  ::gmtime_r(&at, &utc);
  char text[64];
  std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc);
  return text;
}

struct Timed {
  int status;
  Duration took;
};

Timed ask(const std::string& first, const std::string& more = "") {
  ScriptedUpstream upstream(in_turn({first, http_response(200, "fine")}));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx", more)));
  const TimePoint start = Clock::now();
  const int status = proxy.get().status();
  return {status, Clock::now() - start};
}

TEST(RetryAfterHeader, DelaysTheRetryBySeconds) {
  const Timed answer = ask(busy("retry-after: 1"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_GE(answer.took, milliseconds(990));
}

TEST(RetryAfterHeader, DelaysTheRetryToADate) {
  const std::time_t before = std::time(nullptr);
  EXPECT_EQ(ask(busy("retry-after: " + imf_date(seconds(2)))).status, 200);
  EXPECT_GE(std::time(nullptr), before + 2);
}

TEST(RetryAfterHeader, PushbackOfGrpcDelaysTheRetryInMilliseconds) {
  const Timed answer = ask(busy("grpc-retry-pushback-ms: 300"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_GE(answer.took, milliseconds(300));
}

TEST(RetryAfterHeader, ResetHeadersOfTheConfigurationAreReadFirst) {
  const std::string rules =
      "rate_limited_retry_back_off: { reset_headers: [ { name: x-reset, format: SECONDS } ] }";
  const Timed answer = ask(busy("x-reset: 1\r\nretry-after: 100"), rules);
  EXPECT_EQ(answer.status, 200);
  EXPECT_GE(answer.took, milliseconds(990));
}

TEST(RetryAfterHeader, ThatDoesNotFitMeansNoRetryAndTheAnswerAtOnce) {
  for (const std::string& header :
       {std::string("retry-after: 100"), "retry-after: " + imf_date(seconds(100)),
        std::string("grpc-retry-pushback-ms: 100000")}) {
    SCOPED_TRACE(header);
    ScriptedUpstream upstream(always(busy(header)));
    RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx")));
    const WireMessage answer = proxy.get();
    EXPECT_EQ(answer.status(), 503);
    EXPECT_EQ(answer.body, "busy");
    EXPECT_EQ(answer.field(header.substr(0, header.find(':'))),
              header.substr(header.find(' ') + 1));
    EXPECT_EQ(upstream.requests().size(), 1u);
    EXPECT_EQ(proxy.stat("cluster.app.retry_refused.deadline"), 1);
  }
}

TEST(RetryAfterHeader, IsComparedWithTheRouteTimeout) {
  ScriptedUpstream upstream(always(busy("retry-after: 5")));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx") + ", timeout: 2s"));
  EXPECT_EQ(proxy.get().status(), 503);
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.deadline"), 1);
}

TEST(RetryAfterHeader, NowThePastOrNonsenseMeanTheOrdinaryBackOff) {
  for (const std::string& header :
       {std::string("retry-after: 0"), "retry-after: " + imf_date(seconds(-100)),
        std::string("retry-after: soon"), std::string("retry-after: -5")}) {
    SCOPED_TRACE(header);
    const Timed answer = ask(busy(header), "retry_after: { max_wait: 500ms }");
    EXPECT_EQ(answer.status, 200);
  }
}

TEST(RetryAfterHeader, MayBeIgnored) {
  EXPECT_EQ(ask(busy("retry-after: 100"), "retry_after: ignore").status, 200);
}

TEST(RetryAfterHeader, NegativePushbackForbidsTheRetry) {
  EXPECT_EQ(ask(busy("grpc-retry-pushback-ms: -1")).status, 503);
}

TEST(RetryAfterHeader, RetriesOfOthersPreferAHostThatDidNotAskForPatience) {
  ScriptedUpstream failing(always(http_response(500, "")));
  ScriptedUpstream patient(always(busy("retry-after: 20")));
  ScriptedUpstream well(always(http_response(200, "fine")));
  RunningProxy proxy(
      "listeners:\n- { name: in, address: \"127.0.0.1:0\", virtual_hosts: [ { name: all, domains: "
      "[\"*\"], include_request_attempt_count: true, routes: [ { match: { prefix: / }, route: { "
      "cluster: app, timeout: 5s, " +
      retry("5xx") + " } } ] } ] }\nclusters:\n- { name: app, endpoints: [ " + failing.endpoint() +
      ", " + patient.endpoint() + ", " + well.endpoint() +
      " ], circuit_breakers: { thresholds: [ { retry_budget: { disabled: true } } ] } }\n");
  for (int i = 0; i < 12; ++i) proxy.get();
  // By turns every retry would follow the failing host there; only the first one does.
  int retries = 0;
  for (const WireMessage& request : patient.requests()) {
    retries += request.field("x-envoy-attempt-count") == "2" ? 1 : 0;
  }
  EXPECT_LE(retries, 1);
  EXPECT_GE(proxy.stat("cluster.app.upstream_rq_retry"), 3);
}

}  // namespace
}  // namespace damper::tests
