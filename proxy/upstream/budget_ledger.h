// One ledger of retries with the rules that must all agree: a retry budget has one that is enforced
// and may have one that is only tried out. Requests of a scope (a route, an operation) have a ratio
// of their own; floors and caps hold for the sum of all scopes.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "config/model/retry.h"
#include "upstream/slot_ring.h"

namespace damper::upstream {

// What a retry follows decides what it costs in the window and the rate.
enum class RetryCause : std::uint8_t {
  kFailure,      // 1: the attempt may have been processed, or an overloaded host turned it away
  kTimeout,      // timeout_cost
  kUnprocessed,  // unprocessed_cost: refused by a dead or draining host, while others are well
  kHedge,        // 1: nothing has failed yet. Hedges get at most half of the window's retries.
};

// The part that refuses a retry, in the order in which they are asked.
enum class BudgetPart : std::uint8_t { kConcurrency, kWindow, kRate, kThrottle };

// Shared by the workers; outlives its tickets and survives a reload. Originals and successes are
// counted in a cell of the worker's own, without a lock; the mutex is taken only for a retry.
class BudgetLedger {
 public:
  class Scope;
  class Ticket;

  BudgetLedger(config::RetryBudget rules, unsigned workers);
  BudgetLedger(const BudgetLedger&) = delete;
  BudgetLedger& operator=(const BudgetLedger&) = delete;

  // New rules over the same history. If the interval changes, credits are collected anew.
  void reconfigure(config::RetryBudget rules);
  // An operator's ratio in the place of the window's (percent); none: the window's again.
  void override_ratio(std::optional<double> percent);

  // Where a request is counted; lives as long as the ledger. Called by worker number `worker`
  // alone.
  Scope& scope(unsigned worker, std::string_view route, std::string_view operation);
  Scope& whole() { return *whole_; }

  // An original is a request's first attempt; it is in progress until the request is over, waits
  // before retries included. Each of these three is called by worker number `worker` alone.
  void original_started(Scope& scope, unsigned worker, TimePoint now);
  void original_ended(Scope& scope, unsigned worker);
  // Its answer was one that nobody wants to retry.
  void success(Scope& scope, unsigned worker, TimePoint now);
  // An attempt ended in a way that retry_on matches, whether or not a retry follows.
  void failure(RetryCause cause);

  // Takes a slot and charges the retry, or changes nothing and names the part that is against it.
  std::variant<Ticket, BudgetPart> try_retry(Scope& scope, RetryCause cause, TimePoint now);
  bool would_refuse(TimePoint now) const;  // a retry of the ordinary cost, in no scope's name

  std::uint64_t active_originals() const;
  std::uint64_t active_retries() const;
  std::uint64_t charged(TimePoint now) const;  // in the window
  std::uint64_t credits(TimePoint now) const;  // of the kind that the window counts

 private:
  // A window is the current slot and those before it. Credits are remembered for 10 slots, at most
  // an interval, and charges for 11, at least an interval: no choice of moments gets more retries
  // than the rule allows.
  static constexpr std::size_t kSlots = 10;
  using Credits = SlotRing<kSlots>;
  using Charges = SlotRing<kSlots + 1>;

  struct Charge {
    std::uint32_t cost;
    bool is_hedge;
    std::int64_t window_slot;
    std::int64_t rate_slot;
  };

  // What one worker counts, on cache lines of its own.
  struct alignas(64) Cell {
    std::atomic<std::uint64_t> active{0};
    std::atomic<Duration::rep> slot_width{0};  // that the rings were counted with
    Credits originals;
    Credits successes;
  };

  // Retries without one success: after a whole interval of that the floor falls to 1.
  struct DrySpell {
    std::optional<std::int64_t> since;  // slots
    std::int64_t last_retry = 0;

    bool broken(std::int64_t current, std::int64_t last_success) const;
    bool lasts(std::int64_t current, std::int64_t last_success) const;
    void on_retry(std::int64_t current, std::int64_t last_success);
  };

