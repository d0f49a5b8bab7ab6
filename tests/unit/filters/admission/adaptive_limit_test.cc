#include "filters/admission/adaptive_limit.h"

#include <cmath>
#include <gtest/gtest.h>
#include <queue>

#include "base/random.h"

namespace damper::admission {
namespace {

using namespace std::chrono_literals;

// A service that does `capacity` requests at once in `base` each; with more at once, all take
// longer in proportion. There is always another request to let in, up to `demand` at a time.
class Service {
 public:
  explicit Service(const config::AdaptiveLimit& settings = {}) : limit_(settings) {}

  void run_for(Duration time) {
    const TimePoint end = now_ + time;
    while (now_ < end) {
      let_in();
      const Running next = running_.top();
      running_.pop();
      now_ = next.ends;
      limit_.record({.admitted = next.admitted, .ended = now_, .good = !fails}, active() + 1);
    }
  }

  std::uint32_t limit() const { return limit_.limit(); }
  Duration minimum() const { return limit_.minimum_latency(); }

  double capacity = 20;
  Duration base = 10ms;
  double noise = 0;  // a latency is up to this share longer
  std::uint32_t demand = 10'000;
  bool fails = false;

 private:
  struct Running {
    TimePoint ends;
    TimePoint admitted;
    bool operator<(const Running& other) const { return ends > other.ends; }  // the first on top
  };

  std::uint32_t active() const { return static_cast<std::uint32_t>(running_.size()); }
  void let_in() {
    while (active() < std::min(limit(), demand)) {
      const double crowd = std::max(1.0, (active() + 1) / capacity);
      const double factor = crowd * (1 + noise * random_.unit());
      const auto latency = std::chrono::duration_cast<Duration>(base * factor);
      running_.push({.ends = now_ + latency, .admitted = now_});
    }
  }

  AdaptiveLimit limit_;
  Random random_{1};
  TimePoint now_{};
  std::priority_queue<Running> running_;
};

// Where the gradient is in balance: the limit at which capacity × (1 + tolerance) and the headroom
// add up.
double balance(double capacity, double tolerance = 0.25) {
  const double share = capacity * (1 + tolerance);
  return share + std::sqrt(share);
}

TEST(AdaptiveLimit, SettlesAtTheCapacityAndItsHeadroom) {
  for (const double capacity : {3, 10, 20, 100, 400}) {
    Service service;
    service.capacity = capacity;
    service.run_for(10s);
    EXPECT_NEAR(service.limit(), balance(capacity), 2 + capacity * 0.1) << capacity;
  }
}

TEST(AdaptiveLimit, SettlesThoughLatenciesScatter) {
  Service service;
  service.noise = 0.5;
  service.run_for(20s);
  EXPECT_GE(service.limit(), service.capacity);
  EXPECT_LE(service.limit(), 2 * service.capacity);
}

TEST(AdaptiveLimit, SettlesWhereAnAnswerTakesMuchLongerThanAWindow) {
  Service service;
  service.base = 2s;
  service.run_for(200s);
  EXPECT_NEAR(service.limit(), balance(20), 4);
}

TEST(AdaptiveLimit, FollowsACapacityThatFallsAndGrows) {
  Service service;
  service.run_for(5s);
  service.capacity = 5;
  service.run_for(3s);
  EXPECT_NEAR(service.limit(), balance(5), 2);
  service.capacity = 60;
  service.run_for(3s);
  EXPECT_NEAR(service.limit(), balance(60), 6);
}

TEST(AdaptiveLimit, LearnsThatTheServiceHasBecomeSlowerForGood) {
  Service service;
  service.run_for(5s);
  service.base = 30ms;
  service.run_for(3s);
  EXPECT_LT(service.limit(), 20u);  // it looks like overload
  service.run_for(60s);
  EXPECT_NEAR(service.limit(), balance(20), 4);
  EXPECT_NEAR(std::chrono::duration<double>(service.minimum()).count(), 0.03, 0.003);
}

TEST(AdaptiveLimit, AStartAboveTheCapacityIsCorrected) {
  Service service({.initial = 100});
  service.capacity = 10;
  service.run_for(15s);
  EXPECT_NEAR(service.limit(), balance(10), 4);
}

TEST(AdaptiveLimit, IsNotJudgedWhereNobodyComesNearIt) {
  Service service;
  service.demand = 5;
  service.run_for(20s);
  EXPECT_EQ(service.limit(), 20u);
}

TEST(AdaptiveLimit, StaysBetweenItsBounds) {
  Service wide({.initial = 20, .min = 8, .max = 50});
  wide.capacity = 500;
  wide.run_for(5s);
  EXPECT_EQ(wide.limit(), 50u);
  wide.capacity = 1;
  wide.run_for(5s);
  EXPECT_EQ(wide.limit(), 8u);
}

TEST(AdaptiveLimit, QuickErrorsSayNothing) {
  Service service;
  service.run_for(5s);
  const std::uint32_t before = service.limit();
  service.fails = true;
  service.base = 100us;
  service.run_for(1s);
  EXPECT_EQ(service.limit(), before);
}

TEST(AdaptiveLimit, SlowErrorsAreBadNews) {
  Service service;
  service.run_for(5s);
  const std::uint32_t before = service.limit();
  service.fails = true;
  service.base = 100ms;
  service.run_for(5s);
  EXPECT_LT(service.limit(), before / 2);
}

TEST(AdaptiveLimit, AMinimumIsMeasuredByGoodAnswersAlone) {
  Service service;
  service.fails = true;
  service.run_for(5s);
  EXPECT_EQ(service.minimum(), Duration::zero());
  EXPECT_EQ(service.limit(), 20u);
}

TEST(AdaptiveLimit, RequestsFromBeforeAWindowAreNotItsSamples) {
  AdaptiveLimit limit({.initial = 20});
  const TimePoint start{};
  for (int i = 0; i < 50; ++i) {
    limit.record({.admitted = start + 90ms, .ended = start + 100ms, .good = true}, 20);
  }
  ASSERT_EQ(limit.minimum_latency(), 10ms);
  for (int i = 0; i < 100; ++i) {  // let in before: as slow as they may be
    limit.record({.admitted = start, .ended = start + 300ms, .good = true}, 20);
  }
  EXPECT_EQ(limit.limit(), 20u);
}

}  // namespace
}  // namespace damper::admission
