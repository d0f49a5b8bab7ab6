#include "filters/retry/backoff.h"

#include <algorithm>

namespace damper::retry {

Duration backoff_bound(const config::BackOff& back_off, std::uint32_t retries) {
  const Duration::rep base = back_off.base_interval.count();
  const Duration::rep cap = back_off.cap().count();
  const std::uint32_t doublings = std::min(retries, 62u);  // the shift must stay in range
  return Duration(base > (cap >> doublings) ? cap : base << doublings);
}

Duration draw_backoff(Duration bound, Random& random) {
  const Duration drawn(
      static_cast<Duration::rep>(random.below(static_cast<std::uint64_t>(bound.count()))));
  return std::chrono::floor<std::chrono::milliseconds>(drawn);
}

}  // namespace damper::retry
