#include "event/loop.h"

#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

#include "event/io_handle.h"
#include "tests/support/sockets.h"

namespace damper::event {
namespace {

using namespace std::chrono_literals;
using Log = std::vector<std::string>;

struct Mortal : Disposable {
  explicit Mortal(std::function<void()> die_) : die(std::move(die_)) {}
  ~Mortal() override { die(); }
  std::function<void()> die;
};

struct Work : EndOfTurn {
  explicit Work(std::function<void()> run_) : run(std::move(run_)) {}
  void at_end_of_turn() override { run(); }
  std::function<void()> run;
};

TEST(Loop, ATurnIsEventsThenPostedThenPutOffThenTheDead) {
  Loop loop;
  Log log;
  Work work([&] { log.push_back("put off"); });
  const auto timer = loop.timer([&] {
    loop.destroy_later(std::make_unique<Mortal>([&] { log.push_back("dead"); }));
    loop.at_end_of_turn(work);
    loop.post([&] { log.push_back("posted"); });
    log.push_back("event");
  });
  timer->arm(0ms);
  EXPECT_TRUE(tests::run_until(loop, [&] { return !log.empty(); }));
  EXPECT_EQ(log, (Log{"event", "posted", "put off", "dead"}));
}

TEST(Loop, WhatAPostedFunctionPostsRunsInTheNextTurn) {
  Loop loop;
  Log log;
  loop.post([&] {
    log.push_back("first");
    loop.post([&] { log.push_back("second"); });
  });
  loop.run_once();
  EXPECT_EQ(log, Log{"first"});
  loop.run_once();
  EXPECT_EQ(log, (Log{"first", "second"}));
}

TEST(Loop, RunsWhatOtherThreadsPostAndEndsWhenToldTo) {
  constexpr int kThreads = 4, kEach = 1000;
  Loop loop;
  int ran = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        loop.post([&] {
          if (++ran == kThreads * kEach) loop.stop();
        });
      }
    });
  }
  loop.run();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran, kThreads * kEach);
}

TEST(Loop, ALoopThatWasStoppedCanRunAgain) {
  Loop loop;
  int runs = 0;
  for (int i = 0; i < 2; ++i) {
    loop.post([&] {
      ++runs;
      loop.stop();
    });
    loop.run();
  }
  EXPECT_EQ(runs, 2);
}

TEST(Loop, WorkIsDoneOnceATurnHoweverOftenItIsAskedFor) {
  Loop loop;
  int runs = 0;
  Work work([&] { ++runs; });
  loop.at_end_of_turn(work);
  loop.at_end_of_turn(work);
  loop.run_once();
  EXPECT_EQ(runs, 1);
  loop.run_once();
  EXPECT_EQ(runs, 1);
}

TEST(Loop, WorkThatMakesMoreIsDoneInTheSameTurn) {
  Loop loop;
  Log log;
  Work second([&] { log.push_back("second"); });
  int left = 3;
  Work first([&] {
    log.push_back("first");
    if (--left > 0) loop.at_end_of_turn(first);
    loop.at_end_of_turn(second);
  });
  loop.at_end_of_turn(first);
  loop.run_once();
  EXPECT_EQ(log, (Log{"first", "first", "second", "first", "second"}));
}

TEST(Loop, WorkIsForgottenEvenByOtherWorkOfItsTurn) {
  Loop loop;
  auto doomed = std::make_unique<Work>([] { FAIL() << "it was forgotten"; });
  Work first([&] {
    loop.forget(*doomed);
    doomed.reset();
  });
  loop.at_end_of_turn(first);
  loop.at_end_of_turn(*doomed);
  loop.run_once();
  EXPECT_FALSE(doomed);
}

TEST(Loop, ForgettingWorkThatWasNotAskedForChangesNothing) {
  Loop loop;
  int runs = 0;
  Work asked([&] { ++runs; }), idle([] {});
  loop.at_end_of_turn(asked);
  loop.forget(idle);
  loop.run_once();
  EXPECT_EQ(runs, 1);
}

