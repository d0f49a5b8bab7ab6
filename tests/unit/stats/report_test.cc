#include <gtest/gtest.h>

#include "stats/stats.h"

namespace damper::stats {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class StatsReport : public ::testing::Test {
 protected:
  StatsReport() {
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

TEST_F(StatsReport, TextIsSortedByName) {
  EXPECT_EQ(r_.text("", false),
            "cluster.odd.upstream_rq_total: 7\n"
            "cluster.orders.retry_refused.limit: 1\n"
            "cluster.orders.upstream_rq_active: 0\n"
            "cluster.orders.upstream_rq_time: No recorded values\n"
            "cluster.orders.upstream_rq_total: 5\n"
            "unused: 0\n");
}

TEST_F(StatsReport, AGaugeThatCameBackToZeroWasUsed) {
  EXPECT_EQ(r_.text("orders", true),
            "cluster.orders.retry_refused.limit: 1\n"
            "cluster.orders.upstream_rq_active: 0\n"
            "cluster.orders.upstream_rq_total: 5\n");
}

TEST_F(StatsReport, TextEstimatesTheQuantilesOfAHistogram) {
  for (int i = 0; i < 10; ++i) cells_.record(times_, milliseconds(10));
  EXPECT_EQ(r_.text("rq_time", true),
            "cluster.orders.upstream_rq_time: P50(7.5) P90(9.5) P99(9.95) count(10)\n");
}

TEST_F(StatsReport, JsonHasEnvoysShape) {
  cells_.record(times_, milliseconds(1));
  EXPECT_EQ(
      r_.json("orders.upstream", false),
      R"({"stats":[{"name":"cluster.orders.upstream_rq_active","value":0},)"
      R"({"name":"cluster.orders.upstream_rq_total","value":5},)"
      R"({"histograms":{"supported_quantiles":[50,90,99],"computed_quantiles":[)"
      R"({"name":"cluster.orders.upstream_rq_time","values":[{"interval":null,"cumulative":0.75},)"
      R"({"interval":null,"cumulative":0.95},{"interval":null,"cumulative":0.995}]}]}}]})");
}

TEST_F(StatsReport, JsonOfNothingIsStillValid) {
  EXPECT_EQ(
      r_.json("no such name", false),
      R"({"stats":[{"histograms":{"supported_quantiles":[50,90,99],"computed_quantiles":[]}}]})");
}

TEST_F(StatsReport, PrometheusKeepsAFamilyTogetherUnderOneType) {
  EXPECT_EQ(r_.prometheus("", true),
            "# TYPE damper_cluster_retry_refused counter\n"
            "damper_cluster_retry_refused{verdict=\"limit\"} 1\n"
            "# TYPE envoy_cluster_upstream_rq_active gauge\n"
            "envoy_cluster_upstream_rq_active{envoy_cluster_name=\"orders\"} 0\n"
            "# TYPE envoy_cluster_upstream_rq_total counter\n"
            "envoy_cluster_upstream_rq_total{envoy_cluster_name=\"a\\\"b\\\\c\\nd\"} 7\n"
            "envoy_cluster_upstream_rq_total{envoy_cluster_name=\"orders\"} 5\n");
}

TEST_F(StatsReport, PrometheusHistogramsAreCumulativeInMilliseconds) {
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

TEST_F(StatsReport, PrometheusWithoutLabelsHasNoEmptyBraces) {
  EXPECT_EQ(r_.prometheus("unused", false), "# TYPE envoy_unused counter\nenvoy_unused 0\n");
}

}  // namespace
}  // namespace damper::stats
