#include "filters/router/hedge.h"

#include <utility>

#include "filters/retry/verdict.h"
#include "filters/router/router.h"

namespace damper::router {

std::optional<Duration> Hedge::patience(const stats::RecentLatency& latency, TimePoint now) const {
  constexpr std::uint64_t kLeastSamples = 100;
  if (policy_.hedge_after_p95) return latency.percentile(95, kLeastSamples, now);
  return policy_.hedge_after;
}

// --- The router's part: two attempts at a time ---------------------------------------------------

void Router::watch_patience() {
  const auto patience = hedge_->patience(cluster_->attempt_latency(), worker_.loop.now());
  if (!patience) return;
  hedge_->timer = worker_.loop.timer([this] { try_hedge(); });
  hedge_->timer->arm(*patience);
}

bool Router::on_attempt_slow(Attempt&) {
  if (!hedge_ || !hedge_->on_per_try_timeout() || !try_hedge()) return false;
  cells().add(stats().upstream_rq_per_try_timeout);
  return true;
}

// Starts an attempt beside the one that runs; that one goes on.
bool Router::try_hedge() {
  const bool may = !over_ && !response_started_ && attempt_ && !attempt_->ended() &&
                   !attempt_->holds_head() && !hedge_->rival() && downstream_.request_ended();
  if (!may) return false;
  auto ticket = retries_->hedge(situation(), *account_, worker_.loop.now());
  note_shadow();
  if (!ticket) {
    cells().add(stats().retry.hedges_refused);
    return false;
  }
  hedge_->set_rival({std::move(attempt_), std::exchange(ticket_, std::nullopt)});
  ticket_ = std::move(ticket);
  cells().add(stats().retry.hedges);
  cells().add(stats().retry.retry_attempts[retry::cause_index("hedge")]);
  cells().add(stats().retry.retries_waiting, 1);
  start_attempt();
  return true;
}

Attempt* Router::other_than(const Attempt& attempt) const {
  Attempt* rival = hedge_ ? hedge_->rival() : nullptr;
  if (!rival) return nullptr;
  return &attempt == rival ? attempt_.get() : rival;
}

// One of two has ended (null: the younger never began): the other one goes on alone.
void Router::drop(Attempt* loser) {
  Hedge::Running rival = hedge_->take_rival();
  if (loser == rival.attempt.get()) {
    hedge_->keep(std::move(rival.attempt));
  } else {
    if (attempt_) hedge_->keep(std::move(attempt_));
    attempt_ = std::move(rival.attempt);
    ticket_ = std::move(rival.ticket);
  }
  if (!over_ && !response_started_) attempt_->restart_clock();
}

// Nobody wants its answer any more.
void Router::cancel(Attempt& attempt) {
  stream::AttemptRecord& last = record().attempts[attempt.number() - 1];
  if (last.outcome.empty()) {
    last.outcome = "cancelled";
    last.duration = worker_.loop.now() - attempt.started();
    if (attempt.number() > 1) cells().add(stats().retry.retries_active, -1);
  }
  attempt.cancel();
}

}  // namespace damper::router
