#include "upstream/retry_budget.h"

#include <gtest/gtest.h>

namespace damper::upstream {
namespace {

using config::BudgetWindow;

constexpr TimePoint kStart{std::chrono::hours(1)};
constexpr auto kShadow = config::RetryBudget::Mode::kShadow;

config::RetryBudget at_most(std::uint32_t retries) {
  return {.window = BudgetWindow{.ratio_percent = 0, .min_retries = retries}};
}

// Requests that fail once and would be retried once.
struct Cluster {
  explicit Cluster(config::RetryBudget rules)
      : budget(config::Thresholds{.retry_budget = std::move(rules)}, 1) {}

  void fail(int requests) {
    for (int i = 0; i < requests; ++i) {
      BudgetAccount account(budget, 0, "route", "GET", kStart);
      auto answer = account.try_retry(RetryCause::kFailure, kStart);
      if (auto* ticket = std::get_if<RetryTicket>(&answer)) {
        ticket->attempt_started();
        ++retried;
      }
      shadow_refused += account.shadow_refusal().has_value();
    }
  }

  RetryBudget budget;
  int retried = 0;
  int shadow_refused = 0;
};

TEST(RetryBudget, AShadowCountsAndRefusesNothing) {
  config::RetryBudget rules = at_most(3);
  rules.mode = kShadow;
  Cluster c(rules);
  c.fail(10);
  EXPECT_EQ(c.retried, 10);
  EXPECT_EQ(c.shadow_refused, 7);
}

TEST(RetryBudget, ACandidateTellsWhatItWouldDoInTheOthersPlace) {
  for (const auto& [live, candidate] : {std::pair{3u, 6u}, {6u, 3u}, {3u, 3u}, {0u, 10u}}) {
    config::RetryBudget rules = at_most(live);
    rules.candidate.push_back(at_most(candidate));
    Cluster c(rules);
    c.fail(10);
    EXPECT_EQ(c.retried, static_cast<int>(live));
    EXPECT_EQ(c.shadow_refused, 10 - static_cast<int>(candidate));
  }
}

TEST(RetryBudget, ARequestThatTheShadowHasRefusedIsNotJudgedAgain) {
  config::RetryBudget rules = at_most(100);
  rules.candidate.push_back(
      {.window = BudgetWindow{.ratio_percent = 0, .min_retries = 2, .timeout_cost = 3}});
  RetryBudget budget(config::Thresholds{.retry_budget = rules}, 1);
  BudgetAccount first(budget, 0, "route", "GET", kStart);
  EXPECT_TRUE(std::holds_alternative<RetryTicket>(first.try_retry(RetryCause::kTimeout, kStart)));
  EXPECT_EQ(first.shadow_refusal(), BudgetPart::kWindow);
  // Cheap enough, but nobody knows whether this attempt would have been made at all.
  auto again = first.try_retry(RetryCause::kFailure, kStart);
  std::get<RetryTicket>(again).attempt_started();
  BudgetAccount second(budget, 0, "route", "GET", kStart);
  for (int i = 0; i < 2; ++i) {
    auto answer = second.try_retry(RetryCause::kFailure, kStart);
    std::get<RetryTicket>(answer).attempt_started();
  }
  EXPECT_EQ(second.shadow_refusal(), std::nullopt);
}

TEST(RetryBudget, WhatACancelledWaitGivesBackTheShadowGetsToo) {
  config::RetryBudget rules = at_most(100);
  rules.candidate.push_back(at_most(1));
  RetryBudget budget(config::Thresholds{.retry_budget = rules}, 1);
  for (int i = 0; i < 5; ++i) {
    BudgetAccount account(budget, 0, "route", "GET", kStart);
    const auto dropped = account.try_retry(RetryCause::kFailure, kStart);
    EXPECT_EQ(account.shadow_refusal(), std::nullopt) << i;
  }
}

TEST(RetryBudget, AShadowMayComeAndGoWhileRequestsRun) {
  RetryBudget budget(config::Thresholds{.retry_budget = at_most(1)}, 1);
  config::RetryBudget with_candidate = at_most(1);
  with_candidate.candidate.push_back(at_most(0));
  BudgetAccount before(budget, 0, "route", "GET", kStart);
  budget.reconfigure({.retry_budget = with_candidate});
  BudgetAccount between(budget, 0, "route", "GET", kStart);
  budget.reconfigure({.retry_budget = at_most(1)});
  for (BudgetAccount* account : {&before, &between}) {
    const auto dropped = account->try_retry(RetryCause::kFailure, kStart);
    EXPECT_TRUE(std::holds_alternative<RetryTicket>(dropped));
  }
  EXPECT_EQ(before.shadow_refusal(), std::nullopt);
  EXPECT_EQ(budget.live().active_originals(), 2u);
}

}  // namespace
}  // namespace damper::upstream
