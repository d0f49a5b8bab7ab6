#include "event/timer_heap.h"

#include <gtest/gtest.h>
#include <string>

namespace damper::event {
namespace {

using namespace std::chrono_literals;

// Timers that note their names.
struct Bench {
  TimerHeap heap;
  std::string fired;

  TimerHeap::Id add(char name) {
    return heap.add([this, name] { fired += name; });
  }
};

constexpr TimePoint kStart{};

TEST(TimerHeap, FiresWhatIsDueInOrderOfTime) {
  Bench bench;
  const std::pair<char, Duration> timers[] = {{'c', 3ms}, {'a', 1ms}, {'d', 4ms}, {'b', 2ms}};
  for (const auto& [name, due] : timers) bench.heap.arm(bench.add(name), kStart + due);
  EXPECT_EQ(bench.heap.next(), kStart + 1ms);
  bench.heap.fire_due(kStart + 1ms - 1ns);
  EXPECT_EQ(bench.fired, "");
  bench.heap.fire_due(kStart + 3ms);
  EXPECT_EQ(bench.fired, "abc");
  EXPECT_EQ(bench.heap.next(), kStart + 4ms);
}

TEST(TimerHeap, ATimerFiresOncePerArming) {
  Bench bench;
  const auto a = bench.add('a');
  EXPECT_FALSE(bench.heap.armed(a));
  bench.heap.arm(a, kStart);
  EXPECT_TRUE(bench.heap.armed(a));
  bench.heap.fire_due(kStart);
  bench.heap.fire_due(kStart);
  EXPECT_EQ(bench.fired, "a");
  EXPECT_FALSE(bench.heap.armed(a));
  EXPECT_EQ(bench.heap.next(), std::nullopt);
  bench.heap.arm(a, kStart);
  bench.heap.fire_due(kStart);
  EXPECT_EQ(bench.fired, "aa");
}

TEST(TimerHeap, ArmingAgainReplacesTheEarlierArming) {
  Bench bench;
  const auto a = bench.add('a');
  bench.heap.arm(a, kStart + 1ms);
  bench.heap.arm(a, kStart + 3ms);
  EXPECT_EQ(bench.heap.next(), kStart + 3ms);
  bench.heap.fire_due(kStart + 2ms);
  EXPECT_EQ(bench.fired, "");
  bench.heap.arm(a, kStart + 1ms);
  bench.heap.fire_due(kStart + 2ms);
  EXPECT_EQ(bench.fired, "a");
}

TEST(TimerHeap, ACancelledOrRemovedTimerDoesNotFireNorIsItTheNext) {
  Bench bench;
  const auto a = bench.add('a'), b = bench.add('b'), c = bench.add('c');
  bench.heap.arm(a, kStart);
  bench.heap.arm(b, kStart);
  bench.heap.arm(c, kStart + 1ms);
  bench.heap.cancel(a);
  bench.heap.remove(b);
  EXPECT_EQ(bench.heap.next(), kStart + 1ms);
  bench.heap.fire_due(kStart + 1ms);
  EXPECT_EQ(bench.fired, "c");
}

TEST(TimerHeap, ANewTimerInAnOldPlaceDoesNotInheritItsArming) {
  Bench bench;
  const auto a = bench.add('a');
  bench.heap.arm(a, kStart);
  bench.heap.remove(a);
  const auto b = bench.add('b');
  EXPECT_EQ(a, b);
  EXPECT_FALSE(bench.heap.armed(b));
  bench.heap.arm(b, kStart + 2ms);
  bench.heap.fire_due(kStart + 1ms);
  EXPECT_EQ(bench.fired, "");
}

TEST(TimerHeap, WhatIsArmedWhileFiringWaitsForTheNextCall) {
  TimerHeap heap;
  int fired = 0;
  TimerHeap::Id id{};
  id = heap.add([&] {
    ++fired;
    heap.arm(id, kStart);
  });
  heap.arm(id, kStart);
  heap.fire_due(kStart);
  EXPECT_EQ(fired, 1);
  heap.fire_due(kStart);
  EXPECT_EQ(fired, 2);
}

TEST(TimerHeap, ATimerMayCancelMoveOrRemoveAnotherThatIsDue) {
  const std::function<void(TimerHeap&, TimerHeap::Id)> changes[] = {
      [](TimerHeap& heap, TimerHeap::Id other) { heap.cancel(other); },
      [](TimerHeap& heap, TimerHeap::Id other) { heap.arm(other, kStart + 1h); },
      [](TimerHeap& heap, TimerHeap::Id other) { heap.remove(other); }};
  for (const auto& change : changes) {
    Bench bench;
    TimerHeap::Id second{};
    const auto first = bench.heap.add([&] { change(bench.heap, second); });
    second = bench.add('b');
    bench.heap.arm(first, kStart);
    bench.heap.arm(second, kStart);
    bench.heap.fire_due(kStart);
    EXPECT_EQ(bench.fired, "");
  }
}

TEST(TimerHeap, ATimerMayRemoveItselfAndAddOthers) {
  Bench bench;
  TimerHeap::Id self{};
  self = bench.heap.add([&] {
    bench.heap.remove(self);
    for (char name = 'a'; name < 'f'; ++name) bench.heap.arm(bench.add(name), kStart);
    bench.fired += '!';
  });
  bench.heap.arm(self, kStart);
  bench.heap.fire_due(kStart);
  EXPECT_EQ(bench.fired, "!");
  bench.heap.fire_due(kStart);
  EXPECT_EQ(bench.fired.size(), 6u);
}

TEST(TimerHeap, DeadEntriesAreSweptBeforeTheyOutnumberTheLiving) {
  Bench bench;
  const auto busy = bench.add('a');
  std::size_t most = 0;
  for (int i = 0; i < 10'000; ++i) {
    bench.heap.arm(busy, kStart + std::chrono::milliseconds(i));
    most = std::max(most, bench.heap.heap_size());
  }
  EXPECT_LE(most, 128u);
  EXPECT_EQ(bench.heap.next(), kStart + 9'999ms);
}

TEST(TimerHeap, ASweepKeepsTheLivingAndTheirOrder) {
  constexpr int kTimers = 400;
  TimerHeap heap;
  std::vector<int> fired, expected;
  std::vector<TimerHeap::Id> ids;
  for (int i = 0; i < kTimers; ++i) {
    ids.push_back(heap.add([&fired, i] { fired.push_back(i); }));
    heap.arm(ids.back(), kStart + std::chrono::milliseconds(i));
  }
  for (int i = 0; i < kTimers; ++i) {
    if (i % 3 == 0) {
      expected.push_back(i);
    } else {
      heap.cancel(ids[static_cast<std::size_t>(i)]);
    }
  }
  heap.arm(heap.add([] {}), kStart + 1h);
  EXPECT_LE(heap.heap_size(), expected.size() + 1);
  heap.fire_due(kStart + 1min);
  EXPECT_EQ(fired, expected);
}

}  // namespace
}  // namespace damper::event
