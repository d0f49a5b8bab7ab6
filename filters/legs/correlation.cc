#include "filters/legs/correlation.h"

#include <algorithm>
#include <utility>

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

// What is in the table keeps itself alive.
Correlation::~Correlation() {
  for (Shard& shard : shards_) {
    for (InboundLeg::Node*& first : shard.buckets) {
      while (first) unlink(shard, *first);
    }
  }
}

// Ids come from clients: whoever does not know the seed cannot choose two with the same hash.
std::uint64_t Correlation::hash(char kind, std::string_view id) const {
  std::uint64_t h = seed_ ^ static_cast<std::uint64_t>(kind);
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15;
  h = (h ^ std::hash<std::string_view>{}(id)) * kPrime;
  return h ^ h >> 29;
}

bool Correlation::add(const std::shared_ptr<InboundLeg>& leg, const TraceIds& ids, TimePoint now) {
  leg->self_ = leg;
  leg->linked_.store(1, std::memory_order_relaxed);  // until all ids are in
  if (!ids.trace.empty()) link(*leg, 't', ids.trace, now);
  if (!ids.request.empty()) link(*leg, 'r', ids.request, now);
  if (!ids.b3.empty()) link(*leg, 'b', ids.b3, now);
  if (leg->linked_.fetch_sub(1, std::memory_order_acq_rel) == 1) leg->self_.reset();
  return leg->ids_ > 0;
}

void Correlation::link(InboundLeg& leg, char kind, std::string_view id, TimePoint now) {
  const std::uint64_t key = hash(kind, id);
  Shard& shard = shard_of(key);
  InboundLegs expired;
  const std::lock_guard lock(shard.mu);
  if (!shard.lingering.empty()) expired = take_expired(shard, now);
  if (shard.size >= most_per_shard_) return;
  InboundLeg::Node& node = leg.nodes_[leg.ids_++];
  InboundLeg::Node*& first = bucket(shard, key);
  node = {.key = key, .leg = &leg, .next = first};
  first = &node;
  ++shard.size;
  leg.linked_.fetch_add(1, std::memory_order_relaxed);
}

void Correlation::remove(InboundLeg& leg) {
  for (std::uint32_t i = 0; i < leg.ids_; ++i) {
    std::shared_ptr<InboundLeg> last;
    Shard& shard = shard_of(leg.nodes_[i].key);
    const std::lock_guard lock(shard.mu);
    last = unlink(shard, leg.nodes_[i]);
  }
}

void Correlation::abandon(InboundLeg& leg, TimePoint now) {
  leg.abandoned_.store(true, std::memory_order_relaxed);
  const TimePoint until = std::max(leg.deadline.value_or(now), now) + kLinger;
  for (std::uint32_t i = 0; i < leg.ids_; ++i) {
    Shard& shard = shard_of(leg.nodes_[i].key);
    const std::lock_guard lock(shard.mu);
    shard.lingering.emplace(until, &leg.nodes_[i]);
  }
}

std::shared_ptr<InboundLeg> Correlation::unlink(Shard& shard, InboundLeg::Node& node) {
  InboundLeg::Node** at = &bucket(shard, node.key);
  while (*at != &node) at = &(*at)->next;
  *at = node.next;
  --shard.size;
  InboundLeg& leg = *node.leg;
  if (leg.linked_.fetch_sub(1, std::memory_order_acq_rel) > 1) return nullptr;
  return std::exchange(leg.self_, nullptr);
}

InboundLegs Correlation::take_expired(Shard& shard, TimePoint now) {
  InboundLegs out;
  while (!shard.lingering.empty() && shard.lingering.begin()->first <= now) {
    InboundLeg::Node& node = *shard.lingering.begin()->second;
    shard.lingering.erase(shard.lingering.begin());
    out.push_back(unlink(shard, node));
  }
  return out;
}

InboundLegs Correlation::under(std::uint64_t key, std::optional<std::uint64_t> nonce,
                               TimePoint now) {
  Shard& shard = shard_of(key);
  InboundLegs expired;
  InboundLegs out;
  const std::lock_guard lock(shard.mu);
  if (!shard.lingering.empty()) expired = take_expired(shard, now);
  for (const InboundLeg::Node* node = bucket(shard, key); node; node = node->next) {
    if (node->key != key) continue;
    if (nonce && node->leg->nonce == *nonce) return {node->leg->self_};
    if (out.size() <= kMostUnderOneId) out.push_back(node->leg->self_);
  }
  return out;
}

Correlation::Found Correlation::find(const TraceIds& ids, TimePoint now) {
  for (const auto& [kind, id] :
       {std::pair('t', ids.trace), std::pair('r', ids.request), std::pair('b', ids.b3)}) {
    if (id.empty()) continue;
    InboundLegs legs = under(hash(kind, id), kind == 't' ? ids.nonce : std::nullopt, now);
    if (legs.empty()) continue;
    if (legs.size() > kMostUnderOneId) return {Match::kTooMany, {}};
    const bool exact = legs.size() == 1 && ids.nonce && legs[0]->nonce == *ids.nonce;
    return {exact ? Match::kExact : Match::kById, std::move(legs)};
  }
  return {};
}

std::size_t Correlation::size() const {
  std::size_t total = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mu);
    total += shard.size;
  }
  return total;
}

}  // namespace damper::legs
