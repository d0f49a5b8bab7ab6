#include "filters/deadline/learned_cost.h"

#include <gtest/gtest.h>

namespace damper::deadline {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1h};

TEST(LearnedCost, IsTheFifthPercentileAtRestAndTheNinetiethInAQueue) {
  LearnedCost cost;
  for (int ms = 1; ms <= 100; ++ms) cost.operation("stock", "GET").add(ms * 1ms, kStart);
  const auto known = cost.operation("stock", "GET").cost(kStart);
  ASSERT_TRUE(known);
  EXPECT_NEAR(static_cast<double>(milliseconds(known->at_rest)), 5, 1);
  EXPECT_NEAR(static_cast<double>(milliseconds(known->queued)), 90, 6);
}

TEST(LearnedCost, NeedsTwentySamplesOfTheSameOperation) {
  LearnedCost cost;
  for (int i = 0; i < 19; ++i) cost.operation("stock", "GET").add(10ms, kStart);
  cost.operation("stock", "PUT").add(10ms, kStart);
  cost.operation("order", "GET").add(10ms, kStart);
  EXPECT_FALSE(cost.operation("stock", "GET").cost(kStart));
  cost.operation("stock", "GET").add(10ms, kStart);
  EXPECT_TRUE(cost.operation("stock", "GET").cost(kStart + 1s));
  EXPECT_FALSE(cost.operation("stock", "GET").cost(kStart + 1min));
}

TEST(LearnedCost, From1000OperationsOnTheRestShareOne) {
  LearnedCost cost;
  for (int i = 0; i < 1'000; ++i)
    cost.operation("r", "/operation/" + std::to_string(i)).add(1ms, kStart);
  for (int i = 0; i < 20; ++i) cost.operation("r", "/late/" + std::to_string(i)).add(1ms, kStart);
  EXPECT_TRUE(cost.operation("r", "/later/still").cost(kStart + 1s));
  EXPECT_FALSE(cost.operation("r", "/operation/0").cost(kStart + 1s));
}

}  // namespace
}  // namespace damper::deadline
