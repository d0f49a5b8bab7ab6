#include "filters/deadline/learned_cost.h"

#include <gtest/gtest.h>

namespace damper::deadline {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1h};

TEST(LearnedCost, IsTheFifthPercentileAtRestAndTheNinetiethInAQueue) {
  LearnedCost cost;
  for (int ms = 1; ms <= 100; ++ms) cost.add("stock", "GET", ms * 1ms, kStart);
  const auto known = cost.of("stock", "GET", kStart);
  ASSERT_TRUE(known);
  EXPECT_NEAR(static_cast<double>(milliseconds(known->at_rest)), 5, 1);
  EXPECT_NEAR(static_cast<double>(milliseconds(known->queued)), 90, 6);
}

TEST(LearnedCost, NeedsTwentySamplesOfTheSameOperation) {
  LearnedCost cost;
  for (int i = 0; i < 19; ++i) cost.add("stock", "GET", 10ms, kStart);
  cost.add("stock", "PUT", 10ms, kStart);
  cost.add("order", "GET", 10ms, kStart);
  EXPECT_FALSE(cost.of("stock", "GET", kStart));
  cost.add("stock", "GET", 10ms, kStart);
  EXPECT_TRUE(cost.of("stock", "GET", kStart + 1s));
  EXPECT_FALSE(cost.of("stock", "GET", kStart + 1min));
}

TEST(LearnedCost, From1000OperationsOnTheRestShareOne) {
  LearnedCost cost;
  for (int i = 0; i < 1'000; ++i) cost.add("r", "/operation/" + std::to_string(i), 1ms, kStart);
  for (int i = 0; i < 20; ++i) cost.add("r", "/late/" + std::to_string(i), 1ms, kStart);
  EXPECT_TRUE(cost.of("r", "/later/still", kStart + 1s));
  EXPECT_FALSE(cost.of("r", "/operation/0", kStart + 1s));
}

}  // namespace
}  // namespace damper::deadline
