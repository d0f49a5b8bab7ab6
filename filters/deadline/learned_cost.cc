#include "filters/deadline/learned_cost.h"

namespace damper::deadline {

void LearnedCost::Operation::add(Duration took, TimePoint now) {
  const std::lock_guard lock(mu_);
  latency_.add(took, now);
}

std::optional<stream::ExpectedCost> LearnedCost::Operation::cost(TimePoint now) {
  constexpr std::uint64_t kLeast = 20;
  constexpr Duration kFresh = std::chrono::milliseconds(100);
  const std::lock_guard lock(mu_);
  if (known_since_ && now - *known_since_ < kFresh) return cost_;
  known_since_ = now;
  const auto at_rest = latency_.percentile(5, kLeast, now);
  const auto queued = latency_.percentile(90, kLeast, now);
  cost_.reset();
  if (at_rest && queued) cost_ = {.at_rest = *at_rest, .queued = *queued};
  return cost_;
}

LearnedCost::Operation& LearnedCost::operation(std::string_view route, std::string_view name) {
  constexpr std::size_t kMost = 1000;
  std::string key(route);
  key += '\n';
  key += name;
  const std::lock_guard lock(mu_);
  if (const auto at = known_.find(key); at != known_.end()) return at->second;
  return known_[known_.size() + 1 < kMost ? key : "\n\n"];
}

}  // namespace damper::deadline
