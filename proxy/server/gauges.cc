#include "server/gauges.h"

namespace damper::server {
namespace {

class Setter {
 public:
  Setter(const stats::Registry& registry, stats::Cells& cells)
      : registry_(registry), cells_(cells) {}
  void set(stats::Gauge gauge, std::int64_t value) {
    cells_.add(gauge, value - registry_.value(gauge));
  }

 private:
  const stats::Registry& registry_;
  stats::Cells& cells_;
};

std::int64_t remaining(const upstream::Limit& limit) {
  return std::int64_t{limit.max()} - std::int64_t{limit.used()};
}

void set_breaker(Setter& gauges, const stats::BreakerStats& stats,
                 const upstream::CircuitBreaker& breaker, const upstream::RetryBudget& budget,
                 const config::Thresholds& thresholds, TimePoint now) {
  gauges.set(stats.cx_open, breaker.connections.reached());
  gauges.set(stats.rq_pending_open, breaker.pending_requests.reached());
  gauges.set(stats.rq_open, breaker.requests.reached());
  gauges.set(stats.rq_retry_open, budget.live().would_refuse(now));
  if (!thresholds.track_remaining) return;
  gauges.set(stats.remaining_cx, remaining(breaker.connections));
  gauges.set(stats.remaining_pending, remaining(breaker.pending_requests));
  gauges.set(stats.remaining_rq, remaining(breaker.requests));
}

}  // namespace

void refresh_gauges(const Snapshot& snapshot, const HostsOf& hosts, stats::Registry& registry,
                    stats::Cells& cells, TimePoint now) {
  Setter gauges(registry, cells);
  for (std::size_t i = 0; i < snapshot.clusters.size(); ++i) {
    const config::Cluster& config = snapshot.bootstrap->clusters[i];
    upstream::ClusterState& state = *snapshot.clusters[i];
    const auto out = upstream::OutlierDetector::ejected(hosts(i), now);
    gauges.set(state.stats.outlier_detection.ejections_active, out);
    gauges.set(state.stats.membership_healthy, static_cast<std::int64_t>(hosts(i).size()) - out);
    gauges.set(state.stats.breaker.state,
               static_cast<std::int64_t>(state.failure_breaker.state(now)));
    using config::Priority;
    set_breaker(gauges, state.stats.breakers_default, state.breaker(Priority::kDefault),
                state.budget(Priority::kDefault), config.thresholds, now);
    set_breaker(gauges, state.stats.breakers_high, state.breaker(Priority::kHigh),
                state.budget(Priority::kHigh),
                config.thresholds_high.value_or(config::Thresholds{}), now);
  }
}

}  // namespace damper::server
