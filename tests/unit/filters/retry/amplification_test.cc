// How often the last service of a chain is called when it fails every time: driver → A → B → C with
// a retrying hop before each, 100 requests within one window. Policies and budgets alone; no I/O.
#include <gtest/gtest.h>

#include "filters/retry/decision.h"
#include "filters/retry/marks.h"
#include "tests/support/outcomes.h"

namespace damper::retry {
namespace {

using namespace std::chrono_literals;

struct Hop {
  explicit Hop(const config::RetryBudget& rules)
      : budget(config::Thresholds{.retry_budget = rules}, 1) {}

  upstream::RetryBudget budget;
  std::uint32_t num_retries = 2;
};

class Chain {
 public:
  Chain(const config::RetryBudget& rules, bool heed_marks)
      : hops_{Hop(rules), Hop(rules), Hop(rules)}, heed_marks_(heed_marks) {}

  void only_the_entrance_retries() { hops_[1].num_retries = hops_[2].num_retries = 0; }

  int calls_of_the_last() {
    for (int request = 0; request < 100; ++request) {
      call(0);
      now_ += 80ms;
    }
    return calls_;
  }

 private:
  // Returns whether the failed answer carries the mark.
  bool call(std::size_t at) {
    if (at == std::size(hops_)) {
      ++calls_;
      return false;
    }
    Hop& hop = hops_[at];
    const config::RetryPolicy policy{.retry_on = tests::retry_on("5xx"),
                                     .num_retries = hop.num_retries};
    RetryState state(&policy, {.repeatable = true});
    upstream::BudgetAccount account(hop.budget, 0, "route", "GET", now_);
    while (true) {
      const bool marked = call(at + 1);
      const tests::Response answer(503, marked ? kMarked : tests::Response::Headers{});
      auto decision =
          state.on_outcome(answer.outcome(), {.heed_marks = heed_marks_}, account, now_, random_);
      if (const auto* refused = std::get_if<GiveUp>(&decision)) {
        return marked || marks_response(refused->verdict, policy.num_retries);
      }
      std::get<Retry>(decision).ticket.attempt_started();
    }
  }

  inline static const tests::Response::Headers kMarked{{"x-damper-retry", "final"}};

  Hop hops_[3];
  bool heed_marks_;
  TimePoint now_{1h};
  Random random_{11};
  int calls_ = 0;
};

const config::RetryBudget kDisabled{.disabled = true};
const config::RetryBudget kTenPercentOfRequests{
    .window =
        config::BudgetWindow{.min_retries = 0, .credit = config::BudgetWindow::Credit::kRequests}};

TEST(Amplification, ThreeLayersOfThreeAttemptsMultiply) {
  EXPECT_EQ(Chain(kDisabled, false).calls_of_the_last(), 2700);
}

TEST(Amplification, OneLayerOfThreeAttemptsIsThree) {
  Chain chain(kDisabled, false);
  chain.only_the_entrance_retries();
  EXPECT_EQ(chain.calls_of_the_last(), 300);
}

TEST(Amplification, ATenPercentWindowInEveryLayerIsOneAndAThird) {
  EXPECT_EQ(Chain(kTenPercentOfRequests, false).calls_of_the_last(), 133);
}

TEST(Amplification, MarksLeaveTheRetriesToTheNearestLayer) {
  EXPECT_EQ(Chain(kDisabled, true).calls_of_the_last(), 300);
}

TEST(Amplification, TheDefaultsAllowTheFloorOfOneWindow) {
  EXPECT_EQ(Chain(config::RetryBudget::standard(), true).calls_of_the_last(), 103);
}

}  // namespace
}  // namespace damper::retry
