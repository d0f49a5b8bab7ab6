// The decision after an attempt: try again, or give up and say why. A plain value per request;
// time, randomness and everything that is counted elsewhere are arguments.
#pragma once
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/random.h"
#include "base/time.h"
#include "config/model/retry.h"
#include "filters/retry/conditions.h"
#include "filters/retry/outcome.h"
#include "filters/retry/verdict.h"
#include "upstream/live_mode.h"
#include "upstream/retry_budget.h"

namespace damper::retry {

using upstream::LiveMode;

// How things stand at the moment of the decision.
struct Situation {
  bool response_started = false;
  bool body_replayable = true;
  bool heed_marks = true;             // false: the cluster ignores them, or the role is `every`
  bool next_host_is_well = false;     // the retry goes to a host whose last try did not fail
  std::optional<Duration> time_left;  // of deadline and route timeout; none: no limit
  Duration min_attempt_time = std::chrono::milliseconds(1);
  LiveMode live = LiveMode::kNormal;
  bool breaker_open = false;  // the cluster's failure-rate breaker, or it is half open
  WallTime wall_time{};       // what dates in Retry-After are compared with
};

struct Retry {
  Duration wait{};
  bool from_retry_after = false;  // the server named the wait
  std::string_view cause;         // word of the outcome
  upstream::RetryTicket ticket;   // keep it until the attempt has ended
};

struct GiveUp {
  Verdict verdict = Verdict::kNone;
};

using Decision = std::variant<Retry, GiveUp>;

class RetryState {
 public:
  // `policy` outlives the state; null: nothing is ever retried.
  RetryState(const config::RetryPolicy* policy, RequestTraits request)
      : policy_(policy), request_(request) {}

  // The ticket of the attempt that came to `outcome` must have been dropped before: a retry does
  // not compete with itself for its slot.
  Decision on_outcome(const Outcome& outcome, const Situation& situation,
                      upstream::BudgetAccount& budget, TimePoint now, Random& random);

  // Would it be retried if it could, or is it a failure in any case? An answer to an attempt beside
  // another one is not good enough then.
  bool is_wanted(const Outcome& outcome) const;

  // An attempt failed, and nothing is to be decided: another one runs, or the answer has gone out.
  void count_failure(const Outcome& outcome, const Situation& situation,
                     upstream::BudgetAccount& budget) const;

  // Does the policy look at gRPC statuses?
  bool watches_grpc() const { return has_policy() && policy_->retry_on.any_grpc(); }
  // The head of an answer to a gRPC call has come, and its status is to follow: could that lead to
  // a retry?
  bool on_grpc_head(const Situation& situation);
  // The status came when the answer had gone out, or the answer broke off. Nothing can follow; but
  // the layers above may not have begun their answers, so the verdict is what was against a retry
  // at the head. Nothing was: response_started.
  Verdict on_late_status(const Outcome& outcome, bool heed_marks,
                         upstream::BudgetAccount& budget) const;

  // A further attempt beside one that runs: the cause is "hedge". Only for requests that may be
  // repeated; it is one of num_retries (without a policy there is one). Nothing: there is none.
  std::optional<upstream::RetryTicket> hedge(const Situation& situation,
                                             upstream::BudgetAccount& budget, TimePoint now);

  std::uint32_t attempts() const { return attempts_; }  // decided on, the first included
  // Values of Retry-After that were passed over since it was asked last.
  std::uint32_t take_unreadable_retry_afters() {
    return std::exchange(unreadable_retry_afters_, 0);
  }

 private:
  struct Wait {
    Duration duration{};
    bool from_retry_after = false;
  };

  bool has_policy() const { return policy_ && !policy_->retry_on.empty(); }
  bool is_free(const Outcome& outcome) const;
  Verdict refusal(const Outcome& outcome, const Situation& situation) const;
  Verdict refusal_of_any(const Situation& situation, bool repeatable) const;
  bool is_marked(const Outcome& outcome, bool heed_marks) const;
  std::optional<Wait> next_wait(const Outcome& outcome, const Situation& situation, Random& random);
  upstream::RetryCause cause(const Outcome& outcome, const Situation& situation) const;
  void count(const Outcome& outcome, upstream::RetryCause cause);

  const config::RetryPolicy* policy_;
  RequestTraits request_;
  std::uint32_t attempts_ = 1;
  std::uint32_t retries_ = 0;  // those that num_retries counts
  std::uint32_t unreadable_retry_afters_ = 0;
  Verdict at_grpc_head_ = Verdict::kNone;  // what was against any retry then
  bool race_used_ = false;                 // the free retry after a keep-alive race
  bool unprocessed_used_ = false;          // the retry at unprocessed_cost
};

}  // namespace damper::retry
