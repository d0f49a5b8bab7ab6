#include "filters/deadline/skew_guard.h"

#include <gtest/gtest.h>

namespace damper::deadline {
namespace {

TEST(SkewGuard, APeerIsBelievedUntilMoreThanHalfOfAHundredWerePast) {
  SkewGuard guard;
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(guard.believes("10.0.0.1", true)) << i;
  EXPECT_FALSE(guard.believes("10.0.0.1", true));
  EXPECT_TRUE(guard.believes("10.0.0.2", true));
}

TEST(SkewGuard, AClockThatWasSetRightIsBelievedAgain) {
  SkewGuard guard;
  for (int i = 0; i < 100; ++i) guard.believes("10.0.0.1", true);
  for (int i = 0; i < 49; ++i) EXPECT_FALSE(guard.believes("10.0.0.1", false)) << i;
  EXPECT_TRUE(guard.believes("10.0.0.1", false));
}

TEST(SkewGuard, APeerThatSaysNothingIsForgottenForANewOne) {
  SkewGuard guard;
  for (int i = 0; i < 60; ++i) guard.believes("old", true);
  for (int i = 0; i < 999; ++i) guard.believes("peer " + std::to_string(i), false);
  EXPECT_FALSE(guard.believes("old", true));  // still among the thousand
  for (int i = 0; i < 1000; ++i) guard.believes("other " + std::to_string(i), false);
  EXPECT_TRUE(guard.believes("old", true));
}

}  // namespace
}  // namespace damper::deadline
