// The statistics of one cluster: Envoy's `cluster.<name>.`, and what Damper says about retries.
// Made once a process and shared by the workers.
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "stats/scope.h"

namespace damper::stats {

// The words that the policies use, in the order of their enums: a counter is found by the enum.
struct RetryWords {
  std::vector<std::string_view> verdicts;  // why there was no further attempt: "limit", …
  std::vector<std::string_view> causes;    // what a retry followed: "5xx", "reset", "timeout", …
};

// circuit_breakers.<priority>.: each `_open` is 1 while that limit is reached.
class BreakerStats {
 public:
  explicit BreakerStats(Scope scope) : scope_(std::move(scope)) {}

 private:
  Scope scope_;

 public:
  Gauge cx_open = scope_.gauge("cx_open");
  Gauge rq_open = scope_.gauge("rq_open");
  Gauge rq_pending_open = scope_.gauge("rq_pending_open");
  Gauge rq_retry_open = scope_.gauge("rq_retry_open");
  Gauge remaining_cx = scope_.gauge("remaining_cx");
  Gauge remaining_rq = scope_.gauge("remaining_rq");
  Gauge remaining_pending = scope_.gauge("remaining_pending");
};

// outlier_detection.: `detected` counts what was found, `enforced` what was ejected for it, and
// `overflow` what was not because too many hosts are out already.
class OutlierStats {
 public:
  explicit OutlierStats(Scope scope);

 private:
  Scope scope_;

 public:
  Gauge ejections_active = scope_.gauge("ejections_active");
  Counter ejections_enforced_total = scope_.counter("ejections_enforced_total");
  Counter ejections_overflow = scope_.counter("ejections_overflow");
  // By kind, in the order of upstream::OutlierKind.
  std::vector<Counter> detected;
  std::vector<Counter> enforced;
};

// breaker.: the failure-rate breaker. Prometheus families begin with "damper_cluster_".
class FailureBreakerStats {
 public:
  explicit FailureBreakerStats(Scope scope) : scope_(std::move(scope)) {}

 private:
  Scope scope_;

 public:
  Counter opened = scope_.counter("opened");
  Counter rejected = scope_.counter("rejected");  // attempts that were not made
  Gauge state = scope_.gauge("state");            // 0 off, 1 closed, 2 open, 3 half open
};

// What Envoy does not count. Prometheus families begin with "damper_cluster_".
class RetryStats {
 public:
  RetryStats(Scope scope, const RetryWords& words);

  // The latency of an attempt, 1 for the original; all from the third on share one histogram.
  Histogram attempt_time(std::size_t number) const;

 private:
  Scope scope_;

 public:
  Counter original_requests = scope_.counter("original_requests");
  Counter retry_success = scope_.counter("retry_success");  // the final answer was good
  Counter budget_denied = scope_.counter("budget_denied");  // by any part of the budget
  Counter retry_after_unreadable = scope_.counter("retry_after_unreadable");
  Counter hedges = scope_.counter("hedges");  // attempts beside another one
  Counter hedges_won = scope_.counter("hedges_won");
  Counter hedges_refused = scope_.counter("hedges_refused");
  Counter budget_shadow_denied = scope_.counter("budget_shadow_denied");
  Counter live_override_changes = scope_.counter("live_override_changes");
  Counter deadline_rejected = scope_.counter("deadline_rejected");
  Gauge retries_active = scope_.gauge("retries_active");
  Gauge retries_waiting = scope_.gauge("retries_waiting");
  std::vector<Counter> retry_attempts;  // by cause
  std::vector<Counter> retry_refused;   // by verdict
  // By the verdict of a budget in shadow: what it would have refused.
  std::vector<Counter> retry_shadow_refused;

 private:
  std::array<Histogram, 3> attempt_times_;
};

class ClusterStats {
 public:
  ClusterStats(Registry& registry, std::string_view cluster, const RetryWords& words);

 private:
  Scope scope_;  // first: the members below are named through it

