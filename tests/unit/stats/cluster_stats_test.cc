#include "stats/cluster_stats.h"

#include <gtest/gtest.h>

namespace damper::stats {
namespace {

const RetryWords kWords{.verdicts = {"limit", "deadline"}, .causes = {"5xx", "reset"}};

TEST(ClusterStats, NamesAreEnvoys) {
  Registry r;
  ClusterStats stats(r, "orders", kWords);
  const std::string text = r.text("", false);
  for (const char* name : {"upstream_cx_total",
                           "upstream_cx_active",
                           "upstream_cx_connect_fail",
                           "upstream_cx_connect_timeout",
                           "upstream_cx_idle_timeout",
                           "upstream_cx_overflow",
                           "upstream_cx_pool_overflow",
                           "upstream_cx_max_requests",
                           "upstream_cx_destroy_remote_with_active_rq",
                           "upstream_cx_none_healthy",
                           "upstream_rq_total",
                           "upstream_rq_active",
                           "upstream_rq_pending_total",
                           "upstream_rq_pending_active",
                           "upstream_rq_pending_overflow",
                           "upstream_rq_pending_failure_eject",
                           "upstream_rq_cancelled",
                           "upstream_rq_timeout",
                           "upstream_rq_per_try_timeout",
                           "upstream_rq_per_try_idle_timeout",
                           "upstream_rq_rx_reset",
                           "upstream_rq_tx_reset",
                           "upstream_rq_1xx",
                           "upstream_rq_5xx",
                           "upstream_rq_completed",
                           "upstream_rq_time",
                           "upstream_rq_retry",
                           "upstream_rq_retry_success",
                           "upstream_rq_retry_overflow",
                           "upstream_rq_retry_limit_exceeded",
                           "upstream_rq_retry_backoff_exponential",
                           "upstream_rq_retry_backoff_ratelimited",
                           "retry.upstream_rq_completed",
                           "retry_or_shadow_abandoned",
                           "membership_total",
                           "membership_healthy",
                           "membership_change",
                           "circuit_breakers.default.cx_open",
                           "circuit_breakers.high.rq_retry_open",
                           "circuit_breakers.default.remaining_rq",
                           "outlier_detection.ejections_active",
                           "outlier_detection.ejections_enforced_total",
                           "outlier_detection.ejections_overflow",
                           "outlier_detection.ejections_detected_consecutive_5xx",
                           "outlier_detection.ejections_enforced_consecutive_gateway_failure",
                           "outlier_detection.ejections_detected_success_rate",
                           "outlier_detection.ejections_enforced_local_origin_failure_percentage",
                           "breaker.opened",
                           "breaker.rejected",
                           "breaker.state",
                           "original_requests",
                           "retry_attempts.reset",
                           "retry_refused.deadline",
                           "budget_denied",
                           "live_override_changes",
                           "retries_active",
                           "retries_waiting",
                           "attempt_time.3_or_more",
                           "deadline_rejected"}) {
    EXPECT_NE(text.find(std::string("cluster.orders.") + name + ": "), std::string::npos) << name;
  }
}

TEST(ClusterStats, PrometheusTellsVerdictsApartByLabel) {
  Registry r;
  Cells& cells = r.new_cells();
  ClusterStats stats(r, "orders", kWords);
  cells.add(stats.retry.retry_refused[1]);
  EXPECT_EQ(r.prometheus("retry_refused", false),
            "# TYPE damper_cluster_retry_refused counter\n"
            "damper_cluster_retry_refused{envoy_cluster_name=\"orders\",verdict=\"deadline\"} 1\n"
            "damper_cluster_retry_refused{envoy_cluster_name=\"orders\",verdict=\"limit\"} 0\n");
}

TEST(ClusterStats, ResponsesThatWereRetriedAreCountedApartFromFinalOnes) {
  Registry r;
  Cells& cells = r.new_cells();
  ClusterStats stats(r, "orders", kWords);
  stats.retried_rq.count(cells, 503);
  stats.upstream_rq.count(cells, 200);
  EXPECT_EQ(r.text("", true),
            "cluster.orders.retry.upstream_rq_503: 1\n"
            "cluster.orders.retry.upstream_rq_5xx: 1\n"
            "cluster.orders.retry.upstream_rq_completed: 1\n"
            "cluster.orders.upstream_rq_200: 1\n"
            "cluster.orders.upstream_rq_2xx: 1\n"
            "cluster.orders.upstream_rq_completed: 1\n");
}

TEST(ClusterStats, AttemptsFromTheThirdOnShareAHistogram) {
  Registry r;
  ClusterStats stats(r, "orders", kWords);
  const auto index = [&](std::size_t n) { return stats.retry.attempt_time(n).index; };
  EXPECT_NE(index(1), index(2));
  EXPECT_NE(index(2), index(3));
  EXPECT_EQ(index(3), index(9));
}

TEST(Amplification, IsAttemptsPerOriginalOverTheWindow) {
  EXPECT_DOUBLE_EQ(amplification({}, {}), 1);
  EXPECT_DOUBLE_EQ(amplification({}, {.originals = 10, .retries = 5}), 1.5);
  EXPECT_DOUBLE_EQ(amplification({.originals = 10, .retries = 5}, {.originals = 14, .retries = 13}),
                   3);
  EXPECT_DOUBLE_EQ(amplification({.originals = 10, .retries = 5}, {.originals = 4, .retries = 1}),
                   1.25);  // reset in between
}

TEST(Amplification, CountsRetriesOfEveryCause) {
  Registry r;
  Cells& cells = r.new_cells();
  ClusterStats stats(r, "orders", kWords);
  cells.add(stats.retry.original_requests, 4);
  cells.add(stats.retry.retry_attempts[0], 1);
  cells.add(stats.retry.retry_attempts[1], 2);
  EXPECT_DOUBLE_EQ(amplification({}, attempt_counts(r, stats.retry)), 1.75);
}

}  // namespace
}  // namespace damper::stats
