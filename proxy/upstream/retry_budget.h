// The retry budget of one cluster and priority: one ledger for the whole process, and the rules
// that must all agree before a retry is made. A refused retry never waits for budget.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "config/model/cluster.h"
#include "upstream/slot_ring.h"

namespace damper::upstream {

// What a retry follows decides what it costs in the window and the rate.
enum class RetryCause : std::uint8_t {
  kFailure,      // 1: the attempt may have been processed, or an overloaded host turned it away
  kTimeout,      // timeout_cost
  kUnprocessed,  // unprocessed_cost: refused by a dead or draining host, while others are well
};

// The part that refuses a retry, in the order in which they are asked.
enum class BudgetPart : std::uint8_t { kConcurrency, kWindow, kRate };

class RetryBudget;

// A retry that was let in: charged when it was decided on, active until the ticket is dropped.
// If that happens before the attempt has started, the charge is given back.
class RetryTicket {
 public:
  RetryTicket(RetryTicket&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), charge_(other.charge_) {}
  RetryTicket& operator=(RetryTicket&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(charge_, other.charge_);
    return *this;
  }
  ~RetryTicket();

  void attempt_started() { charge_.reset(); }  // the wait is over: the charge stands

 private:
  friend class RetryBudget;
  struct Charge {
    std::uint32_t cost;
    std::int64_t window_slot;
    std::int64_t rate_slot;
  };
  RetryTicket(RetryBudget* budget, Charge charge) : budget_(budget), charge_(charge) {}

  RetryBudget* budget_;
  std::optional<Charge> charge_;  // what a cancelled wait gives back
};

// Shared by the workers; outlives its tickets and survives a reload. Originals and successes are
// counted in a cell of the worker's own, without a lock; the mutex is taken only for a retry.
class RetryBudget {
 public:
  RetryBudget(const config::Thresholds& thresholds, unsigned workers);
  RetryBudget(const RetryBudget&) = delete;
  RetryBudget& operator=(const RetryBudget&) = delete;

  // An original is a request's first attempt; it is in progress until the request is over, waits
  // before retries included. Each of these three is called by worker number `worker` alone.
  void original_started(unsigned worker, TimePoint now);
  void original_ended(unsigned worker);
  // Its answer was one that nobody wants to retry.
  void success(unsigned worker, TimePoint now);

  // Takes a slot and charges the retry, or changes nothing and names the part that is against it.
  std::variant<RetryTicket, BudgetPart> try_retry(RetryCause cause, TimePoint now);

  // New rules over the same history. If the interval changes, credits are collected anew.
  void reconfigure(const config::Thresholds& thresholds);

  bool would_refuse(TimePoint now) const;  // a retry of the ordinary cost
  std::uint64_t active_originals() const;
  std::uint64_t active_retries() const { return active_retries_.load(std::memory_order_relaxed); }
  std::uint64_t charged(TimePoint now) const;  // in the window
  std::uint64_t credits(TimePoint now) const;  // of the kind that the window counts

 private:
  friend class RetryTicket;
  using Charge = RetryTicket::Charge;

  // A window is the current slot and those before it. Credits are remembered for 10 slots, at most
  // an interval, and charges for 11, at least an interval: no choice of moments gets more retries
  // than the rule allows.
  static constexpr std::size_t kSlots = 10;
  using Credits = SlotRing<kSlots>;
  using Charges = SlotRing<kSlots + 1>;

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

  Duration slot_width() const { return Duration(slot_width_.load(std::memory_order_relaxed)); }
  void count(Cell& cell, Credits Cell::*ring, TimePoint now);
  bool is_current(const Cell& cell) const;
  std::uint64_t sum(Credits Cell::*ring, std::int64_t current) const;
  std::int64_t newest(Credits Cell::*ring) const;
  std::int64_t window_slot(TimePoint now) const;
  std::int64_t rate_slot(TimePoint now) const;
  std::uint64_t credits_at(std::int64_t current) const;

  std::uint32_t cost_of(RetryCause cause) const;
  bool concurrency_allows() const;
  bool window_allows(std::uint32_t cost, std::int64_t current) const;
  bool rate_allows(std::uint32_t cost, std::int64_t current) const;
  std::optional<BudgetPart> refusing_part(std::uint32_t cost, TimePoint now) const;

  void retry_ended() { active_retries_.fetch_sub(1, std::memory_order_relaxed); }
  void give_back(const Charge& charge);

  std::vector<Cell> cells_;                       // one a worker
  std::atomic<Duration::rep> slot_width_;         // written under mu_
  std::atomic<std::uint64_t> active_retries_{0};  // rises only under mu_

  mutable std::mutex mu_;  // guards what follows
  config::RetryBudget rules_;
  Charges window_;
  Charges rate_;
  DrySpell dry_spell_;
};

}  // namespace damper::upstream