TEST(Loop, TheDeadMayDoomOthersAndPutOffWork) {
  Loop loop;
  Log log;
  Work work([&] { log.push_back("work"); });
  loop.destroy_later(std::make_unique<Mortal>([&] {
    log.push_back("parent");
    loop.at_end_of_turn(work);
    loop.destroy_later(std::make_unique<Mortal>([&] { log.push_back("child"); }));
  }));
  loop.run_once();
  EXPECT_EQ(log, (Log{"parent", "work", "child"}));
}

TEST(Loop, BuriesItsDeadWhenItDies) {
  bool died = false;
  {
    Loop loop;
    loop.destroy_later(std::make_unique<Mortal>([&] { died = true; }));
  }
  EXPECT_TRUE(died);
}

TEST(Loop, TimeStandsStillWithinATurnAndMovesBetweenTurns) {
  Loop loop;
  TimePoint first{}, later{};
  loop.post([&] {
    first = loop.now();
    while (Clock::now() <= first + 1us) {
    }
    later = loop.now();
  });
  loop.run_once();
  EXPECT_EQ(first, later);
  loop.post([&] { later = loop.now(); });
  loop.run_once();
  EXPECT_GT(later, first);
}

TEST(Loop, TheClockCanBeReadWithinATurn) {
  Loop loop;
  TimePoint first{}, read{}, later{};
  loop.post([&] {
    first = loop.now();
    while (Clock::now() <= first + 1us) {
    }
    read = loop.read_clock();
    later = loop.now();
  });
  loop.run_once();
  EXPECT_GT(read, first);
  EXPECT_EQ(later, read);
}

TEST(Loop, TimersFireInOrderAndNeverBeforeTheirTime) {
  Loop loop;
  Log log;
  std::vector<std::unique_ptr<Timer>> timers;
  for (const auto delay : {30ms, 1ms, 0ms, 12ms, 3ms}) {
    const TimePoint due = loop.now() + delay;
    timers.push_back(loop.timer([&log, &loop, due, delay] {
      EXPECT_GE(loop.now(), due);
      EXPECT_GE(Clock::now(), due);
      log.push_back(std::to_string(delay.count()));
    }));
    timers.back()->arm(delay);
  }
  EXPECT_TRUE(tests::run_until(loop, [&] { return log.size() == timers.size(); }));
  EXPECT_EQ(log, (Log{"0", "1", "3", "12", "30"}));
}

TEST(Loop, ALoopThatOnlyWaitsForATimerWakesForIt) {
  Loop loop;
  const auto timer = loop.timer([&] { loop.stop(); });
  timer->arm(2ms);
  const TimePoint due = loop.now() + 2ms;
  loop.run();
  EXPECT_GE(Clock::now(), due);
}

TEST(Loop, AnEarlierTimerWakesALoopThatWaitsForALaterOne) {
  Loop loop;
  const auto late = loop.timer([] { FAIL() << "an hour has not passed"; });
  const auto early = loop.timer([&] { loop.stop(); });
  late->arm(1h);
  early->arm(1ms);
  loop.run();
  EXPECT_TRUE(late->armed());
  EXPECT_FALSE(early->armed());
}

TEST(Loop, ATimerCanBeMovedCancelledAndArmedAgainByItself) {
  Loop loop;
  int fired = 0;
  std::unique_ptr<Timer> again;
  again = loop.timer([&] {
    if (++fired < 3) again->arm(0ms);
  });
  const auto moved = loop.timer([&] { loop.stop(); });
  const auto cancelled = loop.timer([] { FAIL() << "it was cancelled"; });
  again->arm(0ms);
  cancelled->arm(0ms);
  cancelled->cancel();
  moved->arm(0ms);
  moved->arm(5ms);
  loop.run();
  EXPECT_EQ(fired, 3);
}

TEST(Loop, ATimerMayDestroyItselfAndOthersThatAreDue) {
  Loop loop;
  std::unique_ptr<Timer> first, second;
  first = loop.timer([&] {
    first.reset();
    second.reset();
  });
  second = loop.timer([] { FAIL() << "it was destroyed"; });
  first->arm(0ms);
  second->arm(0ms);
  EXPECT_TRUE(tests::run_until(loop, [&] { return !second; }));
  tests::run_turns(loop, 3);
}

}  // namespace
}  // namespace damper::event
