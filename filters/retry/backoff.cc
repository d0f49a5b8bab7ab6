#include "filters/retry/backoff.h"

#include <algorithm>

namespace damper::retry {

Duration backoff_bound(const config::BackOff& back_off, std::uint32_t retries) {
  const Duration::rep base = back_off.base_interval.count();
  const Duration::rep cap = back_off.cap().count();
  const std::uint32_t doublings = std::min(retries, 62u);  // the shift must stay in range
  return Duration(base > (cap >> doublings) ? cap : base << doublings);
}

Duration draw_backoff(const config::BackOff& back_off, std::uint32_t retries, Random& random) {
  const auto bound = static_cast<std::uint64_t>(backoff_bound(back_off, retries).count());
  const Duration drawn(static_cast<Duration::rep>(random.below(bound)));
  return std::chrono::floor<std::chrono::milliseconds>(drawn);
}

}  // namespace damper::retry
