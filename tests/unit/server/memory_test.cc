#include "server/memory.h"

#include <gtest/gtest.h>

namespace damper::server {
namespace {

TEST(Memory, PressureRisesAtThreeQuartersAndAtNineTenths) {
  constexpr std::uint64_t kLimit = 1000;
  EXPECT_EQ(pressure_of(0, kLimit), MemoryPressure::kNone);
  EXPECT_EQ(pressure_of(749, kLimit), MemoryPressure::kNone);
  EXPECT_EQ(pressure_of(750, kLimit), MemoryPressure::kHigh);
  EXPECT_EQ(pressure_of(899, kLimit), MemoryPressure::kHigh);
  EXPECT_EQ(pressure_of(900, kLimit), MemoryPressure::kCritical);
  EXPECT_EQ(pressure_of(5000, kLimit), MemoryPressure::kCritical);
}

TEST(Memory, AProcessKnowsItsSizeAndItsCores) {
  EXPECT_GT(resident_bytes(), 100'000u);
  EXPECT_GE(available_cores(), 1u);
}

}  // namespace
}  // namespace damper::server
