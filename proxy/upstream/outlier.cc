#include "upstream/outlier.h"

#include <algorithm>

namespace damper::upstream {
namespace {

constexpr std::uint32_t kDefaultFailures = 5;

void reset(std::atomic<std::uint32_t>& count) {
  if (count.load(std::memory_order_relaxed) != 0) count.store(0, std::memory_order_relaxed);
}

void reset_rows(HostHealth& health) {
  reset(health.consecutive_5xx);
  reset(health.consecutive_gateway);
  reset(health.consecutive_local);
}

bool reaches(std::atomic<std::uint32_t>& count, std::uint32_t limit) {
  const std::uint32_t n = count.fetch_add(1, std::memory_order_relaxed) + 1;
  if (limit == 0 || n < limit) return false;
  reset(count);
  return true;
}

}  // namespace

struct OutlierDetector::Rates {
  RateCount HostHealth::*count;
  Trip below_others;
  Trip too_many;
};

OutlierDetector::OutlierDetector(std::optional<config::OutlierDetection> rules, bool default_on) {
  reconfigure(std::move(rules), default_on);
}

void OutlierDetector::reconfigure(std::optional<config::OutlierDetection> rules, bool default_on) {
  const std::lock_guard lock(mu_);
  rules_ = std::move(rules);
  default_on_ = default_on;
  next_sweep_ = 0;  // the first report begins an interval
  counts_rates_ = rules_.has_value();
  split_ = rules_ && rules_->split_external_local_origin_errors;
}

OutlierFindings OutlierDetector::report(Host& host, Evidence evidence, const Hosts& all,
                                        TimePoint now, Random& random) {
  OutlierFindings out;
  if (evidence == Evidence::kNone) return out;
  if (counts_rates_.load(std::memory_order_relaxed)) {
    if (now.time_since_epoch().count() >= next_sweep_.load(std::memory_order_relaxed)) {
      sweep(all, now, random, out);
    }
    count(host.health, evidence);
  }
  if (evidence == Evidence::kGood) {
    reset_rows(host.health);
    return out;
  }
  if (host.ejected(now)) return out;  // it comes back with a clean slate
  const std::lock_guard lock(mu_);
  for (const auto& trip : tripped(host.health, evidence, all.size())) {
    if (trip) on_trip(*trip, host, all, now, random, out);
  }
  return out;
}

// As in Envoy: unless told apart, a failure of our own making counts like a gateway's.
void OutlierDetector::count(HostHealth& health, Evidence evidence) const {
  const bool local = evidence == Evidence::kLocalOrigin;
  const bool split = split_.load(std::memory_order_relaxed);
  if (split) health.connections.add(!local);
  if (!split || !local) health.answers.add(evidence == Evidence::kGood);
}

// The counts are those of the interval that is over: nobody has reported since, or the sweep had
// been made then.
void OutlierDetector::sweep(const Hosts& all, TimePoint now, Random& random, OutlierFindings& out) {
  const std::lock_guard lock(mu_);
  const TimePoint due{Duration(next_sweep_.load(std::memory_order_relaxed))};
  if (!rules_ || now < due) return;  // somebody else was quicker
  const auto missed = (now - due) / rules_->interval;
  const TimePoint next =
      due == TimePoint{} ? now + rules_->interval : due + (missed + 1) * rules_->interval;
  next_sweep_.store(next.time_since_epoch().count(), std::memory_order_relaxed);
  judge({.count = &HostHealth::answers,
         .below_others = {OutlierKind::kSuccessRate, rules_->enforcing_success_rate},
         .too_many = {OutlierKind::kFailurePercentage, rules_->enforcing_failure_percentage}},
        all, now, random, out);
  judge({.count = &HostHealth::connections,
         .below_others = {OutlierKind::kLocalOriginSuccessRate,
                          rules_->enforcing_local_origin_success_rate},
         .too_many = {OutlierKind::kLocalOriginFailurePercentage,
                      rules_->enforcing_failure_percentage_local_origin}},
        all, now, random, out);
}

void OutlierDetector::judge(const Rates& rates, const Hosts& all, TimePoint now, Random& random,
                            OutlierFindings& out) {
  std::vector<RateSample> samples;
  for (const HostPtr& host : all) {
    const RateSample sample = (host->health.*rates.count).take();
    samples.push_back(host->ejected(now) ? RateSample{} : sample);
  }
  const config::OutlierDetection& rules = *rules_;
  const auto worse = below_the_others(
      samples, {rules.success_rate_minimum_hosts, rules.success_rate_request_volume},
      rules.success_rate_stdev_factor / 1000.0);
  for (const std::size_t i : worse) on_trip(rates.below_others, *all[i], all, now, random, out);
  const auto bad = failing_often(
      samples, {rules.failure_percentage_minimum_hosts, rules.failure_percentage_request_volume},
      rules.failure_percentage_threshold);
  for (const std::size_t i : bad) on_trip(rates.too_many, *all[i], all, now, random, out);
}

OutlierDetector::Trips OutlierDetector::tripped(HostHealth& health, Evidence evidence,
                                                std::size_t hosts) const {
  if (rules_) return tripped_by_rules(health, evidence);
  if (!default_on_ || hosts < 2) return {};
  const bool counts =
      evidence == Evidence::kLocalOrigin || (evidence == Evidence::kGateway && hosts > 2);
  if (!counts) {
    reset(health.consecutive_gateway);
  } else if (reaches(health.consecutive_gateway, kDefaultFailures)) {
    return {Trip{OutlierKind::kConsecutiveGatewayFailure, 100}};
  }
  return {};
}

OutlierDetector::Trips OutlierDetector::tripped_by_rules(HostHealth& health,
                                                         Evidence evidence) const {
  Trips out;
  if (evidence == Evidence::kLocalOrigin && rules_->split_external_local_origin_errors) {
    if (reaches(health.consecutive_local, rules_->consecutive_local_origin_failure)) {
      out[0] = {OutlierKind::kConsecutiveLocalOriginFailure,
                rules_->enforcing_consecutive_local_origin_failure};
    }
    return out;
  }
  if (evidence != Evidence::kLocalOrigin) reset(health.consecutive_local);  // it has answered
  // Every gateway error is a 5xx too.
  if (evidence == Evidence::kError) {
    reset(health.consecutive_gateway);
  } else if (reaches(health.consecutive_gateway, rules_->consecutive_gateway_failure)) {
    out[0] = {OutlierKind::kConsecutiveGatewayFailure,
              rules_->enforcing_consecutive_gateway_failure};
  }
  if (reaches(health.consecutive_5xx, rules_->consecutive_5xx)) {
    out[1] = {OutlierKind::kConsecutive5xx, rules_->enforcing_consecutive_5xx};
  }
  return out;
}

void OutlierDetector::on_trip(const Trip& trip, Host& host, const Hosts& all, TimePoint now,
                              Random& random, OutlierFindings& out) {
  using Fate = OutlierFinding::Fate;
  if (host.ejected(now)) return;  // for another reason
  Fate fate = Fate::kOverflow;
  if (may_eject(all, now)) {
    fate = random.chance(trip.enforcing_percent / 100.0) ? Fate::kEjected : Fate::kNotEnforced;
  }
  if (fate == Fate::kEjected) eject(host, now, random);
  out.push_back({trip.kind, fate});
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

void OutlierDetector::eject(Host& host, TimePoint now, Random& random) {
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
  // So that hosts which left together do not come back together.
  const Duration jitter =
      std::chrono::duration_cast<Duration>(rules.max_ejection_time_jitter * random.unit());
  health.back_at = now + std::min(rules.base_ejection_time * health.ejections, longest) + jitter;
  health.ejected_until.store(health.back_at.time_since_epoch().count(), std::memory_order_relaxed);
  reset_rows(health);
}

}  // namespace damper::upstream
