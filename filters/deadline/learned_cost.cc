#include "filters/deadline/learned_cost.h"

namespace damper::deadline {

void LearnedCost::add(std::string_view route, std::string_view operation, Duration took,
                      TimePoint now) {
  const std::lock_guard lock(mu_);
  find(route, operation).add(took, now);
}

std::optional<stream::ExpectedCost> LearnedCost::of(std::string_view route,
                                                    std::string_view operation, TimePoint now) {
  constexpr std::uint64_t kLeast = 20;
  const std::lock_guard lock(mu_);
  const stats::RecentLatency& latency = find(route, operation);
  const auto at_rest = latency.percentile(5, kLeast, now);
  const auto queued = latency.percentile(90, kLeast, now);
  if (!at_rest || !queued) return std::nullopt;
  return stream::ExpectedCost{.at_rest = *at_rest, .queued = *queued};
}

stats::RecentLatency& LearnedCost::find(std::string_view route, std::string_view operation) {
  constexpr std::size_t kMost = 1000;
  std::string key(route);
  key += '\n';
  key += operation;
  if (const auto at = known_.find(key); at != known_.end()) return at->second;
  return known_[known_.size() + 1 < kMost ? key : "\n\n"];
}

}  // namespace damper::deadline
