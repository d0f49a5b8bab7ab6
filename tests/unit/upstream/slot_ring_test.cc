#include "upstream/slot_ring.h"

#include <gtest/gtest.h>

namespace damper::upstream {
namespace {

TEST(SlotRing, SumsTheCurrentSlotAndThoseBeforeIt) {
  SlotRing<3> ring;
  ring.add(10, 1);
  ring.add(11, 2);
  ring.add(12, 4);
  EXPECT_EQ(ring.sum(12), 7u);
  EXPECT_EQ(ring.sum(13), 6u);
  EXPECT_EQ(ring.sum(14), 4u);
  EXPECT_EQ(ring.sum(15), 0u);
}

TEST(SlotRing, ANewSlotTakesThePlaceOfOneThatIsForgotten) {
  SlotRing<3> ring;
  ring.add(10, 5);
  ring.add(13, 1);
  EXPECT_EQ(ring.sum(13), 1u);
}

TEST(SlotRing, AnOlderSlotCountsAsTheNewest) {
  SlotRing<3> ring;
  EXPECT_EQ(ring.newest(), -1);
  EXPECT_EQ(ring.add(10, 1), 10);
  EXPECT_EQ(ring.add(8, 1), 10);
  EXPECT_EQ(ring.newest(), 10);
  EXPECT_EQ(ring.sum(12), 2u);
}

TEST(SlotRing, WhatIsTakenBackMustStillBeRemembered) {
  SlotRing<3> ring;
  ring.add(10, 3);
  ring.take_back(10, 2);
  EXPECT_EQ(ring.sum(10), 1u);
  ring.add(13, 1);
  ring.take_back(10, 1);
  EXPECT_EQ(ring.sum(13), 1u);
}

}  // namespace
}  // namespace damper::upstream
