#include "upstream/retry_budget.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace damper::upstream {
namespace {

constexpr std::int64_t kRateSlots = 10;
constexpr Duration kRateSlotWidth = Duration(std::chrono::seconds(1)) / kRateSlots;

// The rules that hold: what is written and nothing else, or the defaults if nothing is.
config::RetryBudget rules_of(const config::Thresholds& thresholds) {
  if (thresholds.retry_budget) {
    config::RetryBudget rules = *thresholds.retry_budget;
    const bool empty = !rules.concurrency && !rules.window && !rules.max_retries_per_second;
    if (empty && !rules.disabled) rules.concurrency.emplace();  // `retry_budget: {}`, as in Envoy
    return rules;
  }
  if (thresholds.max_retries) {
    return {.concurrency = config::BudgetConcurrency{
                .percent = 0, .min_retry_concurrency = *thresholds.max_retries}};
  }
  return config::RetryBudget::standard();
}

Duration slot_width_of(const config::RetryBudget& rules, std::size_t slots) {
  const Duration interval = rules.window.value_or(config::BudgetWindow{}).interval;
  return std::max(interval / static_cast<Duration::rep>(slots), Duration(1));
}

std::int64_t slot_at(TimePoint now, Duration width) { return now.time_since_epoch() / width; }

// ⌊percent of n⌋. In whole parts per million, because 0.1 · 10 must be 1 and not a little less.
std::uint64_t share(double percent, std::uint64_t n) {
  return n * static_cast<std::uint64_t>(std::llround(percent * 10'000)) / 1'000'000;
}

}  // namespace

RetryTicket::~RetryTicket() {
  if (!budget_) return;
  if (charge_) budget_->give_back(*charge_);
  budget_->retry_ended();
}

RetryBudget::RetryBudget(const config::Thresholds& thresholds, unsigned workers)
    : cells_(workers), rules_(rules_of(thresholds)) {
  slot_width_ = slot_width_of(rules_, kSlots).count();
}

void RetryBudget::original_started(unsigned worker, TimePoint now) {
  DAMPER_CHECK(worker < cells_.size());
  Cell& cell = cells_[worker];
  cell.active.store(cell.active.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  count(cell, &Cell::originals, now);
}

void RetryBudget::original_ended(unsigned worker) {
  DAMPER_CHECK(worker < cells_.size());
  Cell& cell = cells_[worker];
  cell.active.store(cell.active.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

void RetryBudget::success(unsigned worker, TimePoint now) {
  DAMPER_CHECK(worker < cells_.size());
  count(cells_[worker], &Cell::successes, now);
}

// Slots of another width mean other times, so a new width empties the cell. Only its own worker may
// do that; until then readers pass the cell over.
void RetryBudget::count(Cell& cell, Credits Cell::*ring, TimePoint now) {
  const Duration width = slot_width();
  if (cell.slot_width.load(std::memory_order_relaxed) != width.count()) {
    cell.originals.clear();
    cell.successes.clear();
    cell.slot_width.store(width.count(), std::memory_order_release);
  }
  (cell.*ring).add(slot_at(now, width), 1);
}

bool RetryBudget::is_current(const Cell& cell) const {
  return cell.slot_width.load(std::memory_order_acquire) == slot_width().count();
}

std::uint64_t RetryBudget::sum(Credits Cell::*ring, std::int64_t current) const {
  std::uint64_t total = 0;
  for (const Cell& cell : cells_) {
    if (is_current(cell)) total += (cell.*ring).sum(current);
  }
  return total;
}

std::int64_t RetryBudget::newest(Credits Cell::*ring) const {
  std::int64_t slot = -1;
  for (const Cell& cell : cells_) {
    if (is_current(cell)) slot = std::max(slot, (cell.*ring).newest());
  }
  return slot;
}

// Workers read their clocks at different moments; the window ends at the latest that any has seen.
std::int64_t RetryBudget::window_slot(TimePoint now) const {
  return std::max({slot_at(now, slot_width()), window_.newest(), newest(&Cell::originals),
                   newest(&Cell::successes)});
}

std::int64_t RetryBudget::rate_slot(TimePoint now) const {
  return std::max(slot_at(now, kRateSlotWidth), rate_.newest());
}

std::variant<RetryTicket, BudgetPart> RetryBudget::try_retry(RetryCause cause, TimePoint now) {
  std::lock_guard lock(mu_);
  const std::uint32_t cost = cost_of(cause);
  if (const auto part = refusing_part(cost, now)) return *part;
  const std::int64_t current = window_slot(now);
  dry_spell_.on_retry(current, newest(&Cell::successes));
  active_retries_.fetch_add(1, std::memory_order_relaxed);
  return RetryTicket(this,
                     Charge{cost, window_.add(current, cost), rate_.add(rate_slot(now), cost)});
}

bool RetryBudget::would_refuse(TimePoint now) const {
  const std::lock_guard lock(mu_);
  return refusing_part(cost_of(RetryCause::kFailure), now).has_value();
}

std::optional<BudgetPart> RetryBudget::refusing_part(std::uint32_t cost, TimePoint now) const {
  if (rules_.disabled) return std::nullopt;
  if (!concurrency_allows()) return BudgetPart::kConcurrency;
  if (!window_allows(cost, window_slot(now))) return BudgetPart::kWindow;
  if (!rate_allows(cost, rate_slot(now))) return BudgetPart::kRate;
  return std::nullopt;
}

std::uint32_t RetryBudget::cost_of(RetryCause cause) const {
  const config::BudgetWindow window = rules_.window.value_or(config::BudgetWindow{});
  switch (cause) {
    case RetryCause::kFailure: return 1;
    case RetryCause::kTimeout: return window.timeout_cost;
    case RetryCause::kUnprocessed: return window.unprocessed_cost;
  }
  return 1;
}

bool RetryBudget::concurrency_allows() const {
  if (!rules_.concurrency) return true;
  const std::uint64_t least = rules_.concurrency->min_retry_concurrency;
  return active_retries() < std::max(share(rules_.concurrency->percent, active_originals()), least);
}

bool RetryBudget::window_allows(std::uint32_t cost, std::int64_t current) const {
  if (!rules_.window) return true;
  std::uint64_t floor = rules_.window->min_retries;
  if (dry_spell_.lasts(current, newest(&Cell::successes)))
    floor = std::min<std::uint64_t>(floor, 1);
  const std::uint64_t earned = share(rules_.window->ratio_percent, credits_at(current));
  return window_.sum(current) + cost <= std::max(floor, earned);
}

bool RetryBudget::rate_allows(std::uint32_t cost, std::int64_t current) const {
  return !rules_.max_retries_per_second ||
         rate_.sum(current) + cost <= *rules_.max_retries_per_second;
}

void RetryBudget::give_back(const Charge& charge) {
  std::lock_guard lock(mu_);
  window_.take_back(charge.window_slot, charge.cost);
  rate_.take_back(charge.rate_slot, charge.cost);
}

void RetryBudget::reconfigure(const config::Thresholds& thresholds) {
  std::lock_guard lock(mu_);
  rules_ = rules_of(thresholds);
  const Duration before = slot_width();
  const Duration width = slot_width_of(rules_, kSlots);
  if (width == before) return;
  // What was charged is not forgotten; it stands where the latest charge stood.
  const std::int64_t newest = window_.newest();
  const std::uint64_t charged = window_.sum(newest);
  window_.clear();
  if (newest >= 0) window_.add(newest * before / width, static_cast<std::uint32_t>(charged));
  dry_spell_ = {};
  slot_width_.store(width.count(), std::memory_order_relaxed);
}

std::uint64_t RetryBudget::active_originals() const {
  std::uint64_t total = 0;
  for (const Cell& cell : cells_) total += cell.active.load(std::memory_order_relaxed);
  return total;
}

std::uint64_t RetryBudget::credits_at(std::int64_t current) const {
  const auto credit = rules_.window.value_or(config::BudgetWindow{}).credit;
  const bool successes = credit == config::BudgetWindow::Credit::kSuccesses;
  return sum(successes ? &Cell::successes : &Cell::originals, current);
}

std::uint64_t RetryBudget::charged(TimePoint now) const {
  std::lock_guard lock(mu_);
  return window_.sum(window_slot(now));
}

std::uint64_t RetryBudget::credits(TimePoint now) const {
  std::lock_guard lock(mu_);
  return credits_at(window_slot(now));
}

bool RetryBudget::DrySpell::broken(std::int64_t current, std::int64_t last_success) const {
  constexpr std::int64_t kTwoIntervals = 2 * kSlots;
  return !since || last_success >= *since || current - last_retry >= kTwoIntervals;
}

bool RetryBudget::DrySpell::lasts(std::int64_t current, std::int64_t last_success) const {
  constexpr std::int64_t kInterval = kSlots;
  return !broken(current, last_success) && current - *since > kInterval;
}

void RetryBudget::DrySpell::on_retry(std::int64_t current, std::int64_t last_success) {
  if (broken(current, last_success)) since = current;
  last_retry = current;
}

}  // namespace damper::upstream
