#include "upstream/retry_budget.h"

namespace damper::upstream {
namespace {

using Mode = config::RetryBudget::Mode;

config::RetryBudget none() { return {.disabled = true}; }

config::RetryBudget written_rules(const config::Thresholds& thresholds) {
  if (thresholds.retry_budget) {
    config::RetryBudget rules = *thresholds.retry_budget;
    // `retry_budget: {}`, as in Envoy
    if (!rules.has_parts() && !rules.disabled) rules.concurrency.emplace();
    return rules;
  }
  if (thresholds.max_retries) {
    return {.concurrency = config::BudgetConcurrency{
                .percent = 0, .min_retry_concurrency = *thresholds.max_retries}};
  }
  return config::RetryBudget::standard();
}

config::RetryBudget shadow_rules(const config::Thresholds& thresholds) {
  config::RetryBudget rules = written_rules(thresholds);
  if (rules.mode == Mode::kShadow) return rules;
  return rules.candidate.empty() ? none() : rules.candidate.front();
}

}  // namespace

config::RetryBudget enforced_rules(const config::Thresholds& thresholds) {
  config::RetryBudget rules = written_rules(thresholds);
  return rules.mode == Mode::kEnforce ? rules : none();
}

void RetryTicket::attempt_started() {
  live_.attempt_started();
  if (shadow_) shadow_->attempt_started();
}

RetryBudget::RetryBudget(const config::Thresholds& thresholds, unsigned workers)
    : live_(enforced_rules(thresholds), workers),
      shadow_(shadow_rules(thresholds), workers),
      has_shadow_(!shadow_rules(thresholds).disabled) {}

void RetryBudget::reconfigure(const config::Thresholds& thresholds) {
  live_.reconfigure(enforced_rules(thresholds));
  shadow_.reconfigure(shadow_rules(thresholds));
  has_shadow_.store(!shadow_rules(thresholds).disabled, std::memory_order_relaxed);
}

RetryBudget::Scope RetryBudget::scope(unsigned worker, std::string_view route,
                                      std::string_view operation) {
  Scope out{.live = &live_.scope(worker, route, operation)};
  if (has_shadow_.load(std::memory_order_relaxed)) {
    out.shadow = &shadow_.scope(worker, route, operation);
  }
  return out;
}

void RetryBudget::original_started(const Scope& scope, unsigned worker, TimePoint now) {
  live_.original_started(*scope.live, worker, now);
  if (scope.shadow) shadow_.original_started(*scope.shadow, worker, now);
}

void RetryBudget::original_ended(const Scope& scope, unsigned worker) {
  live_.original_ended(*scope.live, worker);
  if (scope.shadow) shadow_.original_ended(*scope.shadow, worker);
}

void RetryBudget::success(const Scope& scope, unsigned worker, TimePoint now) {
  live_.success(*scope.live, worker, now);
  if (scope.shadow) shadow_.success(*scope.shadow, worker, now);
}

void RetryBudget::failure(RetryCause cause) {
  live_.failure(cause);
  if (has_shadow_.load(std::memory_order_relaxed)) shadow_.failure(cause);
}

// The shadow is asked whatever the live rules say: it has to tell what it would have done in their
// place. What it would have let in against them stays charged, as if the attempt had been made.
BudgetAnswer RetryBudget::try_retry(const Scope& scope, RetryCause cause, bool judge_shadow,
                                    TimePoint now) {
  std::optional<BudgetLedger::Ticket> shadow;
  std::optional<BudgetPart> shadow_refusal;
  if (scope.shadow && judge_shadow) {
    auto tried = shadow_.try_retry(*scope.shadow, cause, now);
    if (auto* ticket = std::get_if<BudgetLedger::Ticket>(&tried)) {
      shadow.emplace(std::move(*ticket));
    } else {
      shadow_refusal = std::get<BudgetPart>(tried);
    }
  }
  auto decided = live_.try_retry(*scope.live, cause, now);
  if (const auto* part = std::get_if<BudgetPart>(&decided)) {
    if (shadow) shadow->attempt_started();
    return {*part, shadow_refusal};
  }
  RetryTicket ticket(std::get<BudgetLedger::Ticket>(std::move(decided)));
  ticket.shadow_ = std::move(shadow);
  return {std::move(ticket), shadow_refusal};
}

std::variant<RetryTicket, BudgetPart> BudgetAccount::try_retry(RetryCause cause, TimePoint now) {
  BudgetAnswer answer = budget_.try_retry(scope_, cause, !shadow_refusal_, now);
  if (answer.shadow_refusal) shadow_refusal_ = answer.shadow_refusal;
  return std::move(answer.verdict);
}

}  // namespace damper::upstream
