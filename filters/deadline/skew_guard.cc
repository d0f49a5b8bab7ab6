#include "filters/deadline/skew_guard.h"

namespace damper::deadline {

bool SkewGuard::believes(std::string_view peer, bool past) {
  const std::lock_guard lock(mu_);
  Peer& known = find(peer);
  known.past.set(known.next, past);
  known.next = (known.next + 1) % kRemembered;
  return 2 * known.past.count() <= kRemembered;
}

SkewGuard::Peer& SkewGuard::find(std::string_view name) {
  if (const auto at = by_name_.find(name); at != by_name_.end()) {
    peers_.splice(peers_.begin(), peers_, at->second);
    return peers_.front();
  }
  if (peers_.size() >= kMostPeers) {
    by_name_.erase(peers_.back().name);
    peers_.pop_back();
  }
  peers_.push_front({.name = std::string(name), .past = {}, .next = 0});
  by_name_.emplace(peers_.front().name, peers_.begin());
  return peers_.front();
}

}  // namespace damper::deadline
