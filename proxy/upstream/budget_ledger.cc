#include "upstream/budget_ledger.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace damper::upstream {
namespace {

constexpr std::int64_t kRateSlots = 10;
constexpr Duration kRateSlotWidth = Duration(std::chrono::seconds(1)) / kRateSlots;
constexpr std::size_t kMostScopes = 256;
constexpr std::int64_t kToken = 1000;
constexpr double kPartsPerPercent = 10'000;  // of a million

Duration slot_width_of(const config::RetryBudget& rules, std::size_t slots) {
  const Duration interval = rules.window.value_or(config::BudgetWindow{}).interval;
  return std::max(interval / static_cast<Duration::rep>(slots), Duration(1));
}

std::int64_t slot_at(TimePoint now, Duration width) { return now.time_since_epoch() / width; }

// ⌊percent of n⌋. In whole parts per million, because 0.1 · 10 must be 1 and not a little less.
std::uint64_t share(double percent, std::uint64_t n) {
  return n * static_cast<std::uint64_t>(std::llround(percent * kPartsPerPercent)) / 1'000'000;
}

}  // namespace

BudgetLedger::Ticket::~Ticket() {
  if (!ledger_) return;
  if (charge_) ledger_->give_back(*scope_, *charge_);
  ledger_->retry_ended(*scope_);
}

BudgetLedger::BudgetLedger(config::RetryBudget rules, unsigned workers)
    : workers_(workers),
      whole_(std::make_unique<Scope>(workers)),
      known_(workers),
      scope_kind_(rules.scope),
      slot_width_(slot_width_of(rules, kSlots).count()),
      rules_(std::move(rules)) {
  bucket_.set(rules_.throttle);
}

// --- Scopes --------------------------------------------------------------------------------------

BudgetLedger::Scope& BudgetLedger::scope(unsigned worker, std::string_view route,
                                         std::string_view operation) {
  if (scope_kind_.load(std::memory_order_relaxed) == config::RetryBudget::Scope::kCluster) {
    return *whole_;
  }
  DAMPER_CHECK(worker < known_.size());
  const std::string name = scope_name(route, operation);
  auto& known = known_[worker];
  if (const auto at = known.find(name); at != known.end()) return *at->second;
  Scope& found = find_scope(name);
  if (known.size() < kMostScopes) known.emplace(name, &found);
  return found;
}

std::string BudgetLedger::scope_name(std::string_view route, std::string_view operation) const {
  std::string name(route);
  if (scope_kind_.load(std::memory_order_relaxed) == config::RetryBudget::Scope::kOperation) {
    name += '\n';
    name += operation;
  }
  return name;
}

// Over the limit of scopes the rest share one: nobody can grow the table by inventing operations.
BudgetLedger::Scope& BudgetLedger::find_scope(const std::string& name) {
  const std::lock_guard lock(mu_);
  if (const auto at = scopes_.find(name); at != scopes_.end()) return *at->second;
  const std::string key = scopes_.size() + 1 < kMostScopes ? name : "\n\n";
  auto& scope = scopes_[key];
  if (!scope) scope = std::make_unique<Scope>(workers_);
  return *scope;
}

// --- What workers count --------------------------------------------------------------------------

// What happens in a scope happens in the whole as well.
template <class Count>
void BudgetLedger::count_in(Scope& scope, Count count) {
  count(scope);
  if (&scope != whole_.get()) count(*whole_);
}

BudgetLedger::Cell& BudgetLedger::cell_of(Scope& scope, unsigned worker) {
  DAMPER_CHECK(worker < scope.cells_.size());
  return scope.cells_[worker];
}

