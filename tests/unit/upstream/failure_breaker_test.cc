#include "upstream/failure_breaker.h"

#include <gtest/gtest.h>
#include <thread>

namespace damper::upstream {
namespace {

using namespace std::chrono_literals;
using State = FailureBreaker::State;
using Change = FailureBreaker::Change;
using Pass = FailureBreaker::Pass;
using Rules = config::FailureBreaker;

constexpr Rules kRules{
    .failure_percent = 50, .min_requests = 4, .window = 10s, .open_for = 5s, .probes = 2};

struct Bench {
  explicit Bench(const std::optional<Rules>& rules = kRules, unsigned workers = 1)
      : breaker(rules, workers) {}

  bool admits() { return breaker.admit(now).has_value(); }
  Change attempt(Evidence evidence, unsigned worker = 0) {
    auto pass = breaker.admit(now);
    return pass ? pass->report(worker, evidence, now) : Change::kNone;
  }
  // Each letter an attempt: "g" good, "e" error, "w" gateway, "l" local origin, "n" no evidence.
  void attempts(std::string_view letters) {
    for (const char c : letters) {
      const auto evidence = c == 'g'   ? Evidence::kGood
                            : c == 'e' ? Evidence::kError
                            : c == 'w' ? Evidence::kGateway
                            : c == 'l' ? Evidence::kLocalOrigin
                                       : Evidence::kNone;
      attempt(evidence);
    }
  }
  State state() const { return breaker.state(now); }
  void open() { attempts("eeee"); }
  void half_open() {
    open();
    now += 5s;
  }