 public:
  Counter upstream_cx_total = scope_.counter("upstream_cx_total");
  Counter upstream_cx_http1_total = scope_.counter("upstream_cx_http1_total");
  Counter upstream_cx_http2_total = scope_.counter("upstream_cx_http2_total");
  Gauge upstream_cx_active = scope_.gauge("upstream_cx_active");
  Counter upstream_cx_connect_fail = scope_.counter("upstream_cx_connect_fail");
  Counter upstream_cx_connect_timeout = scope_.counter("upstream_cx_connect_timeout");
  Counter upstream_cx_idle_timeout = scope_.counter("upstream_cx_idle_timeout");
  Counter upstream_cx_max_duration_reached = scope_.counter("upstream_cx_max_duration_reached");
  Counter upstream_cx_max_requests = scope_.counter("upstream_cx_max_requests");
  Counter upstream_cx_overflow = scope_.counter("upstream_cx_overflow");
  Counter upstream_cx_pool_overflow = scope_.counter("upstream_cx_pool_overflow");
  Counter upstream_cx_protocol_error = scope_.counter("upstream_cx_protocol_error");
  Counter upstream_cx_none_healthy = scope_.counter("upstream_cx_none_healthy");
  Counter upstream_cx_destroy = scope_.counter("upstream_cx_destroy");
  Counter upstream_cx_destroy_local = scope_.counter("upstream_cx_destroy_local");
  Counter upstream_cx_destroy_remote = scope_.counter("upstream_cx_destroy_remote");
  Counter upstream_cx_destroy_with_active_rq = scope_.counter("upstream_cx_destroy_with_active_rq");
  Counter upstream_cx_destroy_local_with_active_rq =
      scope_.counter("upstream_cx_destroy_local_with_active_rq");
  Counter upstream_cx_destroy_remote_with_active_rq =
      scope_.counter("upstream_cx_destroy_remote_with_active_rq");
  Counter upstream_cx_rx_bytes_total = scope_.counter("upstream_cx_rx_bytes_total");
  Counter upstream_cx_tx_bytes_total = scope_.counter("upstream_cx_tx_bytes_total");
  Histogram upstream_cx_connect_ms = scope_.histogram("upstream_cx_connect_ms");
  Histogram upstream_cx_length_ms = scope_.histogram("upstream_cx_length_ms");

  Counter upstream_rq_total = scope_.counter("upstream_rq_total");  // attempts
  Gauge upstream_rq_active = scope_.gauge("upstream_rq_active");
  Counter upstream_rq_active_overflow = scope_.counter("upstream_rq_active_overflow");
  Counter upstream_rq_pending_total = scope_.counter("upstream_rq_pending_total");
  Gauge upstream_rq_pending_active = scope_.gauge("upstream_rq_pending_active");
  Counter upstream_rq_pending_overflow = scope_.counter("upstream_rq_pending_overflow");
  Counter upstream_rq_pending_failure_eject = scope_.counter("upstream_rq_pending_failure_eject");
  Counter upstream_rq_cancelled = scope_.counter("upstream_rq_cancelled");
  Counter upstream_rq_maintenance_mode = scope_.counter("upstream_rq_maintenance_mode");
  Counter upstream_rq_timeout = scope_.counter("upstream_rq_timeout");
  Counter upstream_rq_max_duration_reached = scope_.counter("upstream_rq_max_duration_reached");
  Counter upstream_rq_per_try_timeout = scope_.counter("upstream_rq_per_try_timeout");
  Counter upstream_rq_per_try_idle_timeout = scope_.counter("upstream_rq_per_try_idle_timeout");
  Counter upstream_rq_rx_reset = scope_.counter("upstream_rq_rx_reset");
  Counter upstream_rq_tx_reset = scope_.counter("upstream_rq_tx_reset");
  Histogram upstream_rq_time = scope_.histogram("upstream_rq_time");

  ResponseCounters upstream_rq{scope_, "upstream_rq", ResponseCounters::PerCode::kYes};  // final
  ResponseCounters retried_rq{scope_.sub("retry."), "upstream_rq",
                              ResponseCounters::PerCode::kYes};  // those that were retried

  Counter upstream_rq_retry = scope_.counter("upstream_rq_retry");  // counted when it is sent
  Counter upstream_rq_retry_success = scope_.counter("upstream_rq_retry_success");
  Counter upstream_rq_retry_overflow = scope_.counter("upstream_rq_retry_overflow");
  Counter upstream_rq_retry_limit_exceeded = scope_.counter("upstream_rq_retry_limit_exceeded");
  Counter upstream_rq_retry_backoff_exponential =
      scope_.counter("upstream_rq_retry_backoff_exponential");
  Counter upstream_rq_retry_backoff_ratelimited =
      scope_.counter("upstream_rq_retry_backoff_ratelimited");
  Counter retry_or_shadow_abandoned = scope_.counter("retry_or_shadow_abandoned");

  Gauge membership_total = scope_.gauge("membership_total");
  Gauge membership_healthy = scope_.gauge("membership_healthy");
  Counter membership_change = scope_.counter("membership_change");
  Counter update_attempt = scope_.counter("update_attempt");  // of its names
  Counter update_success = scope_.counter("update_success");
  Counter update_failure = scope_.counter("update_failure");
  Counter update_empty = scope_.counter("update_empty");
  Counter lb_healthy_panic = scope_.counter("lb_healthy_panic");

  BreakerStats breakers_default{scope_.sub("circuit_breakers.default.")};
  BreakerStats breakers_high{scope_.sub("circuit_breakers.high.")};
  OutlierStats outlier_detection{scope_.sub("outlier_detection.")};
  FailureBreakerStats breaker;
  RetryStats retry;
};

// How much load retries add. A reader takes the counts at both ends of a window.
struct AttemptCounts {
  std::uint64_t originals = 0;
  std::uint64_t retries = 0;
};
AttemptCounts attempt_counts(const Registry& registry, const RetryStats& stats);
// Attempts ÷ originals between two readings; 1 if there were no originals. `earlier` may stem from
// before a reset of the counters: then what came since the reset counts.
double amplification(const AttemptCounts& earlier, const AttemptCounts& later);

}  // namespace damper::stats
