#include "bench/demo/work_queue.h"

#include <gtest/gtest.h>

namespace damper::demo {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using Jobs = std::vector<WorkQueue::Job>;

constexpr TimePoint kStart{};

TEST(WorkQueue, OneSlotDoesOneJobAfterTheOther) {
  WorkQueue queue({.slots = 1, .mean = 10ms});
  for (WorkQueue::Job job : {1, 2, 3}) queue.add(job, kStart);
  EXPECT_EQ(queue.running(), 1u);
  EXPECT_EQ(queue.waiting(), 2u);
  EXPECT_EQ(queue.advance(kStart + 9ms), Jobs{});
  EXPECT_EQ(queue.advance(kStart + 10ms), Jobs{1});
  EXPECT_EQ(queue.advance(kStart + 30ms), (Jobs{2, 3}));
  EXPECT_FALSE(queue.next());
}

TEST(WorkQueue, AClockThatIsToldLateCostsNoCapacity) {
  WorkQueue late({.slots = 2, .mean = 20ms, .exponential = true}), exact = late;
  for (WorkQueue::Job job = 0; job < 100; ++job) {
    late.add(job, kStart);
    exact.add(job, kStart);
  }
  Jobs ended;
  for (auto at = exact.next(); at; at = exact.next()) {
    for (const WorkQueue::Job job : exact.advance(*at)) ended.push_back(job);
  }
  EXPECT_EQ(late.advance(kStart + 10s), ended);
  EXPECT_EQ(ended.size(), 100u);
}

TEST(WorkQueue, WithoutSlotsAllJobsRunAtATime) {
  WorkQueue queue({.mean = 5ms});
  for (WorkQueue::Job job = 0; job < 50; ++job) queue.add(job, kStart);
  EXPECT_EQ(queue.running(), 50u);
  EXPECT_EQ(queue.advance(kStart + 5ms).size(), 50u);
  EXPECT_EQ(queue.running(), 0u);
  EXPECT_EQ(queue.max_running(), 50u);
}

TEST(WorkQueue, AStallKeepsJobsFromStartingButNotFromEnding) {
  WorkQueue queue({.slots = 1, .mean = 10ms});
  queue.add(1, kStart);
  queue.stall(kStart + 100ms);
  queue.add(2, kStart);
  EXPECT_EQ(queue.advance(kStart + 99ms), Jobs{1});
  EXPECT_EQ(queue.next(), kStart + 100ms);
  EXPECT_EQ(queue.advance(kStart + 100ms), Jobs{});
  EXPECT_EQ(queue.advance(kStart + 110ms), Jobs{2});
}

TEST(WorkQueue, PartOfTheSlotsCanBeTakenAway) {
  WorkQueue queue({.slots = 10, .mean = 10ms});
  queue.scale(0.4, kStart);
  for (WorkQueue::Job job = 0; job < 20; ++job) queue.add(job, kStart);
  EXPECT_EQ(queue.running(), 4u);
  queue.scale(1, kStart + 5ms);
  EXPECT_EQ(queue.running(), 10u);
  EXPECT_EQ(queue.advance(kStart + 10ms).size(), 4u);
}

TEST(WorkQueue, ExponentialTimesHaveTheMeanAndRepeat) {
  const WorkOptions options{.slots = 1, .mean = 10ms, .exponential = true, .seed = 7};
  WorkQueue one(options), two(options);
  for (WorkQueue::Job job = 0; job < 10'000; ++job) {
    one.add(job, kStart);
    two.add(job, kStart);
  }
  const std::size_t in_half_the_time = one.advance(kStart + 50s).size();
  EXPECT_NEAR(static_cast<double>(in_half_the_time), 5'000, 250);
  EXPECT_EQ(two.advance(kStart + 50s).size(), in_half_the_time);
}

}  // namespace
}  // namespace damper::demo
