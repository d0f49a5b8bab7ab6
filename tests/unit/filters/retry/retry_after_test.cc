#include "filters/retry/retry_after.h"

#include <array>
#include <gtest/gtest.h>

#include "tests/support/outcomes.h"

namespace damper::retry {
namespace {

using namespace std::chrono_literals;
using tests::Response;

const WallTime kNow = std::chrono::sys_days(std::chrono::year(2026) / 11 / 29) + 12h + 250ms;

ServerWait read(const Response::Headers& headers, const config::RetryAfter& rules = {}) {
  return read_server_wait(rules, Response(503, headers).outcome(), kNow);
}

TEST(RetryAfter, EveryFormIsRead) {
  const std::pair<const char*, Duration> rows[] = {
      {"0", 0s},
      {"1", 1s},
      {" 120 ", 120s},
      {"Sun, 29 Nov 2026 12:00:10 GMT", 9750ms},
      {"Sunday, 29-Nov-26 12:00:10 GMT", 9750ms},
      {"Sun Nov 29 12:00:10 2026", 9750ms},
  };
  for (const auto& [text, wait] : rows) {
    const ServerWait told = read({{"retry-after", text}});
    EXPECT_EQ(told.wait, wait) << text;
    EXPECT_EQ(told.unreadable, 0u) << text;
  }
}

TEST(RetryAfter, ADateInThePastMeansOrdinaryBackOff) {
  const ServerWait told = read({{"retry-after", "Sun, 29 Nov 2026 11:59:59 GMT"}});
  EXPECT_EQ(told.wait, 0s);
  EXPECT_EQ(told.unreadable, 0u);
}

TEST(RetryAfter, GarbageIsIgnoredAndCounted) {
  for (const auto* text : {"", "-1", "1.5", "+3", "5s", "soon", "0x10", "1 2", "12,"}) {
    const ServerWait told = read({{"retry-after", text}});
    EXPECT_EQ(told.wait, 0s) << text;
    EXPECT_EQ(told.unreadable, 1u) << text;
  }
}

TEST(RetryAfter, AnEnormousNumberIsALongWaitAndNotGarbage) {
  for (const auto* text : {"9999999999", "18446744073709551615", "99999999999999999999999999",
                           "Fri, 31 Dec 9999 23:59:59 GMT"}) {
    const ServerWait told = read({{"retry-after", text}});
    EXPECT_GT(told.wait, 24h * 364) << text;
    EXPECT_EQ(told.unreadable, 0u) << text;
  }
}

TEST(RetryAfter, NothingIsSaidWithoutAHeaderOrWhenItIsIgnored) {
  EXPECT_EQ(read({}).wait, 0s);
  EXPECT_EQ(read({{"retry-after", "5"}}, {.ignore = true}).wait, 0s);
  EXPECT_EQ(read_server_wait({}, tests::failed(Failure::kReset), kNow).wait, 0s);
}

TEST(RetryAfter, ResetHeadersAreReadInOrderAndBeforeRetryAfter) {
  using Format = config::ResetHeader::Format;
  const config::RetryAfter rules{
      .reset_headers = {{"x-reset", Format::kSeconds}, {"x-reset-at", Format::kUnixTimestamp}}};
  const auto at = std::to_string(
      std::chrono::duration_cast<std::chrono::seconds>(kNow.time_since_epoch()).count() + 7);
  EXPECT_EQ(read({{"retry-after", "5"}, {"x-reset-at", at}, {"x-reset", "3"}}, rules).wait, 3s);
  EXPECT_EQ(read({{"retry-after", "5"}, {"x-reset-at", at}}, rules).wait, 6750ms);
  EXPECT_EQ(read({{"retry-after", "5"}}, rules).wait, 5s);
  // What names no time to come leaves the word to the next.
  EXPECT_EQ(read({{"x-reset", "0"}, {"x-reset-at", "1"}, {"retry-after", "5"}}, rules).wait, 5s);
  const ServerWait told = read({{"x-reset", "soon"}, {"retry-after", "5"}}, rules);
  EXPECT_EQ(told.wait, 5s);
  EXPECT_EQ(told.unreadable, 1u);
}

TEST(RetryAfter, GrpcPushbackGoesFirst) {
  EXPECT_EQ(read({{"retry-after", "5"}, {"grpc-retry-pushback-ms", "1500"}}).wait, 1500ms);
  EXPECT_EQ(read({{"retry-after", "5"}, {"grpc-retry-pushback-ms", "0"}}).wait, 5s);
}

TEST(RetryAfter, PushbackThatIsNegativeOrUnreadableForbidsTheRetry) {
  const auto forbids = [](std::string_view value) {
    return pushback_forbids_retry(Response(200, {{"grpc-retry-pushback-ms", value}}).outcome());
  };
  for (const auto* value : {"-1", "", "abc", "1.5"}) EXPECT_TRUE(forbids(value)) << value;
  for (const auto* value : {"0", "10"}) EXPECT_FALSE(forbids(value)) << value;
  EXPECT_FALSE(pushback_forbids_retry(Response(503).outcome()));
  const Response twice(200, {{"grpc-retry-pushback-ms", "5"}, {"grpc-retry-pushback-ms", "5"}});
  EXPECT_TRUE(pushback_forbids_retry(twice.outcome()));
}

TEST(RetryAfter, PushbackIsAlsoReadFromEarlyTrailers) {
  http::Fields trailers;
  trailers.add("grpc-retry-pushback-ms", "-1");
  const Response response(200);
  Outcome outcome = response.outcome();
  outcome.trailers = &trailers;
  EXPECT_TRUE(pushback_forbids_retry(outcome));
}

TEST(RetryAfter, TheWaitIsNeverEarlierThanToldAndSpreadUpToOneAndAHalf) {
  Random random(3);
  std::array<int, 5> fifths{};
  for (int i = 0; i < 5'000; ++i) {
    const Duration wait = draw_server_wait(2s, 1h, random);
    ASSERT_GE(wait, 2s);
    ASSERT_LT(wait, 3s);
    ++fifths[static_cast<std::size_t>((wait - 2s) / 200ms)];
  }
  for (const int n : fifths) EXPECT_NEAR(n, 1000, 150);
}

TEST(RetryAfter, TheWaitIsDrawnFromWhatFits) {
  Random random(4);
  for (int i = 0; i < 1'000; ++i) {
    const Duration wait = draw_server_wait(2s, 2100ms, random);
    ASSERT_GE(wait, 2s);
    ASSERT_LT(wait, 2100ms);
  }
  EXPECT_EQ(draw_server_wait(2s, 2s, random), 2s);
  EXPECT_LT(draw_server_wait(2s, Duration::max(), random), 3s);
}

}  // namespace
}  // namespace damper::retry