  // gRPC's token bucket (gRFC A6), in thousandths of a token.
  struct Bucket {
    std::atomic<std::int64_t> tokens{0};
    std::atomic<std::int64_t> most{0};  // 0: there is no such rule
    std::atomic<std::int64_t> per_success{0};

    void set(const std::optional<config::BudgetThrottle>& rules);
    void add(std::int64_t thousandths);
    bool allows() const;
  };

  Duration slot_width() const { return Duration(slot_width_.load(std::memory_order_relaxed)); }
  template <class Count>
  void count_in(Scope& scope, Count count);
  static Cell& cell_of(Scope& scope, unsigned worker);
  void count(Cell& cell, Credits Cell::*ring, TimePoint now);
  bool is_current(const Cell& cell) const;
  std::uint64_t sum(const Scope& scope, Credits Cell::*ring, std::int64_t current) const;
  std::int64_t newest(Credits Cell::*ring) const;
  std::int64_t window_slot(TimePoint now) const;
  std::int64_t rate_slot(TimePoint now) const;
  std::uint64_t credits_at(const Scope& scope, std::int64_t current) const;
  std::string scope_name(std::string_view route, std::string_view operation) const;
  Scope& find_scope(const std::string& name);

  // The window that holds now, an operator's ratio included.
  std::optional<config::BudgetWindow> window_rule() const;
  std::uint32_t cost_of(RetryCause cause) const;
  bool concurrency_allows(const Scope& scope) const;
  bool window_allows(const Scope& scope, RetryCause cause, std::int64_t current) const;
  bool rate_allows(std::uint32_t cost, std::int64_t current) const;
  std::optional<BudgetPart> refusing_part(const Scope& scope, RetryCause cause,
                                          TimePoint now) const;

  void retry_ended(Scope& scope);
  void give_back(Scope& scope, const Charge& charge);

  const unsigned workers_;
  std::unique_ptr<Scope> whole_;
  std::vector<std::map<std::string, Scope*, std::less<>>> known_;  // by worker
  std::atomic<config::RetryBudget::Scope> scope_kind_;
  std::atomic<Duration::rep> slot_width_;         // written under mu_
  std::atomic<std::int64_t> ratio_override_{-1};  // parts per million; -1: none
  Bucket bucket_;

  mutable std::mutex mu_;  // guards what follows, and the charges of all scopes
  config::RetryBudget rules_;
  std::map<std::string, std::unique_ptr<Scope>, std::less<>> scopes_;
  Charges rate_;
  DrySpell dry_spell_;
};

class BudgetLedger::Scope {
 public:
  explicit Scope(unsigned workers) : cells_(workers) {}

 private:
  friend class BudgetLedger;

  std::uint64_t active_originals() const;
  std::uint64_t active_retries() const { return active_retries_.load(std::memory_order_relaxed); }

  std::vector<Cell> cells_;                       // one a worker
  std::atomic<std::uint64_t> active_retries_{0};  // rises only under the ledger's lock
  Charges window_;
  Charges hedges_;
};

// A retry that was let in: charged when it was decided on, active until the ticket is dropped.
// If that happens before the attempt has started, the charge is given back.
class BudgetLedger::Ticket {
 public:
  Ticket(Ticket&& other) noexcept
      : ledger_(std::exchange(other.ledger_, nullptr)),
        scope_(other.scope_),
        charge_(other.charge_) {}
  Ticket& operator=(Ticket&& other) noexcept {
    std::swap(ledger_, other.ledger_);
    std::swap(scope_, other.scope_);
    std::swap(charge_, other.charge_);
    return *this;
  }
  ~Ticket();

  void attempt_started() { charge_.reset(); }  // the wait is over: the charge stands

 private:
  friend class BudgetLedger;
  Ticket(BudgetLedger* ledger, Scope* scope, Charge charge)
      : ledger_(ledger), scope_(scope), charge_(charge) {}

  BudgetLedger* ledger_;
  Scope* scope_;
  std::optional<Charge> charge_;  // what a cancelled wait gives back
};

}  // namespace damper::upstream
