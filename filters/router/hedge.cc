#include "filters/router/hedge.h"

namespace damper::router {

std::optional<Duration> Hedge::patience(const stats::RecentLatency& latency, TimePoint now) const {
  constexpr std::uint64_t kLeastSamples = 100;
  if (policy_.hedge_after_p95) return latency.percentile(95, kLeastSamples, now);
  return policy_.hedge_after;
}

}  // namespace damper::router
