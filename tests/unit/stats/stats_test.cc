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

class Report : public ::testing::Test {
 protected:
  Report() {
    const std::vector<Label> orders{{"envoy_cluster_name", "orders"}};
    const std::vector<Label> odd{{"envoy_cluster_name", "a\"b\\c\nd"}};
    total_ = r_.counter("cluster.orders.upstream_rq_total", "cluster.upstream_rq_total", orders);
    const Counter other =
        r_.counter("cluster.odd.upstream_rq_total", "cluster.upstream_rq_total", odd);
    active_ = r_.gauge("cluster.orders.upstream_rq_active", "cluster.upstream_rq_active", orders);
    const Counter refused = r_.counter("cluster.orders.retry_refused.limit",
                                       "damper.cluster.retry-refused", {{"verdict", "limit"}});
    times_ = r_.histogram("cluster.orders.upstream_rq_time", "cluster.upstream_rq_time", orders);
    r_.counter("unused", "unused", {});
    cells_.add(total_, 5);
    cells_.add(other, 7);
    cells_.add(refused);
    cells_.add(active_, 1);
    cells_.add(active_, -1);
  }

  Registry r_;
  Cells& cells_ = r_.new_cells();
  Counter total_;
  Gauge active_;
  Histogram times_;
};

TEST_F(Report, TextIsSortedByName) {
  EXPECT_EQ(r_.text("", false),
            "cluster.odd.upstream_rq_total: 7\n"
            "cluster.orders.retry_refused.limit: 1\n"
            "cluster.orders.upstream_rq_active: 0\n"
            "cluster.orders.upstream_rq_time: No recorded values\n"
            "cluster.orders.upstream_rq_total: 5\n"
            "unused: 0\n");
}

TEST_F(Report, AGaugeThatCameBackToZeroWasUsed) {
  EXPECT_EQ(r_.text("orders", true),
            "cluster.orders.retry_refused.limit: 1\n"
            "cluster.orders.upstream_rq_active: 0\n"
            "cluster.orders.upstream_rq_total: 5\n");
}

TEST_F(Report, TextEstimatesTheQuantilesOfAHistogram) {
  for (int i = 0; i < 10; ++i) cells_.record(times_, milliseconds(10));
  EXPECT_EQ(r_.text("rq_time", true),
            "cluster.orders.upstream_rq_time: P50(7.5) P90(9.5) P99(9.95) count(10)\n");
}

TEST_F(Report, JsonHasEnvoysShape) {
  cells_.record(times_, milliseconds(1));
  EXPECT_EQ(
      r_.json("orders.upstream", false),
      R"({"stats":[{"name":"cluster.orders.upstream_rq_active","value":0},)"
      R"({"name":"cluster.orders.upstream_rq_total","value":5},)"
      R"({"histograms":{"supported_quantiles":[50,90,99],"computed_quantiles":[)"
      R"({"name":"cluster.orders.upstream_rq_time","values":[{"interval":null,"cumulative":0.75},)"
      R"({"interval":null,"cumulative":0.95},{"interval":null,"cumulative":0.995}]}]}}]})");
}

TEST_F(Report, JsonOfNothingIsStillValid) {
  EXPECT_EQ(
      r_.json("no such name", false),
      R"({"stats":[{"histograms":{"supported_quantiles":[50,90,99],"computed_quantiles":[]}}]})");
}

TEST_F(Report, PrometheusKeepsAFamilyTogetherUnderOneType) {
  EXPECT_EQ(r_.prometheus("", true),
            "# TYPE damper_cluster_retry_refused counter\n"
            "damper_cluster_retry_refused{verdict=\"limit\"} 1\n"
            "# TYPE envoy_cluster_upstream_rq_active gauge\n"
            "envoy_cluster_upstream_rq_active{envoy_cluster_name=\"orders\"} 0\n"
            "# TYPE envoy_cluster_upstream_rq_total counter\n"
            "envoy_cluster_upstream_rq_total{envoy_cluster_name=\"a\\\"b\\\\c\\nd\"} 7\n"
            "envoy_cluster_upstream_rq_total{envoy_cluster_name=\"orders\"} 5\n");
}

TEST_F(Report, PrometheusHistogramsAreCumulativeInMilliseconds) {
  cells_.record(times_, microseconds(200));
  cells_.record(times_, milliseconds(20));
  cells_.record(times_, std::chrono::hours(2));
  const std::string out = r_.prometheus("rq_time", false);
  const std::string name = "envoy_cluster_upstream_rq_time";
  EXPECT_EQ(out.find("# TYPE " + name + " histogram\n" + name +
                     "_bucket{envoy_cluster_name=\"orders\",le=\"0.5\"} 1\n"),
            0u);
  for (const char* line : {"_bucket{envoy_cluster_name=\"orders\",le=\"10\"} 1\n",
                           "_bucket{envoy_cluster_name=\"orders\",le=\"25\"} 2\n",
                           "_bucket{envoy_cluster_name=\"orders\",le=\"300000\"} 2\n",
                           "_bucket{envoy_cluster_name=\"orders\",le=\"3600000\"} 2\n",
                           "_bucket{envoy_cluster_name=\"orders\",le=\"+Inf\"} 3\n",
                           "_sum{envoy_cluster_name=\"orders\"} 7200020.2\n",
                           "_count{envoy_cluster_name=\"orders\"} 3\n"}) {
    EXPECT_NE(out.find(name + line), std::string::npos) << line;
  }
}

TEST_F(Report, PrometheusWithoutLabelsHasNoEmptyBraces) {
  EXPECT_EQ(r_.prometheus("unused", false), "# TYPE envoy_unused counter\nenvoy_unused 0\n");
}

TEST_F(Report, ResetTouchesCountersOnly) {
  cells_.add(active_, 4);
  cells_.record(times_, milliseconds(1));
  r_.reset_counters();
  EXPECT_EQ(r_.value(total_), 0u);
  EXPECT_EQ(r_.value(active_), 4);
  EXPECT_EQ(r_.value(times_).count(), 1u);
  cells_.add(total_, 2);
  EXPECT_EQ(r_.value(total_), 2u);
}

}  // namespace
}  // namespace damper::stats
