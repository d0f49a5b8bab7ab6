#include "upstream/load_balancer.h"

#include <algorithm>

namespace damper::upstream {
namespace {

double healthy_percent(const Hosts& hosts, TimePoint now) {
  const auto healthy = std::count_if(hosts.begin(), hosts.end(),
                                     [now](const HostPtr& h) { return !h->ejected(now); });
  return 100.0 * static_cast<double>(healthy) / static_cast<double>(hosts.size());
}

bool contains(std::span<const HostPtr> hosts, const HostPtr& host) {
  return std::find(hosts.begin(), hosts.end(), host) != hosts.end();
}

}  // namespace

LoadBalancer::LoadBalancer(config::Cluster::LbPolicy policy, std::uint32_t choice_count,
                           double panic_threshold_percent)
    : policy_(policy),
      choice_count_(std::max(choice_count, 1u)),
      panic_threshold_percent_(panic_threshold_percent) {}

void LoadBalancer::update(Hosts hosts) {
  hosts_ = std::move(hosts);
  levels_.clear();
  Hosts sorted = hosts_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const HostPtr& a, const HostPtr& b) { return a->priority < b->priority; });
  for (const HostPtr& host : sorted) {
    if (levels_.empty() || levels_.back().hosts.front()->priority != host->priority) {
      levels_.emplace_back();
    }
    Level& level = levels_.back();
    level.hosts.push_back(host);
    level.weighted = level.weighted || host->weight != level.hosts.front()->weight;
  }
  for (Level& level : levels_) level.credit.assign(level.hosts.size(), 0);
}

// Envoy's overprovisioning: a level takes all traffic until less than 1/1.4 of it is healthy, then
// the next takes what is missing. Nobody panics while all levels together can take the traffic; if
// all panic, each has the share that its number of hosts is worth.
void LoadBalancer::weigh_levels(TimePoint now) {
  constexpr double kOverprovisioning = 1.4;
  double missing = 100;
  bool all_panic = true;
  for (Level& level : levels_) {
    const double healthy = healthy_percent(level.hosts, now);
    level.share = std::min(healthy * kOverprovisioning, missing);
    level.panic = healthy < panic_threshold_percent_;
    missing -= level.share;
    all_panic = all_panic && level.panic;
  }
  for (Level& level : levels_) {
    level.panic = level.panic && missing > 0;
    if (all_panic && missing > 0) level.share = static_cast<double>(level.hosts.size());
  }
}

LoadBalancer::Level& LoadBalancer::choose_level(Random& random) {
  double total = 0;
  for (const Level& level : levels_) total += level.share;
  double draw = random.unit() * total;
  Level* chosen = &levels_.front();
  for (Level& level : levels_) {
    if (level.share == 0) continue;
    chosen = &level;
    if (draw < level.share) break;
    draw -= level.share;
  }
  return *chosen;
}

HostPtr LoadBalancer::pick(TimePoint now, Random& random, std::span<const HostPtr> tried,
                           bool avoid_busy) {
  if (levels_.empty()) return nullptr;
  weigh_levels(now);
  Level& level = choose_level(random);
  const auto in_service = [now](const HostPtr& h) { return !h->ejected(now); };
  if (!tried.empty() || avoid_busy) {
    const HostPtr fresh = pick_among(level, random, [&](const HostPtr& h) {
      return (level.panic || in_service(h)) && !contains(tried, h) &&
             !(avoid_busy && h->avoided(now));
    });
    if (fresh) return fresh;
  }
  if (!level.panic) return pick_among(level, random, in_service);
  return pick_among(level, random, [](const HostPtr&) { return true; });
}

template <class Usable>
HostPtr LoadBalancer::pick_among(Level& level, Random& random, Usable usable) {
  switch (policy_) {
    case config::Cluster::LbPolicy::kRoundRobin:
      return level.weighted ? weighted_round_robin(level, usable) : round_robin(level, usable);
    case config::Cluster::LbPolicy::kLeastRequest: return least_request(level, random, usable);
    case config::Cluster::LbPolicy::kRandom: return any(level, random, usable);
  }
  return nullptr;
}

template <class Usable>
HostPtr LoadBalancer::round_robin(Level& level, Usable usable) {
  for (std::size_t i = 0; i < level.hosts.size(); ++i) {
    const HostPtr& host = level.hosts[level.next++ % level.hosts.size()];
    if (usable(host)) return host;
  }
  return nullptr;
}

// Smooth weighted round robin: each turn everyone earns its weight, the richest is chosen and pays
// for all.
template <class Usable>
HostPtr LoadBalancer::weighted_round_robin(Level& level, Usable usable) {
  std::int64_t total = 0;
  std::size_t best = level.hosts.size();
  for (std::size_t i = 0; i < level.hosts.size(); ++i) {
    if (!usable(level.hosts[i])) continue;
    total += level.hosts[i]->weight;
    level.credit[i] += level.hosts[i]->weight;
    if (best == level.hosts.size() || level.credit[i] > level.credit[best]) best = i;
  }
  if (best == level.hosts.size()) return nullptr;
  level.credit[best] -= total;
  return level.hosts[best];
}

template <class Usable>
HostPtr LoadBalancer::least_request(Level& level, Random& random, Usable usable) {
  HostPtr best;
  const auto load = [](const Host& h) {
    return (h.active_requests.load(std::memory_order_relaxed) + 1.0) / h.weight;
  };
  for (std::uint32_t i = 0; i < choice_count_; ++i) {
    HostPtr candidate = any(level, random, usable);
    if (!candidate) return nullptr;
    if (!best || load(*candidate) < load(*best)) best = std::move(candidate);
  }
  return best;
}

template <class Usable>
HostPtr LoadBalancer::any(Level& level, Random& random, Usable usable) {
  const HostPtr& first = level.hosts[random.below(level.hosts.size())];
  if (usable(first)) return first;
  // Not its neighbour: that one would get twice its share.
  const auto left = std::count_if(level.hosts.begin(), level.hosts.end(), usable);
  auto skip = random.below(static_cast<std::uint64_t>(left));
  for (const HostPtr& host : level.hosts) {
    if (usable(host) && skip-- == 0) return host;
  }
  return nullptr;
}

}  // namespace damper::upstream
