// The router's part of gRPC calls whose answer begins without a status. A call that failed before
// its first message ends with the next frame, so where that could lead to a retry the head is held
// back for a moment (attempt.h). Else it goes out, and what the call came to (success credit,
// throttle, evidence about the host, verdict) is judged at its end.
#include <algorithm>

#include "filters/router/failure_reply.h"
#include "filters/router/router.h"

namespace damper::router {

using retry::Outcome;
using retry::Verdict;

bool Router::on_attempt_open_head(const http::ResponseHead& head) {
  if (!is_grpc_ || over_ || !retries_->watches_grpc()) return false;
  if (!retry::awaits_grpc_status(outcome_of(head, false))) return false;
  const bool may_be_retried = retries_->on_grpc_head(situation());
  const bool other_runs = hedge_ && hedge_->rival();
  // A call that still sends may be waiting for this head.
  return (may_be_retried || other_runs) && head.is_grpc() && downstream_.request_ended();
}

void Router::await_status(Attempt& attempt, const Outcome& outcome) {
  note_attempt(&attempt, outcome);
  ticket_.reset();
  status_awaited_ = true;
  // A stream may last for hours, and its place among the breaker's probes is another's.
  if (attempt.is_probe()) report_to_host(attempt, outcome);
}

// Also of a deadline that nobody enforces here: the caller has gone by then, and so has the time of
// a retry.
bool Router::ended_by_deadline(const AttemptFailure& failure) const {
  if (!is_grpc_) return false;
  const TimePoint now = worker_.loop.read_clock();
  Duration left = time_left().value_or(Duration::max());
  if (told_deadline_) left = std::min(left, *told_deadline_ - now);
  return is_end_of_deadline(failure, left);
}

Outcome Router::ended_with(const http::Fields* trailers) const {
  return {.response = record().response,
          .trailers = trailers,
          .request_on_wire = true,
          .any_attempt_on_wire = true,
          .is_grpc = true,
          .complete = true};
}

// What the answer that has gone out came to: its status, its end without one, or a failure. A
// client that leaves or a timeout ends a stream without a word about either side.
void Router::judge_status(const Outcome& outcome) {
  if (over_) return;
  status_awaited_ = false;
  const std::size_t number = attempt_->number();
  record().attempts[number - 1].outcome = retry::word(outcome);
  if (!attempt_->reported()) report_to_host(*attempt_, outcome);
  if (number == 1 && retry::is_success(policy_, outcome)) {
    account_->success(worker_.loop.now());
    return give_up(number, Verdict::kNone);
  }
  give_up(number, retries_->on_late_status(outcome, heeds_marks(), *account_));
}

}  // namespace damper::router
