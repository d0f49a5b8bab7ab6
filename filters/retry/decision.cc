#include "filters/retry/decision.h"

#include <algorithm>

#include "filters/retry/backoff.h"
#include "filters/retry/idempotency.h"
#include "filters/retry/marks.h"
#include "filters/retry/retry_after.h"

namespace damper::retry {
namespace {

using upstream::BudgetPart;
using upstream::RetryCause;

// How long the next attempt may wait. Below nothing: there is no time for it.
Duration room_for_wait(const Situation& situation) {
  if (!situation.time_left) return Duration::max();
  return *situation.time_left - situation.min_attempt_time;
}

bool could_not_connect(const Outcome& outcome) {
  return outcome.failure == Failure::kConnectFailure || outcome.failure == Failure::kConnectTimeout;
}

bool is_live(LiveMode mode, const Outcome& outcome) {
  switch (mode) {
    case LiveMode::kNormal: return true;
    case LiveMode::kConnectFailureOnly: return could_not_connect(outcome);
    case LiveMode::kOff: return false;
  }
  return false;
}

// A caller that sends too much and is not told for how long to stop must not be back in 25 ms.
bool was_too_fast(const Outcome& outcome, const ServerWait& told) {
  return outcome.response && outcome.response->status == 429 && !told.said;
}

config::BackOff slowed_down(config::BackOff back_off) {
  back_off.base_interval = std::max<Duration>(back_off.base_interval, std::chrono::seconds(1));
  back_off.max_interval = std::max(back_off.cap(), back_off.base_interval);
  return back_off;
}

}  // namespace

// The budget comes last: asking it takes a slot, and every earlier refusal is free.
Decision RetryState::on_outcome(const Outcome& outcome, const Situation& situation,
                                upstream::BudgetAccount& budget, TimePoint now, Random& random) {
  if (!has_policy()) return GiveUp{};
  const bool matched = matches(*policy_, outcome, request_);
  if (!matched && says_stop(outcome)) budget.failure(RetryCause::kFailure);
  if (!matched && !is_failure(outcome)) return GiveUp{};
  if (situation.response_started) return GiveUp{Verdict::kResponseStarted};
  if (!matched) return GiveUp{Verdict::kNotRetriable};
  const RetryCause cost = cause(outcome, situation);
  budget.failure(cost);
  if (const Verdict why = refusal(outcome, situation); why != Verdict::kNone) return GiveUp{why};

  const auto wait = next_wait(outcome, situation, random);
  if (!wait) return GiveUp{Verdict::kDeadline};
  if (!is_live(situation.live, outcome)) return GiveUp{Verdict::kLiveOff};
  if (situation.breaker_open) return GiveUp{Verdict::kBreakerOpen};
  auto admission = budget.try_retry(cost, now);
  if (const auto* part = std::get_if<BudgetPart>(&admission)) return GiveUp{budget_verdict(*part)};
  count(outcome, cost);
  return Retry{wait->duration, wait->from_retry_after, word(outcome),
               std::get<upstream::RetryTicket>(std::move(admission))};
}

bool RetryState::is_wanted(const Outcome& outcome) const {
  return !is_failure(outcome) && !(has_policy() && matches(*policy_, outcome, request_));
}

void RetryState::count_failure(const Outcome& outcome, const Situation& situation,
                               upstream::BudgetAccount& budget) const {
  if (has_policy() && (matches(*policy_, outcome, request_) || says_stop(outcome))) {
    budget.failure(cause(outcome, situation));
  }
}

bool RetryState::on_grpc_head(const Situation& situation) {
  const bool may_repeat = request_.repeatable || !policy_->retry_non_idempotent_on.empty();
  at_grpc_head_ = refusal_of_any(situation, may_repeat);
  return at_grpc_head_ == Verdict::kNone && request_.headers_allow;
}

Verdict RetryState::on_late_status(const Outcome& outcome, bool heed_marks,
                                   upstream::BudgetAccount& budget) const {
  if (!has_policy()) return Verdict::kNone;
  count_failure(outcome, {}, budget);
  if (!outcome.response) return Verdict::kResponseStarted;
  if (!matches(*policy_, outcome, request_)) {
    return is_failure(outcome) ? Verdict::kNotRetriable : Verdict::kNone;
  }
  if (is_marked(outcome, heed_marks)) return Verdict::kMarked;
  if (!may_repeat_after(outcome, request_.repeatable, *policy_)) return Verdict::kNotIdempotent;
  return at_grpc_head_ == Verdict::kNone ? Verdict::kResponseStarted : at_grpc_head_;
}

std::optional<upstream::RetryTicket> RetryState::hedge(const Situation& situation,
                                                       upstream::BudgetAccount& budget,
                                                       TimePoint now) {
  if (situation.response_started) return std::nullopt;
  if (refusal_of_any(situation, request_.repeatable) != Verdict::kNone) return std::nullopt;
  auto admission = budget.try_retry(RetryCause::kHedge, now);
  if (std::holds_alternative<BudgetPart>(admission)) return std::nullopt;
  ++attempts_;
  ++retries_;
  return std::get<upstream::RetryTicket>(std::move(admission));
}

// What is against a retry of an outcome that retry_on matches, before time and money are asked.
Verdict RetryState::refusal(const Outcome& outcome, const Situation& situation) const {
  if (is_marked(outcome, situation.heed_marks)) return Verdict::kMarked;
  if (!may_repeat_after(outcome, request_.repeatable, *policy_)) return Verdict::kNotIdempotent;
  if (!situation.body_replayable) return Verdict::kBodyLost;
  if (retries_ >= policy_->num_retries && !is_free(outcome)) return Verdict::kLimit;
  return Verdict::kNone;
}

// The same before there is an outcome. Without a policy there may be one further attempt, a hedge.
Verdict RetryState::refusal_of_any(const Situation& situation, bool repeatable) const {
  const std::uint32_t most = policy_ ? policy_->num_retries : 1;
  if (request_.owned_above) return Verdict::kMarked;
  if (!repeatable) return Verdict::kNotIdempotent;
  if (!situation.body_replayable) return Verdict::kBodyLost;
  if (retries_ >= most) return Verdict::kLimit;
  if (room_for_wait(situation) < Duration::zero()) return Verdict::kDeadline;
  if (situation.live != LiveMode::kNormal) return Verdict::kLiveOff;
  return situation.breaker_open ? Verdict::kBreakerOpen : Verdict::kNone;
}

bool RetryState::is_marked(const Outcome& outcome, bool heed_marks) const {
  return request_.owned_above || (heed_marks && forbids_retry(outcome)) ||
         vetoed_by_ratelimit(*policy_, outcome);
}

bool RetryState::is_free(const Outcome& outcome) const {
  return !race_used_ && policy_->num_retries > 0 &&
         covers_keep_alive_race(*policy_, outcome, request_);
}

// Nothing, if there is not enough time for the wait and an attempt after it. An ordinary wait is
// drawn from what fits; who asks for one of the server's, or has been too fast, gets it or none.
std::optional<RetryState::Wait> RetryState::next_wait(const Outcome& outcome,
                                                      const Situation& situation, Random& random) {
  const config::RetryAfter& rules = policy_->retry_after;
  const ServerWait told = read_server_wait(rules, outcome, situation.wall_time);
  const Duration room = room_for_wait(situation);
  unreadable_retry_afters_ += told.unreadable;
  if (told.wait > Duration::zero()) {
    if (told.wait > rules.max_wait || told.wait > room) return std::nullopt;
    return Wait{draw_server_wait(told.wait, room, random), true};
  }
  if (was_too_fast(outcome, told)) {
    const Duration wait =
        draw_backoff(backoff_bound(slowed_down(policy_->back_off), retries_), random);
    return wait > room ? std::nullopt : std::optional(Wait{wait, false});
  }
  if (room < Duration::zero()) return std::nullopt;
  return Wait{draw_backoff(std::min(backoff_bound(policy_->back_off, retries_), room), random),
              false};
}

RetryCause RetryState::cause(const Outcome& outcome, const Situation& situation) const {
  switch (outcome.failure) {
    case Failure::kPerTryTimeout:
    case Failure::kPerTryIdleTimeout: return RetryCause::kTimeout;
    case Failure::kConnectFailure: break;
    case Failure::kRefusedStream:
      if (outcome.graceful_goaway) break;
      return RetryCause::kFailure;
    default: return RetryCause::kFailure;
  }
  // A dead or draining host must not eat the budget of the living; but only while they live.
  const bool cheap = situation.next_host_is_well && !unprocessed_used_;
  return cheap ? RetryCause::kUnprocessed : RetryCause::kFailure;
}

void RetryState::count(const Outcome& outcome, RetryCause cost) {
  ++attempts_;
  if (cost == RetryCause::kUnprocessed) unprocessed_used_ = true;
  if (is_free(outcome)) {
    race_used_ = true;
  } else {
    ++retries_;
  }
}

}  // namespace damper::retry
