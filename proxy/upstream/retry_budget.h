// The retry budget of one cluster and priority: a ledger that is enforced, and perhaps one in
// shadow that counts what it would have refused. A refused retry never waits for budget.
#pragma once
#include "config/model/cluster.h"
#include "upstream/budget_ledger.h"

namespace damper::upstream {

// The rules that hold for a priority: what is written and nothing else, or the defaults if nothing
// is; none if what is written is in shadow.
config::RetryBudget enforced_rules(const config::Thresholds& thresholds);

// A retry that was let in, until its attempt has ended.
class RetryTicket {
 public:
  // The wait is over: what was charged stands.
  void attempt_started();

 private:
  friend class RetryBudget;
  explicit RetryTicket(BudgetLedger::Ticket live) : live_(std::move(live)) {}

  BudgetLedger::Ticket live_;
  std::optional<BudgetLedger::Ticket> shadow_;
};

// What a budget says to a retry.
struct BudgetAnswer {
  std::variant<RetryTicket, BudgetPart> verdict;
  std::optional<BudgetPart> shadow_refusal;  // by the rules that are only tried out
};

class RetryBudget {
 public:
  // Where a request's retries are counted.
  struct Scope {
    BudgetLedger::Scope* live = nullptr;
    BudgetLedger::Scope* shadow = nullptr;  // null: nothing is tried out
  };

  RetryBudget(const config::Thresholds& thresholds, unsigned workers);

  void reconfigure(const config::Thresholds& thresholds);
  void override_ratio(std::optional<double> percent) { live_.override_ratio(percent); }

  // `operation`: the method, for gRPC the path. These four are called by worker `worker` alone.
  Scope scope(unsigned worker, std::string_view route, std::string_view operation);
  void original_started(const Scope& scope, unsigned worker, TimePoint now);
  void original_ended(const Scope& scope, unsigned worker);
  void success(const Scope& scope, unsigned worker, TimePoint now);

  void failure(RetryCause cause);
  // `judge_shadow`: false for a request that the shadow has refused before: what its later retries
  // would have been nobody knows.
  BudgetAnswer try_retry(const Scope& scope, RetryCause cause, bool judge_shadow, TimePoint now);

  const BudgetLedger& live() const { return live_; }

 private:
  BudgetLedger live_;
  BudgetLedger shadow_;
  std::atomic<bool> has_shadow_;
};

// One request's dealings with the budget of its cluster: an original in progress as long as this
// lives.
class BudgetAccount {
 public:
  BudgetAccount(RetryBudget& budget, unsigned worker, std::string_view route,
                std::string_view operation, TimePoint now)
      : budget_(budget), worker_(worker), scope_(budget.scope(worker, route, operation)) {
    budget_.original_started(scope_, worker_, now);
  }
  ~BudgetAccount() { budget_.original_ended(scope_, worker_); }
  BudgetAccount(const BudgetAccount&) = delete;
  BudgetAccount& operator=(const BudgetAccount&) = delete;

  // The answer to the first attempt was one that nobody wants to retry.
  void success(TimePoint now) { budget_.success(scope_, worker_, now); }
  // An attempt ended in a way that retry_on matches.
  void failure(RetryCause cause) { budget_.failure(cause); }
  std::variant<RetryTicket, BudgetPart> try_retry(RetryCause cause, TimePoint now);
  // The first part of the shadow budget that was against a retry.
  std::optional<BudgetPart> shadow_refusal() const { return shadow_refusal_; }

 private:
  RetryBudget& budget_;
  const unsigned worker_;
  const RetryBudget::Scope scope_;
  std::optional<BudgetPart> shadow_refusal_;
};

}  // namespace damper::upstream
