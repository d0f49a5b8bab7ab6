#include "filters/retry/verdict.h"

#include <gtest/gtest.h>

namespace damper::retry {
namespace {

TEST(Verdict, WordsAreTheLabelsThatOperatorsKnow) {
  constexpr std::string_view kWords[] = {"",
                                         "response_started",
                                         "not_retriable",
                                         "marked",
                                         "not_idempotent",
                                         "body_lost",
                                         "limit",
                                         "deadline",
                                         "live_off",
                                         "breaker_open",
                                         "budget_concurrency",
                                         "budget_window",
                                         "budget_rate",
                                         "budget_throttle"};
  for (std::size_t i = 0; i < std::size(kWords); ++i) {
    EXPECT_EQ(word(static_cast<Verdict>(i)), kWords[i]);
  }
}

}  // namespace
}  // namespace damper::retry
