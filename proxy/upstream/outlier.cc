#include "upstream/outlier.h"

#include <algorithm>

namespace damper::upstream {
namespace {

constexpr std::uint32_t kDefaultFailures = 5;

void reset(std::atomic<std::uint32_t>& count) {
  if (count.load(std::memory_order_relaxed) != 0) count.store(0, std::memory_order_relaxed);
}

bool reaches(std::atomic<std::uint32_t>& count, std::uint32_t limit) {
  const std::uint32_t n = count.fetch_add(1, std::memory_order_relaxed) + 1;
  if (limit == 0 || n < limit) return false;
  reset(count);
  return true;
}

}  // namespace

OutlierDetector::OutlierDetector(std::optional<config::OutlierDetection> rules, bool default_on)
    : rules_(std::move(rules)), default_on_(default_on) {}

void OutlierDetector::reconfigure(std::optional<config::OutlierDetection> rules, bool default_on) {
  const std::lock_guard lock(mu_);
  rules_ = std::move(rules);
  default_on_ = default_on;
}

bool OutlierDetector::report(Host& host, Evidence evidence, const Hosts& all, TimePoint now,
                             Random& random) {
  if (evidence == Evidence::kNone) return false;
  if (evidence == Evidence::kGood) {
    reset(host.health.consecutive_5xx);
    reset(host.health.consecutive_gateway);
    reset(host.health.consecutive_local);
    return false;
  }
  const std::lock_guard lock(mu_);
  const auto enforcing_percent = tripped(host.health, evidence, all.size());
  if (!enforcing_percent || !random.chance(*enforcing_percent / 100.0)) return false;
  return eject(host, all, now);
}

// The share of trips that are enforced, if a limit was reached.
std::optional<std::uint32_t> OutlierDetector::tripped(HostHealth& health, Evidence evidence,
                                                      std::size_t hosts) const {
  if (!rules_) {
    if (!default_on_ || hosts < 2) return std::nullopt;
    const bool counts =
        evidence == Evidence::kLocalOrigin || (evidence == Evidence::kGateway && hosts > 2);
    if (counts && reaches(health.consecutive_gateway, kDefaultFailures)) return 100;
    if (!counts) reset(health.consecutive_gateway);
    return std::nullopt;
  }
  if (evidence == Evidence::kLocalOrigin && rules_->split_external_local_origin_errors) {
    if (reaches(health.consecutive_local, rules_->consecutive_local_origin_failure)) {
      return rules_->enforcing_consecutive_local_origin_failure;
    }
    return std::nullopt;
  }
  if (evidence != Evidence::kLocalOrigin) reset(health.consecutive_local);  // it has answered
  // Unless told apart, a failure of our own making counts like a gateway's, and every gateway error
  // is a 5xx too.
  std::optional<std::uint32_t> out;
  if (reaches(health.consecutive_5xx, rules_->consecutive_5xx)) {
    out = rules_->enforcing_consecutive_5xx;
  }
  if (evidence == Evidence::kError) {
    reset(health.consecutive_gateway);
  } else if (reaches(health.consecutive_gateway, rules_->consecutive_gateway_failure)) {
    out = std::max(out.value_or(0), rules_->enforcing_consecutive_gateway_failure);
  }
  return out;
}

std::uint32_t OutlierDetector::ejected(const Hosts& all, TimePoint now) {
  return static_cast<std::uint32_t>(
      std::count_if(all.begin(), all.end(), [now](const HostPtr& h) { return h->ejected(now); }));
}

bool OutlierDetector::may_eject(const Hosts& all, TimePoint now) const {
  const std::uint64_t out = ejected(all, now);
  if (out == 0 && (!rules_ || rules_->always_eject_one_host)) return true;
  if (!rules_) return 3 * (out + 1) <= all.size();
  return 100 * (out + 1) <= rules_->max_ejection_percent * all.size();
}

bool OutlierDetector::eject(Host& host, const Hosts& all, TimePoint now) {
  if (host.ejected(now) || !may_eject(all, now)) return false;
  const config::OutlierDetection rules = rules_.value_or(config::OutlierDetection{});
  HostHealth& health = host.health;
  // Each ejection is longer than the last; each quiet interval in between makes good for one.
  if (health.ejections > 0 && rules.interval > Duration::zero() && now > health.back_at) {
    const auto quiet = static_cast<std::uint64_t>((now - health.back_at) / rules.interval);
    health.ejections -=
        static_cast<std::uint32_t>(std::min<std::uint64_t>(quiet, health.ejections));
  }
  ++health.ejections;
  const Duration longest = std::max(rules.max_ejection_time, rules.base_ejection_time);
  health.back_at = now + std::min(rules.base_ejection_time * health.ejections, longest);
  health.ejected_until.store(health.back_at.time_since_epoch().count(), std::memory_order_relaxed);
  return true;
}

}  // namespace damper::upstream