void BudgetLedger::original_started(Scope& scope, unsigned worker, TimePoint now) {
  count_in(scope, [&](Scope& s) {
    Cell& cell = cell_of(s, worker);
    cell.active.store(cell.active.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    count(cell, &Cell::originals, now);
  });
}

void BudgetLedger::original_ended(Scope& scope, unsigned worker) {
  count_in(scope, [&](Scope& s) {
    Cell& cell = cell_of(s, worker);
    cell.active.store(cell.active.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  });
}

void BudgetLedger::success(Scope& scope, unsigned worker, TimePoint now) {
  count_in(scope, [&](Scope& s) { count(cell_of(s, worker), &Cell::successes, now); });
  bucket_.add(bucket_.per_success.load(std::memory_order_relaxed));
}

void BudgetLedger::failure(RetryCause cause) {
  if (bucket_.most.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mu_);
  bucket_.add(-kToken * (cause == RetryCause::kTimeout ? cost_of(cause) : 1));
}

// Slots of another width mean other times, so a new width empties the cell. Only its own worker may
// do that; until then readers pass the cell over.
void BudgetLedger::count(Cell& cell, Credits Cell::*ring, TimePoint now) {
  const Duration width = slot_width();
  if (cell.slot_width.load(std::memory_order_relaxed) != width.count()) {
    cell.originals.clear();
    cell.successes.clear();
    cell.slot_width.store(width.count(), std::memory_order_release);
  }
  (cell.*ring).add(slot_at(now, width), 1);
}

bool BudgetLedger::is_current(const Cell& cell) const {
  return cell.slot_width.load(std::memory_order_acquire) == slot_width().count();
}

std::uint64_t BudgetLedger::sum(const Scope& scope, Credits Cell::*ring,
                                std::int64_t current) const {
  std::uint64_t total = 0;
  for (const Cell& cell : scope.cells_) {
    if (is_current(cell)) total += (cell.*ring).sum(current);
  }
  return total;
}

std::int64_t BudgetLedger::newest(Credits Cell::*ring) const {
  std::int64_t slot = -1;
  for (const Cell& cell : whole_->cells_) {
    if (is_current(cell)) slot = std::max(slot, (cell.*ring).newest());
  }
  return slot;
}

// Workers read their clocks at different moments; the window ends at the latest that any has seen.
std::int64_t BudgetLedger::window_slot(TimePoint now) const {
  return std::max({slot_at(now, slot_width()), whole_->window_.newest(), newest(&Cell::originals),
                   newest(&Cell::successes)});
}

std::int64_t BudgetLedger::rate_slot(TimePoint now) const {
  return std::max(slot_at(now, kRateSlotWidth), rate_.newest());
}

// --- The rules -----------------------------------------------------------------------------------

std::variant<BudgetLedger::Ticket, BudgetPart> BudgetLedger::try_retry(Scope& scope,
                                                                       RetryCause cause,
                                                                       TimePoint now) {
  const std::lock_guard lock(mu_);
  if (const auto part = refusing_part(scope, cause, now)) return *part;
  const std::int64_t current = window_slot(now);
  dry_spell_.on_retry(current, newest(&Cell::successes));
  const std::uint32_t cost = cost_of(cause);
  Charge charge{cost, cause == RetryCause::kHedge, 0, rate_.add(rate_slot(now), cost)};
  count_in(scope, [&](Scope& s) {
    s.active_retries_.fetch_add(1, std::memory_order_relaxed);
    charge.window_slot = s.window_.add(current, cost);
    if (charge.is_hedge) s.hedges_.add(current, cost);
  });
  return Ticket(this, &scope, charge);
}

bool BudgetLedger::would_refuse(TimePoint now) const {
  const std::lock_guard lock(mu_);
  return refusing_part(*whole_, RetryCause::kFailure, now).has_value();
}

std::optional<BudgetPart> BudgetLedger::refusing_part(const Scope& scope, RetryCause cause,
                                                      TimePoint now) const {
  const bool overridden = ratio_override_.load(std::memory_order_relaxed) >= 0;
  if (rules_.disabled && !overridden) return std::nullopt;
  if (!concurrency_allows(scope)) return BudgetPart::kConcurrency;
  if (!window_allows(scope, cause, window_slot(now))) return BudgetPart::kWindow;
  if (!rate_allows(cost_of(cause), rate_slot(now))) return BudgetPart::kRate;
  if (!bucket_.allows()) return BudgetPart::kThrottle;
  return std::nullopt;
}

std::uint32_t BudgetLedger::cost_of(RetryCause cause) const {
  const config::BudgetWindow window = rules_.window.value_or(config::BudgetWindow{});
  switch (cause) {
    case RetryCause::kHedge:
    case RetryCause::kFailure: return 1;
    case RetryCause::kTimeout: return window.timeout_cost;
    case RetryCause::kUnprocessed: return window.unprocessed_cost;
  }
  return 1;
}

// A scope has a share of its own; beyond it the floor lets retries in, for all scopes together.
bool BudgetLedger::concurrency_allows(const Scope& scope) const {
  if (!rules_.concurrency) return true;
  return scope.active_retries() < share(rules_.concurrency->percent, scope.active_originals()) ||
         whole_->active_retries() < rules_.concurrency->min_retry_concurrency;
}

std::optional<config::BudgetWindow> BudgetLedger::window_rule() const {
  std::optional<config::BudgetWindow> rule = rules_.window;
  const std::int64_t millionths = ratio_override_.load(std::memory_order_relaxed);
  if (millionths >= 0) {
    if (!rule) rule.emplace();
    rule->ratio_percent = static_cast<double>(millionths) / kPartsPerPercent;
  }
  return rule;
}

bool BudgetLedger::window_allows(const Scope& scope, RetryCause cause, std::int64_t current) const {
  const auto rule = window_rule();
  if (!rule) return true;
  std::uint64_t floor = rule->min_retries;
  if (dry_spell_.lasts(current, newest(&Cell::successes)))
    floor = std::min<std::uint64_t>(floor, 1);
  const std::uint64_t earned = share(rule->ratio_percent, credits_at(scope, current));
  const std::uint32_t cost = cost_of(cause);
  const auto fits = [&](const Scope& s, std::uint64_t most) {
    const bool half = cause != RetryCause::kHedge || 2 * (s.hedges_.sum(current) + cost) <= most;
    return half && s.window_.sum(current) + cost <= most;
  };
  return fits(scope, earned) || fits(*whole_, floor);
}

bool BudgetLedger::rate_allows(std::uint32_t cost, std::int64_t current) const {
  return !rules_.max_retries_per_second ||
         rate_.sum(current) + cost <= *rules_.max_retries_per_second;
}

void BudgetLedger::retry_ended(Scope& scope) {
  count_in(scope, [](Scope& s) { s.active_retries_.fetch_sub(1, std::memory_order_relaxed); });
}

void BudgetLedger::give_back(Scope& scope, const Charge& charge) {
  const std::lock_guard lock(mu_);
  rate_.take_back(charge.rate_slot, charge.cost);
  count_in(scope, [&charge](Scope& s) {
    s.window_.take_back(charge.window_slot, charge.cost);
    if (charge.is_hedge) s.hedges_.take_back(charge.window_slot, charge.cost);
  });
}

void BudgetLedger::override_ratio(std::optional<double> percent) {
  ratio_override_.store(percent ? std::llround(*percent * kPartsPerPercent) : -1,
                        std::memory_order_relaxed);
}

void BudgetLedger::reconfigure(config::RetryBudget rules) {
  const std::lock_guard lock(mu_);
  if (rules.throttle != rules_.throttle) bucket_.set(rules.throttle);
  rules_ = std::move(rules);
  scope_kind_.store(rules_.scope, std::memory_order_relaxed);
  const Duration before = slot_width();
  const Duration width = slot_width_of(rules_, kSlots);
  if (width == before) return;
  // What was charged is not forgotten; it stands where the latest charge stood.
  const auto move = [&](Charges& charges) {
    const std::int64_t newest = charges.newest();
    const std::uint64_t charged = charges.sum(newest);
    charges.clear();
    if (newest >= 0) charges.add(newest * before / width, static_cast<std::uint32_t>(charged));
  };
  move(whole_->window_);
  move(whole_->hedges_);
  for (auto& [name, scope] : scopes_) {
    move(scope->window_);
    move(scope->hedges_);
  }
  dry_spell_ = {};
  slot_width_.store(width.count(), std::memory_order_relaxed);
}

// --- What is shown -------------------------------------------------------------------------------

std::uint64_t BudgetLedger::Scope::active_originals() const {
  std::uint64_t total = 0;
  for (const Cell& cell : cells_) total += cell.active.load(std::memory_order_relaxed);
  return total;
}

std::uint64_t BudgetLedger::active_originals() const { return whole_->active_originals(); }

std::uint64_t BudgetLedger::active_retries() const { return whole_->active_retries(); }

std::uint64_t BudgetLedger::credits_at(const Scope& scope, std::int64_t current) const {
  const auto credit = window_rule().value_or(config::BudgetWindow{}).credit;
  const bool successes = credit == config::BudgetWindow::Credit::kSuccesses;
  return sum(scope, successes ? &Cell::successes : &Cell::originals, current);
}

std::uint64_t BudgetLedger::charged(TimePoint now) const {
  const std::lock_guard lock(mu_);
  return whole_->window_.sum(window_slot(now));
}

std::uint64_t BudgetLedger::credits(TimePoint now) const {
  const std::lock_guard lock(mu_);
  return credits_at(*whole_, window_slot(now));
}

// --- Dry spells ----------------------------------------------------------------------------------

bool BudgetLedger::DrySpell::broken(std::int64_t current, std::int64_t last_success) const {
  constexpr std::int64_t kTwoIntervals = 2 * kSlots;
  return !since || last_success >= *since || current - last_retry >= kTwoIntervals;
}

bool BudgetLedger::DrySpell::lasts(std::int64_t current, std::int64_t last_success) const {
  constexpr std::int64_t kInterval = kSlots;
  return !broken(current, last_success) && current - *since > kInterval;
}

void BudgetLedger::DrySpell::on_retry(std::int64_t current, std::int64_t last_success) {
  if (broken(current, last_success)) since = current;
  last_retry = current;
}

// --- The token bucket ----------------------------------------------------------------------------

void BudgetLedger::Bucket::set(const std::optional<config::BudgetThrottle>& rules) {
  const std::int64_t full = rules ? kToken * rules->max_tokens : 0;
  per_success.store(rules ? std::llround(rules->token_ratio * kToken) : 0);
  tokens.store(full);
  most.store(full);
}

void BudgetLedger::Bucket::add(std::int64_t thousandths) {
  const std::int64_t full = most.load(std::memory_order_relaxed);
  std::int64_t before = tokens.load(std::memory_order_relaxed);
  std::int64_t after = 0;
  do {
    after = std::clamp<std::int64_t>(before + thousandths, 0, full);
    if (after == before) return;  // a full bucket costs a success no write
  } while (!tokens.compare_exchange_weak(before, after, std::memory_order_relaxed));
}

bool BudgetLedger::Bucket::allows() const {
  const std::int64_t full = most.load(std::memory_order_relaxed);
  return full == 0 || 2 * tokens.load(std::memory_order_relaxed) > full;
}

}  // namespace damper::upstream
