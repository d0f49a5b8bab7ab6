#include "config/load/budget.h"

#include <gtest/gtest.h>

#include "tests/support/config_text.h"

namespace damper::config {
namespace {

TEST(RetryBudget, HasThePartsThatAreWritten) {
  const BudgetConcurrency standard;
  struct Case {
    const char* fields;
    std::optional<RetryBudget> budget;
  };
  const Case cases[] = {
      {"", std::nullopt},
      {"max_retries: 5", std::nullopt},
      {"retry_budget: {}", RetryBudget{.concurrency = standard}},
      {"retry_budget: { disabled: false }", RetryBudget{.concurrency = standard}},
      {"retry_budget: { budget_percent: 50 }",
       RetryBudget{.concurrency = BudgetConcurrency{50, 3}}},
      {"retry_budget: { min_retry_concurrency: 9 }",
       RetryBudget{.concurrency = BudgetConcurrency{20, 9}}},
      {"retry_budget: { window: {} }", RetryBudget{.window = BudgetWindow{}}},
      {"retry_budget: { max_retries_per_second: 7 }", RetryBudget{.max_retries_per_second = 7}},
      {"retry_budget: { throttle: {} }", RetryBudget{.throttle = BudgetThrottle{10, 0.1}}},
      {"retry_budget: { throttle: { max_tokens: 100, token_ratio: 0.5 }, scope: operation }",
       RetryBudget{.throttle = BudgetThrottle{100, 0.5}, .scope = RetryBudget::Scope::kOperation}},
      {"retry_budget: { window: {}, scope: route, mode: shadow }",
       RetryBudget{.window = BudgetWindow{},
                   .scope = RetryBudget::Scope::kRoute,
                   .mode = RetryBudget::Mode::kShadow}},
      {"retry_budget: { window: {}, candidate: { window: { ratio: 20% } } }",
       RetryBudget{.window = BudgetWindow{},
                   .candidate = {RetryBudget{.window = BudgetWindow{.ratio_percent = 20}}}}},
      {"retry_budget: { min_retry_concurrency: 3, window: {} }", RetryBudget::standard()},
      {"retry_budget: { disabled: true }", RetryBudget{.disabled = true}},
      {"retry_budget: { budget_interval: 0s }", RetryBudget{.concurrency = standard}},
      {"retry_budget: { budget_interval: 10ms, budget_percent: 5, min_retry_concurrency: 0 }",
       RetryBudget{.window = BudgetWindow{.interval = 10ms,
                                          .ratio_percent = 5,
                                          .min_retries = 0,
                                          .credit = BudgetWindow::Credit::kRequests}}},
      {"retry_budget: { window: { interval: 5s, ratio: 10%, min_retries: 0, credit: requests, "
       "timeout_cost: 1, unprocessed_cost: 2 } }",
       RetryBudget{.window = BudgetWindow{5s, 10, 0, BudgetWindow::Credit::kRequests, 1, 2}}},
  };
  for (const Case& c : cases)
    EXPECT_EQ(load_thresholds(c.fields).retry_budget, c.budget) << c.fields;
  EXPECT_EQ(load_thresholds("max_retries: 5").max_retries, 5u);
}

TEST(RetryBudget, PercentagesAndRatiosHaveSeveralForms) {
  for (const char* percent :
       {"20", "20.0", "20%", "\"20%\"", "{ value: 20 }", "{ value: 20.0 }", "2e1"}) {
    const auto budget =
        load_thresholds("retry_budget: { budget_percent: " + std::string(percent) + " }")
            .retry_budget;
    EXPECT_EQ(budget->concurrency->percent, 20) << percent;
  }
  const std::pair<const char*, double> ratios[] = {{"0.9", 90},   {"0.29", 29},         {"0.07", 7},
                                                   {"90%", 90},   {"1", 100},           {"0", 0},
                                                   {"0.5%", 0.5}, {"{ value: 15 }", 15}};
  for (const auto& [text, percent] : ratios) {
    const auto budget =
        load_thresholds("retry_budget: { window: { ratio: " + std::string(text) + " } }")
            .retry_budget;
    EXPECT_EQ(budget->window->ratio_percent, percent) << text;
  }
}

TEST(Thresholds, TheFirstOfAPriorityHolds) {
  EXPECT_EQ(load_thresholds("max_requests: 5 }, { max_requests: 6").max_requests, 5u);
}

}  // namespace
}  // namespace damper::config
