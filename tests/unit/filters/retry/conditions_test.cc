#include "filters/retry/conditions.h"

#include <array>
#include <gtest/gtest.h>

#include "tests/support/outcomes.h"

namespace damper::retry {
namespace {

using tests::failed;
using tests::keep_alive_race;
using tests::Response;
using tests::retry_on;

config::RetryPolicy policy(std::string_view tokens, std::vector<int> statuses = {}) {
  return {.retry_on = retry_on(tokens), .retriable_status_codes = std::move(statuses)};
}

bool retried(std::string_view tokens, const Outcome& outcome, RequestTraits request = {}) {
  return matches(policy(tokens, {503}), outcome, request);
}

// Envoy's truth table: one row an event, one letter a condition ("R": retried).
constexpr std::array kColumns = {"connect-failure",      "reset",
                                 "reset-before-request", "5xx",
                                 "gateway-error",        "retriable-status-codes",
                                 "unavailable",          "timeout",
                                 "refused-stream"};

std::string row(const Outcome& outcome) {
  std::string letters;
  for (const auto* token : kColumns) letters += retried(token, outcome) ? 'R' : '-';
  return letters;
}

TEST(Conditions, FollowEnvoysTruthTable) {
  EXPECT_EQ(row(failed(Failure::kConnectFailure, false)), "RRRRR----");
  EXPECT_EQ(row(failed(Failure::kConnectTimeout, false)), "RRRRR----");
  EXPECT_EQ(row(failed(Failure::kReset)), "-R-RR----");
  EXPECT_EQ(row(failed(Failure::kReset, false)), "-RRRR----");
  EXPECT_EQ(row(keep_alive_race()), "-R-RR----");
  EXPECT_EQ(row(failed(Failure::kPerTryTimeout)), "-R-RR--R-");
  EXPECT_EQ(row(failed(Failure::kPerTryTimeout, false)), "-R-RR--R-");
  EXPECT_EQ(row(failed(Failure::kPerTryIdleTimeout)), "-R-RR--R-");
  EXPECT_EQ(row(failed(Failure::kRefusedStream)), "-R-RR---R");
  EXPECT_EQ(row(failed(Failure::kProtocolError)), "-R-RR----");
  EXPECT_EQ(row(failed(Failure::kOverflow, false)), "---------");
  EXPECT_EQ(row(failed(Failure::kNoHealthyHost, false)), "---------");
  EXPECT_EQ(row(failed(Failure::kRouteTimeout)), "---------");
  EXPECT_EQ(row(Response(500).outcome()), "---R-----");
  EXPECT_EQ(row(Response(501).outcome()), "---R-----");
  EXPECT_EQ(row(Response(505).outcome()), "---R-----");
  EXPECT_EQ(row(Response(502).outcome()), "---RR----");
  EXPECT_EQ(row(Response(504).outcome()), "---RR----");
  EXPECT_EQ(row(Response(503).outcome()), "---RRR---");
  EXPECT_EQ(row(Response(200).outcome()), "---------");
  EXPECT_EQ(row(Response(404).outcome()), "---------");
  EXPECT_EQ(row(Response(429).outcome()), "---------");
}

TEST(Conditions, SeveralTokensAreAnyOfThem) {
  EXPECT_TRUE(retried("connect-failure, reset , 5xx", Response(500).outcome()));
  EXPECT_TRUE(retried("connect-failure, reset , 5xx", failed(Failure::kReset)));
}

TEST(Conditions, AResetBeforeTheRequestIsNoneOnceAnyAttemptHasSentBytes) {
  Outcome second = failed(Failure::kConnectFailure, false);
  second.any_attempt_on_wire = true;
  EXPECT_FALSE(retried("reset-before-request", second));
  EXPECT_TRUE(retried("connect-failure", second));
}

TEST(Conditions, TheKeepAliveRaceIsAFailureToConnectForRepeatableRequests) {
  const RequestTraits repeatable{.repeatable = true};
  EXPECT_TRUE(retried("connect-failure", keep_alive_race(), repeatable));
  EXPECT_TRUE(retried("reset-before-request", keep_alive_race(), repeatable));
  EXPECT_FALSE(retried("refused-stream", keep_alive_race(), repeatable));
  EXPECT_FALSE(retried("connect-failure", failed(Failure::kReset), repeatable));
  EXPECT_FALSE(retried("connect-failure", keep_alive_race()));
}

TEST(Conditions, OnlyAConflictIsARetriable4xx) {
  EXPECT_TRUE(retried("retriable-4xx", Response(409).outcome()));
  for (const int status : {400, 401, 403, 404, 408, 425, 429}) {
    EXPECT_FALSE(retried("retriable-4xx", Response(status).outcome())) << status;
  }
}

TEST(Conditions, ListedStatusesMeanTheUpstreamsAnswersAndNotOurs) {
  EXPECT_TRUE(matches(policy("retriable-status-codes", {404}), Response(404).outcome(), {}));
  EXPECT_FALSE(matches(policy("retriable-status-codes", {503}), failed(Failure::kReset), {}));
  EXPECT_FALSE(matches(policy("retriable-4xx", {404}), Response(404).outcome(), {}));
}

TEST(Conditions, TooEarlyIsRetriedOnlyWithoutEarlyData) {
  const auto p = policy("retriable-status-codes", {425});
  EXPECT_TRUE(matches(p, Response(425).outcome(), {}));
  EXPECT_FALSE(matches(p, Response(425).outcome(), {.early_data = true}));
}

TEST(Conditions, AMatchedHeaderCountsUnderRetriableHeaders) {
  const Response response(200);
  Outcome outcome = response.outcome();
  outcome.header_matched = true;
  EXPECT_TRUE(retried("retriable-headers", outcome));
  EXPECT_FALSE(retried("5xx", outcome));
}

TEST(Conditions, ARequestWhoseHeadersDoNotAllowItIsNeverRetried) {
  EXPECT_FALSE(retried("5xx", Response(503).outcome(), {.headers_allow = false}));
  EXPECT_FALSE(retried("reset", failed(Failure::kReset), {.headers_allow = false}));
}

TEST(Conditions, EachGrpcStatusHasItsToken) {
  const std::array tokens = {"cancelled", "deadline-exceeded", "resource-exhausted", "internal",
                             "unavailable"};
  const std::array statuses = {"1", "4", "8", "13", "14"};
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    for (std::size_t s = 0; s < statuses.size(); ++s) {
      const Response response(200, {{"grpc-status", statuses[s]}});
      EXPECT_EQ(retried(tokens[t], response.outcome()), t == s) << tokens[t] << statuses[s];
    }
    EXPECT_FALSE(retried(tokens[t], Response(200, {{"grpc-status", "0"}}).outcome()));
    EXPECT_FALSE(retried(tokens[t], Response(503).outcome()));
  }
}

TEST(Conditions, AGrpcCallSucceedsWithAStatusThatNoConditionNames) {
  const auto p = policy("unavailable");
  const auto good = [&p](const char* status, const char* pushback = "5") {
    const Response response(200, {{"grpc-status", status}, {"grpc-retry-pushback-ms", pushback}});
    return is_success(&p, response.grpc_outcome());
  };
  for (const auto* status : {"0", "3", "5", "7"}) EXPECT_TRUE(good(status)) << status;
  for (const auto* status : {"1", "2", "4", "8", "13", "14"}) EXPECT_FALSE(good(status)) << status;
  EXPECT_FALSE(is_success(nullptr, Response(200).grpc_outcome()));  // it ended without one
  EXPECT_FALSE(good("5", "-1"));
  EXPECT_TRUE(good("0", "-1"));
}

TEST(Conditions, AGrpcStatusIsAFailureLikeTheHttpStatusThatItStandsFor) {
  const auto fails = [](const char* status) {
    return is_failure(Response(200, {{"grpc-status", status}}).grpc_outcome());
  };
  for (const auto* status : {"2", "4", "8", "12", "13", "14", "15"}) EXPECT_TRUE(fails(status));
  for (const auto* status : {"0", "1", "3", "5", "16"}) EXPECT_FALSE(fails(status));
}

TEST(Conditions, RatelimitedVetoesUnlessItIsAskedFor) {
  const Response limited(503, {{"x-envoy-ratelimited", "true"}});
  EXPECT_TRUE(vetoed_by_ratelimit(policy("5xx"), limited.outcome()));
  EXPECT_FALSE(vetoed_by_ratelimit(policy("5xx,envoy-ratelimited"), limited.outcome()));
  EXPECT_FALSE(vetoed_by_ratelimit(policy("5xx"), Response(503).outcome()));
  EXPECT_TRUE(retried("envoy-ratelimited", limited.outcome()));
}

TEST(Conditions, ASuccessIsBelow500AndNothingThatRetryOnWants) {
  const auto p = policy("5xx,retriable-status-codes,unavailable", {429});
  EXPECT_TRUE(is_success(&p, Response(200).outcome()));
  EXPECT_TRUE(is_success(&p, Response(404).outcome()));
  EXPECT_TRUE(is_success(&p, Response(200, {{"grpc-status", "0"}}).outcome()));
  EXPECT_TRUE(is_success(nullptr, Response(429).outcome()));
  EXPECT_FALSE(is_success(&p, Response(429).outcome()));
  EXPECT_FALSE(is_success(&p, Response(200, {{"grpc-status", "14"}}).outcome()));
  EXPECT_FALSE(is_success(nullptr, Response(500).outcome()));
  EXPECT_FALSE(is_success(&p, failed(Failure::kReset)));
}

}  // namespace
}  // namespace damper::retry
