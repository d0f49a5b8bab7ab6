#include "stats/stats.h"

#include <gtest/gtest.h>
#include <thread>

namespace damper::stats {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

Counter simple_counter(Registry& r, const std::string& name) { return r.counter(name, name, {}); }

TEST(Registry, ANameGivesTheSameStatisticTwice) {
  Registry r;
  EXPECT_EQ(simple_counter(r, "a").index, simple_counter(r, "a").index);
  EXPECT_NE(simple_counter(r, "a").index, simple_counter(r, "b").index);
  EXPECT_NE(simple_counter(r, "a").index, r.gauge("a", "a", {}).index);
}

TEST(Registry, NoIndexIsZero) {
  Registry r;
  EXPECT_NE(simple_counter(r, "first").index, 0u);
}

TEST(Registry, AReaderSumsTheCellsOfAllThreads) {
  Registry r;
  Cells& one = r.new_cells();
  Cells& two = r.new_cells();
  const Counter c = simple_counter(r, "c");
  const Gauge g = r.gauge("g", "g", {});
  one.add(c, 2);
  two.add(c);
  one.add(g, 5);
  two.add(g, -7);
  EXPECT_EQ(r.value(c), 3u);
  EXPECT_EQ(r.value(g), -2);
}

TEST(Registry, AGaugeThatOneThreadWritesCanBeSet) {
  Registry r;
  Cells& cells = r.new_cells();
  const Gauge g = r.gauge("g", "g", {});
  cells.set(g, 5);
  cells.set(g, 3);
  EXPECT_EQ(r.value(g), 3);
}

TEST(Registry, StatisticsNamedAfterTheCellsWereMadeHaveRoom) {
  Registry r;
  Cells& early = r.new_cells();
  std::vector<Counter> counters;
  for (int i = 0; i < 5000; ++i) counters.push_back(simple_counter(r, "c" + std::to_string(i)));
  Cells& late = r.new_cells();
  for (const Counter c : counters) {
    early.add(c);
    late.add(c, 2);
  }
  for (const Counter c : counters) ASSERT_EQ(r.value(c), 3u);
}

TEST(Registry, ThreadsCountAndNameWhileAReaderReads) {
  Registry r;
  const Counter shared = simple_counter(r, "shared");
  const Histogram times = r.histogram("times", "times", {});
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      Cells& cells = r.new_cells();
      for (int i = 0; i < 3000; ++i) {
        cells.add(shared);
        cells.record(times, milliseconds(i));
        cells.add(simple_counter(r, std::to_string(t) + "." + std::to_string(i % 1500)));
      }
    });
  }
  std::uint64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t now = r.value(shared);
    EXPECT_GE(now, last);
    last = now;
    EXPECT_FALSE(r.prometheus("", false).empty());
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(r.value(shared), 9000u);
  EXPECT_EQ(r.value(times).count(), 9000u);
}

TEST(Histogram, BoundsBelongToTheBucketThatTheyEnd) {
  Registry r;
  Cells& cells = r.new_cells();
  const Histogram h = r.histogram("h", "h", {});
  cells.record(h, microseconds(500));
  cells.record(h, microseconds(501));
  cells.record(h, milliseconds(5));
  cells.record(h, milliseconds(3'600'001));
  cells.record(h, milliseconds(-1));
  const HistogramValue v = r.value(h);
  EXPECT_EQ(v.buckets[0], 2u);
  EXPECT_EQ(v.buckets[1], 1u);
  EXPECT_EQ(v.buckets[2], 1u);
  EXPECT_EQ(v.buckets.back(), 1u);
  EXPECT_EQ(v.count(), 5u);
  EXPECT_EQ(v.sum, microseconds(500 + 501 + 5'000 + 3'600'001'000));
}

TEST(Histogram, QuantilesLieEvenlyWithinABucket) {
  HistogramValue v;
  EXPECT_EQ(v.quantile(0.5), 0);
  v.buckets[3] = 10;  // 5 to 10 ms
  EXPECT_DOUBLE_EQ(v.quantile(0.5), 7.5);
  EXPECT_DOUBLE_EQ(v.quantile(1), 10);
  v.buckets.back() = 90;
  EXPECT_DOUBLE_EQ(v.quantile(0.99), 3'600'000);
}

TEST(Registry, ResetTouchesCountersOnly) {
  Registry r;
  Cells& cells = r.new_cells();
  const Counter c = simple_counter(r, "c");
  const Gauge g = r.gauge("g", "g", {});
  const Histogram h = r.histogram("h", "h", {});
  cells.add(c, 5);
  cells.add(g, 4);
  cells.record(h, milliseconds(1));
  r.reset_counters();
  EXPECT_EQ(r.value(c), 0u);
  EXPECT_EQ(r.value(g), 4);
  EXPECT_EQ(r.value(h).count(), 1u);
  cells.add(c, 2);
  EXPECT_EQ(r.value(c), 2u);
}

}  // namespace
}  // namespace damper::stats