  FailureBreaker breaker;
  TimePoint now = TimePoint() + 1h;
};

TEST(FailureBreaker, OpensWhenEnoughRequestsHaveFailedOften) {
  struct Case {
    std::string_view attempts;
    State state;
  };
  const Case cases[] = {
      {"eee", State::kClosed},                               // too few
      {"eeee", State::kOpen},       {"gwgw", State::kOpen},  // exactly the percentage
      {"gggl", State::kClosed},     {"ggglll", State::kOpen},
      {"gggggggg", State::kClosed}, {"eeennn", State::kClosed},  // no evidence is no request
      {"ewlg", State::kClosed},                                  // only a failure opens it
      {"ewlge", State::kOpen}};
  for (const Case& c : cases) {
    Bench bench;
    bench.attempts(c.attempts);
    EXPECT_EQ(bench.state(), c.state) << c.attempts;
  }
}

TEST(FailureBreaker, SaysWhichOutcomeOpenedIt) {
  Bench bench;
  bench.attempts("eee");
  EXPECT_EQ(bench.attempt(Evidence::kGateway), Change::kOpened);
}

TEST(FailureBreaker, ForgetsWhatHasLeftTheWindow) {
  Bench bench;
  bench.attempts("eee");
  bench.now += 10s;
  bench.attempts("e");
  EXPECT_EQ(bench.state(), State::kClosed);
  bench.now += 8s;
  bench.attempts("eee");
  EXPECT_EQ(bench.state(), State::kOpen);
}

TEST(FailureBreaker, CountsForAllWorkersTogether) {
  Bench bench(kRules, 2);
  for (const unsigned worker : {0u, 1u, 0u}) bench.attempt(Evidence::kError, worker);
  EXPECT_EQ(bench.attempt(Evidence::kError, 1), Change::kOpened);
}

TEST(FailureBreaker, LetsNothingPassWhileItIsOpen) {
  Bench bench;
  bench.open();
  for (const auto& [later, wait] : {std::pair{0ms, 5000ms}, {2500ms, 2500ms}, {2499ms, 1ms}}) {
    bench.now += later;
    EXPECT_FALSE(bench.admits());
    EXPECT_EQ(bench.breaker.wait(bench.now), wait);
  }
  bench.now += 1ms;
  EXPECT_EQ(bench.state(), State::kHalfOpen);
  EXPECT_EQ(bench.breaker.wait(bench.now), 0ms);
}

TEST(FailureBreaker, HalfOpenLetsSoManyProbesPassAtATime) {
  Bench bench;
  bench.half_open();
  EXPECT_FALSE(bench.breaker.closed());
  auto first = bench.breaker.admit(bench.now);
  auto second = bench.breaker.admit(bench.now);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(bench.admits());
  second.reset();  // ended without saying anything: its place is free
  second = bench.breaker.admit(bench.now);
  ASSERT_TRUE(second);
  EXPECT_EQ(first->report(0, Evidence::kNone, bench.now), Change::kNone);
  EXPECT_TRUE(bench.breaker.admit(bench.now));
}

TEST(FailureBreaker, AsManySuccessesAsProbesCloseIt) {
  Bench bench;
  bench.half_open();
  EXPECT_EQ(bench.attempt(Evidence::kGood), Change::kNone);
  EXPECT_EQ(bench.state(), State::kHalfOpen);
  EXPECT_EQ(bench.attempt(Evidence::kGood), Change::kClosed);
  EXPECT_EQ(bench.state(), State::kClosed);
  EXPECT_TRUE(bench.breaker.closed());
}

TEST(FailureBreaker, AfterOneSuccessOnlyTheProbesThatAreMissingPass) {
  Bench bench;
  bench.half_open();
  bench.attempts("g");
  const auto running = bench.breaker.admit(bench.now);
  EXPECT_TRUE(running);
  EXPECT_FALSE(bench.admits());
}

TEST(FailureBreaker, OneProbeThatFailsOpensItForAsLongAgain) {
  Bench bench;
  bench.half_open();
  auto slow = bench.breaker.admit(bench.now);
  EXPECT_EQ(bench.attempt(Evidence::kLocalOrigin), Change::kOpened);
  EXPECT_FALSE(bench.admits());
  EXPECT_EQ(bench.breaker.wait(bench.now), 5s);
  // The other probe of that time has no say any more.
  EXPECT_EQ(slow->report(0, Evidence::kGood, bench.now), Change::kNone);
  bench.now += 5s;
  bench.attempts("g");
  EXPECT_EQ(bench.state(), State::kHalfOpen);
}

TEST(FailureBreaker, ClosedAnewItHasForgottenEverything) {
  Bench bench;
  bench.half_open();
  bench.attempts("gg");
  bench.attempts("eee");
  EXPECT_EQ(bench.state(), State::kClosed);
  bench.attempts("e");
  EXPECT_EQ(bench.state(), State::kOpen);
}

TEST(FailureBreaker, WhatEndsInAnotherStateThanItBeganInSaysNothing) {
  Bench bench;
  std::vector<Pass> early;
  for (int i = 0; i < 8; ++i) early.push_back(*bench.breaker.admit(bench.now));
  bench.open();
  EXPECT_EQ(early[0].report(0, Evidence::kGood, bench.now), Change::kNone);
  bench.now += 5s;
  bench.attempts("gg");
  for (std::size_t i = 1; i < early.size(); ++i) {
    EXPECT_EQ(early[i].report(0, Evidence::kError, bench.now), Change::kNone);
  }
  EXPECT_EQ(bench.state(), State::kClosed);
}

TEST(FailureBreaker, APassReportsOnce) {
  Bench bench;
  auto pass = bench.breaker.admit(bench.now);
  for (int i = 0; i < 9; ++i) pass->report(0, Evidence::kError, bench.now);
  EXPECT_EQ(bench.state(), State::kClosed);
}

TEST(FailureBreaker, WithoutRulesEverythingPassesAndNothingIsCounted) {
  Bench bench(std::nullopt);
  bench.attempts("eeeeeeeeee");
  EXPECT_EQ(bench.state(), State::kOff);
  EXPECT_TRUE(bench.breaker.closed());
  EXPECT_TRUE(bench.admits());
}

TEST(FailureBreaker, OtherRulesCountAnewAndAnOpenBreakerStaysOpen) {
  Rules stricter = kRules;
  stricter.min_requests = 2;
  stricter.window = 1s;
  Bench counted;
  counted.attempts("ee");
  counted.breaker.reconfigure(kRules);  // the same: nothing is forgotten
  counted.attempts("e");
  counted.breaker.reconfigure(stricter);
  counted.attempts("e");
  EXPECT_EQ(counted.state(), State::kClosed);
  counted.attempts("e");
  EXPECT_EQ(counted.state(), State::kOpen);

  Bench opened;
  opened.open();
  opened.breaker.reconfigure(stricter);
  EXPECT_EQ(opened.breaker.wait(opened.now), 5s);
  opened.breaker.reconfigure(std::nullopt);
  EXPECT_TRUE(opened.admits());
  opened.breaker.reconfigure(kRules);
  EXPECT_EQ(opened.state(), State::kClosed);
}

TEST(FailureBreaker, HalfOpenWithFewerProbesBeginsThemAnew) {
  Bench bench;
  bench.half_open();
  bench.attempts("g");
  Rules one = kRules;
  one.probes = 1;
  bench.breaker.reconfigure(one);
  EXPECT_EQ(bench.attempt(Evidence::kGood), Change::kClosed);
}

TEST(FailureBreaker, OpensOnceHoweverManyThreadsReport) {
  constexpr unsigned kThreads = 4;
  Bench bench({{.min_requests = 100, .open_for = 1h}}, kThreads);
  std::atomic<int> opened{0};
  std::vector<std::thread> threads;
  for (unsigned worker = 0; worker < kThreads; ++worker) {
    threads.emplace_back([&, worker] {
      for (int i = 0; i < 1000; ++i) {
        const auto evidence = i % 4 == 0 ? Evidence::kGood : Evidence::kError;
        if (bench.attempt(evidence, worker) == Change::kOpened) ++opened;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(bench.state(), State::kOpen);
}

TEST(FailureBreaker, StatesHaveWords) {
  EXPECT_EQ(word(State::kOff), "off");
  EXPECT_EQ(word(State::kClosed), "closed");
  EXPECT_EQ(word(State::kOpen), "open");
  EXPECT_EQ(word(State::kHalfOpen), "half_open");
}

}  // namespace
}  // namespace damper::upstream
