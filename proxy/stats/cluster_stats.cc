#include "stats/cluster_stats.h"

#include <algorithm>

namespace damper::stats {
namespace {

Scope cluster_scope(Registry& registry, std::string_view cluster, std::string_view family) {
  return {registry,
          "cluster." + std::string(cluster) + ".",
          std::string(family),
          {"envoy_cluster_name", std::string(cluster)}};
}

Histogram name_attempt_time(const Scope& scope, const char* number, const char* label) {
  return scope.histogram(std::string("attempt_time.") + number, "attempt_time",
                         {{"attempt", label}});
}

}  // namespace

OutlierStats::OutlierStats(Scope scope) : scope_(std::move(scope)) {
  for (const char* kind :
       {"consecutive_5xx", "consecutive_gateway_failure", "consecutive_local_origin_failure",
        "success_rate", "local_origin_success_rate", "failure_percentage",
        "local_origin_failure_percentage"}) {
    detected.push_back(scope_.counter(std::string("ejections_detected_") + kind));
    enforced.push_back(scope_.counter(std::string("ejections_enforced_") + kind));
  }
}

RetryStats::RetryStats(Scope scope, const RetryWords& words)
    : scope_(std::move(scope)),
      retry_attempts(scope_.counters("retry_attempts", "cause", words.causes)),
      retry_refused(scope_.counters("retry_refused", "verdict", words.verdicts)),
      retry_shadow_refused(scope_.counters("retry_shadow_refused", "verdict", words.verdicts)),
      attempt_times_{name_attempt_time(scope_, "1", "1"), name_attempt_time(scope_, "2", "2"),
                     name_attempt_time(scope_, "3_or_more", "3+")} {}

Histogram RetryStats::attempt_time(std::size_t number) const {
  return attempt_times_[std::clamp<std::size_t>(number, 1, attempt_times_.size()) - 1];
}

ClusterStats::ClusterStats(Registry& registry, std::string_view cluster, const RetryWords& words)
    : scope_(cluster_scope(registry, cluster, "cluster.")),
      breaker(cluster_scope(registry, cluster, "damper.cluster.").sub("breaker.")),
      retry(cluster_scope(registry, cluster, "damper.cluster."), words) {}

AttemptCounts attempt_counts(const Registry& registry, const RetryStats& stats) {
  AttemptCounts out;
  for (const Counter c : stats.retry_attempts) out.retries += registry.value(c);
  out.originals = registry.value(stats.original_requests);
  return out;
}

double amplification(const AttemptCounts& earlier, const AttemptCounts& later) {
  const bool reset = later.originals < earlier.originals || later.retries < earlier.retries;
  const AttemptCounts from = reset ? AttemptCounts{} : earlier;
  const auto originals = static_cast<double>(later.originals - from.originals);
  const auto retries = static_cast<double>(later.retries - from.retries);
  return originals == 0 ? 1 : (originals + retries) / originals;
}

}  // namespace damper::stats
