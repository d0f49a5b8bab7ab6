#include "event/timeout_queue.h"

#include <gtest/gtest.h>
#include <optional>
#include <string>

#include "tests/support/manual_scheduler.h"

namespace damper::event {
namespace {

using namespace std::chrono_literals;

struct Member final : TimeoutQueue::Member {
  Member(std::string& log_, char name_) : log(log_), name(name_) {}
  void on_timeout() override {
    log += name;
    if (then) then();
  }
  std::string& log;
  char name;
  std::function<void()> then{};
};

struct Bench {
  tests::ManualScheduler time;
  std::string log;
  Member a{log, 'a'}, b{log, 'b'}, c{log, 'c'};
  TimeoutQueue queue{time, 10ms};
};

TEST(TimeoutQueue, AMemberTimesOutOnceAfterItsTime) {
  Bench bench;
  bench.queue.restart(bench.a);
  EXPECT_TRUE(bench.a.waiting());
  bench.time.advance(10ms - 1ns);
  EXPECT_EQ(bench.log, "");
  bench.time.advance(1ns);
  EXPECT_EQ(bench.log, "a");
  EXPECT_FALSE(bench.a.waiting());
  bench.time.advance(1h);
  EXPECT_EQ(bench.log, "a");
}

TEST(TimeoutQueue, EachHasItsOwnTime) {
  Bench bench;
  for (Member* member : {&bench.a, &bench.b, &bench.c}) {
    bench.queue.restart(*member);
    bench.time.advance(4ms);
  }
  EXPECT_EQ(bench.log, "a");
  bench.time.advance(1ms);
  EXPECT_EQ(bench.log, "a");
  bench.time.advance(1ms);
  EXPECT_EQ(bench.log, "ab");
  bench.time.advance(4ms);
  EXPECT_EQ(bench.log, "abc");
}

TEST(TimeoutQueue, RestartingBeginsTheTimeAgain) {
  Bench bench;
  bench.queue.restart(bench.a);
  bench.queue.restart(bench.b);
  bench.time.advance(9ms);
  bench.queue.restart(bench.a);
  bench.time.advance(9ms);
  EXPECT_EQ(bench.log, "b");
  bench.time.advance(1ms);
  EXPECT_EQ(bench.log, "ba");
}

TEST(TimeoutQueue, WhoLeavesOrDiesDoesNotTimeOut) {
  const int positions = 3;
  for (int i = 0; i < positions; ++i) {
    Bench bench;
    std::optional<Member> mortal;
    mortal.emplace(bench.log, 'm');
    if (i == 0) bench.queue.restart(*mortal);
    bench.queue.restart(bench.a);
    if (i == 1) bench.queue.restart(*mortal);
    bench.queue.restart(bench.b);
    if (i == 2) bench.queue.restart(*mortal);
    bench.queue.restart(bench.c);
    bench.b.leave();
    bench.b.leave();
    mortal.reset();
    bench.time.advance(10ms);
    EXPECT_EQ(bench.log, "ac");
  }
}

TEST(TimeoutQueue, AMemberMovesFromQueueToQueue) {
  Bench bench;
  TimeoutQueue longer(bench.time, 20ms);
  bench.queue.restart(bench.a);
  longer.restart(bench.a);
  bench.time.advance(10ms);
  EXPECT_EQ(bench.log, "");
  bench.time.advance(10ms);
  EXPECT_EQ(bench.log, "a");
}

TEST(TimeoutQueue, ATimeoutOfZeroIsNoneAndTakesTheMemberOutOfTheOther) {
  Bench bench;
  TimeoutQueue never(bench.time, 0ms);
  bench.queue.restart(bench.a);
  never.restart(bench.a);
  EXPECT_FALSE(bench.a.waiting());
  bench.time.advance(24h);
  EXPECT_EQ(bench.log, "");
}

TEST(TimeoutQueue, AMemberMayRestartItselfAndTakeOthersOutWhileItTimesOut) {
  Bench bench;
  for (Member* member : {&bench.a, &bench.b, &bench.c}) bench.queue.restart(*member);
  bench.a.then = [&] {
    bench.queue.restart(bench.a);
    bench.b.leave();
  };
  bench.time.advance(10ms);
  EXPECT_EQ(bench.log, "ac");
  bench.time.advance(10ms);
  EXPECT_EQ(bench.log, "aca");
}

TEST(TimeoutQueue, MembersMayOutliveTheQueue) {
  tests::ManualScheduler time;
  std::string log;
  Member a(log, 'a');
  {
    TimeoutQueue queue(time, 1ms);
    queue.restart(a);
  }
  EXPECT_FALSE(a.waiting());
  time.advance(1s);
  EXPECT_EQ(log, "");
}

}  // namespace
}  // namespace damper::event
