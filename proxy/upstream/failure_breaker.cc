#include "upstream/failure_breaker.h"

#include <algorithm>

#include "base/check.h"

namespace damper::upstream {

FailureBreaker::Change FailureBreaker::Pass::report(unsigned worker, Evidence evidence,
                                                    TimePoint now) {
  FailureBreaker* const breaker = std::exchange(breaker_, nullptr);
  return breaker ? breaker->count(phase_, worker, evidence, now) : Change::kNone;
}

FailureBreaker::FailureBreaker(const std::optional<config::FailureBreaker>& rules, unsigned workers)
    : cells_(workers) {
  reconfigure(rules);
}

void FailureBreaker::reconfigure(const std::optional<config::FailureBreaker>& rules) {
  const std::lock_guard lock(mu_);
  if (rules == rules_) return;
  rules_ = rules;
  const State now = phase_.load(std::memory_order_relaxed).state;
  enter(!rules ? State::kOff : now == State::kOff ? State::kClosed : now);
}

void FailureBreaker::enter(State state) {
  probes_running_ = probes_succeeded_ = 0;
  const std::uint32_t number = phase_.load(std::memory_order_relaxed).number + 1;
  phase_.store({state, number}, std::memory_order_release);
}

std::optional<FailureBreaker::Pass> FailureBreaker::admit(TimePoint now) {
  const Phase phase = phase_.load(std::memory_order_acquire);
  switch (phase.state) {
    case State::kOff: return Pass();
    case State::kClosed: return Pass(this, phase);
    case State::kOpen:
      if (now < open_until()) return std::nullopt;
      break;
    case State::kHalfOpen: break;
  }
  return admit_probe(now);
}

std::optional<FailureBreaker::Pass> FailureBreaker::admit_probe(TimePoint now) {
  const std::lock_guard lock(mu_);
  const State before = phase_.load(std::memory_order_relaxed).state;
  if (before == State::kOpen) {
    if (now < open_until()) return std::nullopt;
    enter(State::kHalfOpen);
  }
  const Phase phase = phase_.load(std::memory_order_relaxed);
  if (phase.state == State::kOff) return Pass();  // a reload took the rules away meanwhile
  if (phase.state == State::kHalfOpen) {
    if (probes_running_ + probes_succeeded_ >= rules_->probes) return std::nullopt;
    ++probes_running_;
  }
  return Pass(this, phase);
}

FailureBreaker::Change FailureBreaker::count(Phase phase, unsigned worker, Evidence evidence,
                                             TimePoint now) {
  if (phase.state == State::kHalfOpen) return end_probe(phase, evidence, now);
  if (evidence == Evidence::kNone || !is_current(phase)) return Change::kNone;
  DAMPER_CHECK(worker < cells_.size());
  Cell& cell = cells_[worker];
  const bool joined = cell.phase.load(std::memory_order_relaxed) == phase.number;
  if (!joined && !join(cell, phase)) return Change::kNone;
  const std::int64_t slot = now.time_since_epoch() / cell.slot_width;
  cell.requests.add(slot, 1);
  if (evidence == Evidence::kGood) return Change::kNone;
  cell.failures.add(slot, 1);
  return open_if_due(phase, now);
}

// False: the phase has ended meanwhile.
bool FailureBreaker::join(Cell& cell, Phase phase) {
  const std::lock_guard lock(mu_);
  if (!is_current(phase)) return false;
  cell.slot_width = std::max(rules_->window / static_cast<Duration::rep>(kSlots), Duration(1));
  cell.requests.clear();
  cell.failures.clear();
  cell.phase.store(phase.number, std::memory_order_relaxed);
  return true;
}

FailureBreaker::Change FailureBreaker::open_if_due(Phase phase, TimePoint now) {
  const std::lock_guard lock(mu_);
  return is_current(phase) && fails_too_often(now) ? open(now) : Change::kNone;
}

bool FailureBreaker::fails_too_often(TimePoint now) const {
  const std::uint32_t current = phase_.load(std::memory_order_relaxed).number;
  std::uint64_t requests = 0;
  std::uint64_t failures = 0;
  for (const Cell& cell : cells_) {
    if (cell.phase.load(std::memory_order_relaxed) != current) continue;
    const std::int64_t slot = now.time_since_epoch() / cell.slot_width;
    requests += cell.requests.sum(slot);
    failures += cell.failures.sum(slot);
  }
  return requests >= rules_->min_requests &&
         100.0 * static_cast<double>(failures) >=
             rules_->failure_percent * static_cast<double>(requests);
}

FailureBreaker::Change FailureBreaker::open(TimePoint now) {
  open_until_.store((now + rules_->open_for).time_since_epoch().count(), std::memory_order_relaxed);
  enter(State::kOpen);
  return Change::kOpened;
}

FailureBreaker::Change FailureBreaker::end_probe(Phase phase, Evidence evidence, TimePoint now) {
  const std::lock_guard lock(mu_);
  if (!is_current(phase)) return Change::kNone;
  --probes_running_;
  if (evidence == Evidence::kNone) return Change::kNone;
  if (evidence != Evidence::kGood) return open(now);
  if (++probes_succeeded_ < rules_->probes) return Change::kNone;
  enter(State::kClosed);
  return Change::kClosed;
}

FailureBreaker::State FailureBreaker::state(TimePoint now) const {
  const State state = phase_.load(std::memory_order_acquire).state;
  return state == State::kOpen && now >= open_until() ? State::kHalfOpen : state;
}

Duration FailureBreaker::wait(TimePoint now) const {
  if (phase_.load(std::memory_order_acquire).state != State::kOpen) return {};
  return std::max(open_until() - now, Duration::zero());
}

std::string_view word(FailureBreaker::State state) {
  switch (state) {
    case FailureBreaker::State::kOff: return "off";
    case FailureBreaker::State::kClosed: return "closed";
    case FailureBreaker::State::kOpen: return "open";
    case FailureBreaker::State::kHalfOpen: return "half_open";
  }
  return "";
}

}  // namespace damper::upstream
