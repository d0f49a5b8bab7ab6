#include "filters/retry/request_headers.h"

#include <gtest/gtest.h>

#include "tests/support/outcomes.h"

namespace damper::retry {
namespace {

using namespace std::chrono_literals;
using config::RetryOn;

http::Fields fields(const tests::Response::Headers& headers) {
  http::Fields out;
  for (const auto& [name, value] : headers) out.add(name, value);
  return out;
}

TEST(RequestHeaders, ConditionsAreAddedToThePolicys) {
  const auto read = read_overrides(fields(
      {{"x-envoy-retry-on", "5xx, nonsense ,reset"}, {"x-envoy-retry-grpc-on", "unavailable"}}));
  const auto policy = apply(read, {.retry_on = tests::retry_on("connect-failure")});
  EXPECT_EQ(policy.retry_on, tests::retry_on("connect-failure,5xx,reset,unavailable"));
  EXPECT_TRUE(changes_policy(read));
}

TEST(RequestHeaders, TheNumberOfRetriesIsReplacedIfItCanBeRead) {
  const auto retries = [](std::string_view value) {
    return apply(read_overrides(fields({{"x-envoy-max-retries", value}})), {.num_retries = 2})
        .num_retries;
  };
  EXPECT_EQ(retries("5"), 5u);
  EXPECT_EQ(retries("0"), 0u);
  for (const auto* value : {"", "-1", "many", "1.5", "99999999999"}) {
    EXPECT_EQ(retries(value), 2u) << value;
  }
}

TEST(RequestHeaders, StatusesAndHeaderNamesAreAppended) {
  const auto read =
      read_overrides(fields({{"x-envoy-retriable-status-codes", "429, x, 99, 1000,503"},
                             {"x-envoy-retriable-header-names", "X-Try-Again, x-other"}}));
  const auto policy =
      apply(read, {.retriable_status_codes = {500}, .retriable_headers = {{.name = "x-own"}}});
  EXPECT_EQ(policy.retriable_status_codes, (std::vector<int>{500, 429, 503}));
  ASSERT_EQ(policy.retriable_headers.size(), 3u);
  EXPECT_EQ(policy.retriable_headers[1], config::HeaderMatch{.name = "x-try-again"});
}

TEST(RequestHeaders, TimeOnlyGetsShorter) {
  const auto per_try = [](Duration own, std::string_view value) {
    return apply(read_overrides(fields({{"x-envoy-upstream-rq-per-try-timeout-ms", value}})),
                 {.per_try_timeout = own})
        .per_try_timeout;
  };
  EXPECT_EQ(per_try(500ms, "100"), 100ms);
  EXPECT_EQ(per_try(500ms, "9000"), 500ms);
  EXPECT_EQ(per_try(0ms, "9000"), 9000ms);
  EXPECT_EQ(per_try(500ms, "0"), 500ms);
  EXPECT_EQ(per_try(500ms, "x"), 500ms);

  const auto read = read_overrides(fields({{"x-envoy-upstream-rq-timeout-ms", "1000"}}));
  EXPECT_EQ(tighten(15s, read.timeout), 1s);
  EXPECT_EQ(tighten(500ms, read.timeout), 500ms);
  EXPECT_EQ(tighten(0s, read.timeout), 1s);
  EXPECT_EQ(tighten(15s, std::nullopt), 15s);
}

TEST(RequestHeaders, HedgingIsATruthValue) {
  const auto hedge = [](std::string_view value) {
    return read_overrides(fields({{"x-envoy-hedge-on-per-try-timeout", value}}))
        .hedge_on_per_try_timeout;
  };
  EXPECT_EQ(hedge("true"), true);
  EXPECT_EQ(hedge("False"), false);
  EXPECT_EQ(hedge("1"), std::nullopt);
}

TEST(RequestHeaders, NothingIsChangedWithoutThem) {
  const auto read = read_overrides(fields({{"accept", "*/*"}}));
  EXPECT_FALSE(changes_policy(read));
  EXPECT_EQ(apply(read, {}), config::RetryPolicy{});
}

TEST(RequestHeaders, AllThatSteerAreStrippedAndNothingElse) {
  auto request = fields({{"x-envoy-retry-on", "5xx"},
                         {"x-envoy-retry-grpc-on", "internal"},
                         {"x-envoy-max-retries", "3"},
                         {"x-envoy-retriable-status-codes", "503"},
                         {"x-envoy-retriable-header-names", "x"},
                         {"x-envoy-upstream-rq-timeout-ms", "1"},
                         {"x-envoy-upstream-rq-per-try-timeout-ms", "1"},
                         {"x-envoy-hedge-on-per-try-timeout", "true"},
                         {"x-envoy-upstream-rq-timeout-alt-response", "1"},
                         {"x-envoy-upstream-alt-stat-name", "a"},
                         {"x-envoy-upstream-stream-duration-ms", "5"},
                         {"x-envoy-attempt-count", "2"},
                         {"x-envoy-expected-rq-timeout-ms", "100"},
                         {"x-other", "1"}});
  strip_overrides(request);
  ASSERT_EQ(request.size(), 3u);
  EXPECT_TRUE(request.has(http::HeaderId::kXEnvoyAttemptCount));
  EXPECT_TRUE(request.has(http::HeaderId::kXEnvoyExpectedRqTimeoutMs));
  EXPECT_TRUE(request.find("x-other"));
}

}  // namespace
}  // namespace damper::retry
