#include "stats/recent_latency.h"

#include <gtest/gtest.h>

namespace damper::stats {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1h};

TEST(RecentLatency, KnowsNothingFromTooFewSamples) {
  RecentLatency latency;
  EXPECT_FALSE(latency.percentile(50, 0, kStart));
  latency.add(10ms, kStart + 1s);
  EXPECT_FALSE(latency.percentile(50, 2, kStart + 2s));
  latency.add(10ms, kStart + 2s);
  EXPECT_TRUE(latency.percentile(50, 2, kStart + 3s));
}

TEST(RecentLatency, TellsPercentilesWithinASixteenth) {
  RecentLatency latency;
  for (int ms = 1; ms <= 1000; ++ms) latency.add(ms * 1ms, kStart);
  for (const int percent : {1, 5, 50, 90, 95, 99}) {
    const auto told = latency.percentile(percent, 1, kStart);
    ASSERT_TRUE(told);
    const Duration exact = percent * 10ms + 1ms;
    EXPECT_LE(*told, exact) << percent;
    EXPECT_GE(*told * 17, exact * 16) << percent;
  }
}

TEST(RecentLatency, EveryLengthHasItsStep) {
  for (const Duration d : {Duration(0ms), Duration(-5ms), Duration(7us), Duration(15us),
                           Duration(16us), Duration(17us), Duration(1s), Duration(300s)}) {
    RecentLatency latency;
    latency.add(d, kStart);
    const auto told = latency.percentile(50, 1, kStart);
    ASSERT_TRUE(told);
    EXPECT_LE(*told, std::max(d, Duration(0)));
    EXPECT_GE(*told * 17, d * 16);
  }
  RecentLatency latency;
  latency.add(24h, kStart);  // longer than anybody waits: the last step
  EXPECT_GT(*latency.percentile(50, 1, kStart), 500s);
}

TEST(RecentLatency, ForgetsAfterHalfAMinute) {
  RecentLatency latency;
  latency.add(10ms, kStart);
  latency.add(20ms, kStart + 20s);
  EXPECT_EQ(latency.samples(kStart + 24s), 2u);
  EXPECT_EQ(latency.samples(kStart + 34s), 1u);
  EXPECT_EQ(latency.samples(kStart + 10min), 0u);
  latency.add(30ms, kStart + 10min);
  EXPECT_EQ(latency.samples(kStart + 10min + 1s), 1u);
}

}  // namespace
}  // namespace damper::stats
