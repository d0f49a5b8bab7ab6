#include "filters/retry/backoff.h"

#include <array>
#include <gtest/gtest.h>

namespace damper::retry {
namespace {

using namespace std::chrono_literals;

TEST(BackOff, TheBoundDoublesUpToTheCap) {
  const config::BackOff back_off{.base_interval = 100ms, .max_interval = 500ms};
  EXPECT_EQ(backoff_bound(back_off, 0), 100ms);
  EXPECT_EQ(backoff_bound(back_off, 1), 200ms);
  EXPECT_EQ(backoff_bound(back_off, 2), 400ms);
  EXPECT_EQ(backoff_bound(back_off, 3), 500ms);
}

TEST(BackOff, TheCapIsTenTimesTheBaseIfNoneIsGiven) { EXPECT_EQ(backoff_bound({}, 20), 250ms); }

TEST(BackOff, ManyRetriesDoNotOverflow) {
  for (const std::uint32_t retries : {40u, 62u, 63u, 64u, 4'000'000'000u}) {
    EXPECT_EQ(backoff_bound({.base_interval = 1s, .max_interval = 24h}, retries), 24h) << retries;
  }
}

TEST(BackOff, DrawsAreUniformBelowTheBound) {
  Random random(1);
  constexpr int kDraws = 20'000;
  std::array<int, 10> tenths{};
  for (int i = 0; i < kDraws; ++i) {
    const Duration wait = draw_backoff(200ms, random);
    ASSERT_GE(wait, 0ms);
    ASSERT_LT(wait, 200ms);
    ++tenths[static_cast<std::size_t>(wait / 20ms)];
  }
  for (const int n : tenths) EXPECT_NEAR(n, kDraws / 10, 200);  // 4.7 standard deviations
}

TEST(BackOff, AThousandClientsThatFailTogetherComeBackFlat) {
  Random random(2);
  std::array<int, 25> arrivals{};
  for (int client = 0; client < 1000; ++client) {
    ++arrivals[static_cast<std::size_t>(draw_backoff(backoff_bound({}, 4), random) / 10ms)];
  }
  for (const int n : arrivals) EXPECT_LT(n, 80);  // 40 on average; without jitter 1000 at once
}

}  // namespace
}  // namespace damper::retry
