#include "config/load/retry.h"

#include <gtest/gtest.h>

#include "tests/support/config_text.h"

namespace damper::config {
namespace {

TEST(RetryPolicy, IsReadInFull) {
  const RetryPolicy policy = load_retry_policy(R"(
    retry_on: "5xx, unavailable,retriable-status-codes,retriable-headers", num_retries: "3", per_try_timeout: 0.5s,
    per_try_idle_timeout: 100ms, retriable_status_codes: [ 503, "429" ],
    retriable_headers: [ { name: X-Retry, present_match: true } ],
    retriable_request_headers: [ { name: ":method", string_match: { safe_regex: { regex: "GET|HEAD" } } } ],
    retry_back_off: { base_interval: 0.05s, max_interval: 0.5s },
    rate_limited_retry_back_off: { max_interval: 60s, reset_headers: [ { name: X-Reset, format: UNIX_TIMESTAMP } ] },
    retry_host_predicate: [ { name: envoy.retry_host_predicates.previous_hosts } ],
    idempotent: true, retry_non_idempotent_on: [ 503 ], honours_idempotency_key: true)");
  RetryPolicy expected;
  for (const auto condition : {RetryOn::k5xx, RetryOn::kGrpcUnavailable,
                               RetryOn::kRetriableStatusCodes, RetryOn::kRetriableHeaders}) {
    expected.retry_on.add(condition);
  }
  expected.num_retries = 3;
  expected.per_try_timeout = 500ms;
  expected.per_try_idle_timeout = 100ms;
  expected.retriable_status_codes = {503, 429};
  expected.retriable_headers = {{.name = "x-retry", .value = std::nullopt, .range = std::nullopt}};
  expected.retriable_request_headers = {
      {.name = ":method",
       .value = StringMatch{.kind = StringMatch::Kind::kRegex, .text = "GET|HEAD"},
       .range = std::nullopt}};
  expected.back_off = {.base_interval = 50ms, .max_interval = 500ms};
  expected.retry_after = {
      .ignore = false,
      .max_wait = 60s,
      .reset_headers = {{.name = "x-reset", .format = ResetHeader::Format::kUnixTimestamp}}};
  expected.idempotent = true;
  expected.retry_non_idempotent_on = {503};
  expected.honours_idempotency_key = true;
  EXPECT_EQ(policy, expected);
}

TEST(RetryPolicy, EveryConditionIsKnownByItsToken) {
  for (const RetryOnToken& t : retry_on_tokens()) {
    RetryConditions expected;
    expected.add(t.condition);
    EXPECT_EQ(load_retry_policy("retry_on: " + std::string(t.token)).retry_on, expected) << t.token;
  }
}

TEST(RetryPolicy, ZeroSecondsPerTryIsNone) {
  EXPECT_EQ(load_retry_policy("retry_on: 5xx, per_try_timeout: 0s").per_try_timeout,
            Duration::zero());
}

TEST(RetryAfterSettings, HaveAWordAndAMapping) {
  EXPECT_TRUE(load_retry_policy("retry_after: ignore").retry_after.ignore);
  EXPECT_TRUE(load_retry_policy("retry_after: { ignore: true }").retry_after.ignore);
  EXPECT_EQ(load_retry_policy("retry_after: { max_wait: 5s }").retry_after.max_wait, 5s);
  // Envoy's cap where its message is written, unless ours is, too.
  const std::string limited =
      "rate_limited_retry_back_off: { reset_headers: [ { name: retry-after } ] }";
  EXPECT_EQ(load_retry_policy(limited).retry_after.max_wait, 300s);
  EXPECT_EQ(load_retry_policy(limited + ", retry_after: { max_wait: 5s }").retry_after.max_wait,
            5s);
}

TEST(HedgePolicySettings, HaveATimeOrAPercentile) {
  const auto policy = [](const std::string& fields) {
    return *load_action("hedge_policy: { " + fields + " }").hedge_policy;
  };
  EXPECT_EQ(policy(""), HedgePolicy{});
  HedgePolicy expected;
  expected.hedge_on_per_try_timeout = true;
  EXPECT_EQ(policy("hedge_on_per_try_timeout: true"), expected);
  expected.hedge_after = 50ms;
  EXPECT_EQ(policy("hedge_on_per_try_timeout: true, hedge_after: 50ms"), expected);
  expected = {};
  expected.hedge_after_p95 = true;
  EXPECT_EQ(policy("hedge_after: p95"), expected);
}

}  // namespace
}  // namespace damper::config
