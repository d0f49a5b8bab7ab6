#include "filters/legs/correlation.h"

#include <algorithm>

namespace damper::legs {

void InboundLeg::mark(std::string_view final_mark) {
  const std::lock_guard lock(mu_);
  mark_ = final_mark;
  marked_.store(true, std::memory_order_release);
}

std::string InboundLeg::final_mark() const {
  if (!marked_.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(mu_);
  return mark_;
}

Inheritance inherit(const InboundLegs& legs) {
  if (legs.empty()) return {};
  Inheritance out{.deadline = legs[0]->deadline, .attempts = legs[0]->attempts, .no_retry = true};
  for (const auto& leg : legs) {
    if (!leg->deadline) out.deadline.reset();
    if (out.deadline) out.deadline = std::max(*out.deadline, *leg->deadline);
    out.attempts = std::min(out.attempts, leg->attempts);
    out.no_retry = out.no_retry && (leg->owned_above || leg->abandoned());
  }
  return out;
}

// Ids come from clients: whoever does not know the seed cannot choose two with the same hash.
std::uint64_t Correlation::hash(char kind, std::string_view id) const {
  std::uint64_t h = seed_ ^ static_cast<std::uint64_t>(kind);
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15;
  h = (h ^ std::hash<std::string_view>{}(id)) * kPrime;
  return h ^ h >> 29;
}

bool Correlation::add(const std::shared_ptr<InboundLeg>& leg, const TraceIds& ids, TimePoint now) {
  const auto put = [&](std::uint64_t key) {
    Shard& shard = shard_of(key);
    const std::lock_guard lock(shard.mu);
    forget_expired(shard, now);
    if (shard.legs.size() >= most_per_shard_) return;
    shard.legs.emplace(key, leg);
    leg->keys_[leg->key_count_++] = key;
  };
  if (!ids.trace.empty()) {
    put(hash('t', ids.trace));
    put(hash('n', format_nonce(leg->nonce)));
  }
  if (!ids.request.empty()) put(hash('r', ids.request));
  if (!ids.b3.empty()) put(hash('b', ids.b3));
  return leg->key_count_ > 0;
}

void Correlation::remove(const InboundLeg& leg) {
  for (std::size_t i = 0; i < leg.key_count_; ++i) {
    Shard& shard = shard_of(leg.keys_[i]);
    const std::lock_guard lock(shard.mu);
    erase(shard, leg.keys_[i], &leg);
  }
}

void Correlation::abandon(const std::shared_ptr<InboundLeg>& leg, TimePoint now) {
  leg->abandoned_.store(true, std::memory_order_relaxed);
  const TimePoint until = std::max(leg->deadline.value_or(now), now) + kLinger;
  for (std::size_t i = 0; i < leg->key_count_; ++i) {
    Shard& shard = shard_of(leg->keys_[i]);
    const std::lock_guard lock(shard.mu);
    shard.lingering.emplace(until, std::pair(leg->keys_[i], leg.get()));
  }
}

void Correlation::erase(Shard& shard, std::uint64_t key, const InboundLeg* leg) {
  const auto [begin, end] = shard.legs.equal_range(key);
  for (auto at = begin; at != end; ++at) {
    if (at->second.get() != leg) continue;
    shard.legs.erase(at);
    return;
  }
}

void Correlation::forget_expired(Shard& shard, TimePoint now) {
  while (!shard.lingering.empty() && shard.lingering.begin()->first <= now) {
    const auto [key, leg] = shard.lingering.begin()->second;
    shard.lingering.erase(shard.lingering.begin());
    erase(shard, key, leg);
  }
}

// At most one more than may be: that many are too many.
InboundLegs Correlation::under(std::uint64_t key, TimePoint now) {
  Shard& shard = shard_of(key);
  const std::lock_guard lock(shard.mu);
  forget_expired(shard, now);
  InboundLegs out;
  const auto [begin, end] = shard.legs.equal_range(key);
  for (auto at = begin; at != end && out.size() <= kMostUnderOneId; ++at) out.push_back(at->second);
  return out;
}

Correlation::Found Correlation::find(const TraceIds& ids, TimePoint now) {
  if (ids.nonce) {
    InboundLegs exact = under(hash('n', format_nonce(*ids.nonce)), now);
    if (!exact.empty()) return {Match::kExact, std::move(exact)};
  }
  for (const auto& [kind, id] :
       {std::pair('t', ids.trace), std::pair('r', ids.request), std::pair('b', ids.b3)}) {
    if (id.empty()) continue;
    InboundLegs legs = under(hash(kind, id), now);
    if (legs.size() > kMostUnderOneId) return {Match::kTooMany, {}};
    if (!legs.empty()) return {Match::kById, std::move(legs)};
  }
  return {};
}

std::size_t Correlation::size() const {
  std::size_t total = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mu);
    total += shard.legs.size();
  }
  return total;
}

}  // namespace damper::legs
