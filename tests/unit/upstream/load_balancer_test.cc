#include "upstream/load_balancer.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "tests/support/hosts.h"

namespace damper::upstream {
namespace {

using namespace std::chrono_literals;
using LbPolicy = config::Cluster::LbPolicy;

constexpr LbPolicy kAll[] = {LbPolicy::kRoundRobin, LbPolicy::kLeastRequest, LbPolicy::kRandom};
const TimePoint kNow = TimePoint() + 1h;

struct Bench {
  explicit Bench(Hosts hosts_, LbPolicy policy = LbPolicy::kRoundRobin, double panic = 50)
      : hosts(std::move(hosts_)), balancer(policy, 2, panic) {
    balancer.update(hosts);
  }
  // The last number of a host's address.
  std::string pick(std::span<const HostPtr> tried = {}, bool avoid_busy = false) {
    const HostPtr host = balancer.pick(kNow, random, tried, avoid_busy);
    return host ? host->hostname.substr(host->hostname.rfind('.') + 1) : "none";
  }
  std::string picks(int n, std::span<const HostPtr> tried = {}) {
    std::string out;
    for (int i = 0; i < n; ++i) out += pick(tried);
    return out;
  }
  // Percent of the picks.
  std::map<std::string, int> shares(std::span<const HostPtr> tried = {}) {
    constexpr int kPicks = 20'000;
    std::map<std::string, int> count;
    for (int i = 0; i < kPicks; ++i) ++count[pick(tried)];
    for (auto& [name, n] : count) n = static_cast<int>(std::lround(100.0 * n / kPicks));
    return count;
  }
  void eject(std::initializer_list<std::size_t> which) {
    for (const std::size_t i : which) tests::eject_until(*hosts[i], kNow + 1s);
  }

  Hosts hosts;
  LoadBalancer balancer;
  Random random{1};
};

testing::AssertionResult near(const std::map<std::string, int>& got,
                              const std::map<std::string, int>& wanted) {
  auto names = got;
  names.insert(wanted.begin(), wanted.end());
  for (const auto& [name, unused] : names) {
    const auto at = [&name = name](const auto& map) {
      return map.contains(name) ? map.at(name) : 0;
    };
    if (std::abs(at(got) - at(wanted)) > 2) {
      return testing::AssertionFailure()
             << "host " << name << " has " << at(got) << "%, not " << at(wanted) << "%";
    }
  }
  return testing::AssertionSuccess();
}

TEST(LoadBalancer, WithoutHostsThereIsNone) {
  for (const LbPolicy policy : kAll) EXPECT_EQ(Bench({}, policy).pick(), "none");
}

TEST(LoadBalancer, RoundRobinTakesTurns) { EXPECT_EQ(Bench(tests::hosts(3)).picks(7), "1231231"); }

TEST(LoadBalancer, RoundRobinPassesOverEjectedHostsEvenly) {
  Bench bench(tests::hosts(4));
  bench.eject({1});
  EXPECT_EQ(bench.picks(6), "134134");
}

TEST(LoadBalancer, APanicThresholdOfZeroLeavesNoHostWhenAllAreEjected) {
  const std::pair<double, const char*> cases[] = {{0, "none"}, {1, "1"}, {50, "1"}};
  for (const auto& [threshold, picked] : cases) {
    Bench bench({tests::host(1), tests::host(2)}, LbPolicy::kRoundRobin, threshold);
    bench.eject({0, 1});
    EXPECT_EQ(bench.pick(), picked) << threshold;
  }
  for (const LbPolicy policy : kAll) {
    Bench bench({tests::host(1), tests::host(2, 2), tests::host(3, 1, 1)}, policy, 0);
    bench.eject({0, 1, 2});
    EXPECT_EQ(bench.pick({{bench.hosts[0]}}), "none");
  }
}

TEST(LoadBalancer, WeightsAreSharesInSmoothTurns) {
  Bench bench({tests::host(1, 5), tests::host(2, 1), tests::host(3, 1)});
  EXPECT_EQ(bench.picks(14), "11213111121311");
}

TEST(LoadBalancer, EqualWeightsAreNone) {
  EXPECT_EQ(Bench({tests::host(1, 7), tests::host(2, 7)}).picks(4), "1212");
}

TEST(LoadBalancer, LeastRequestTakesTheLessBusyOfTwo) {
  Bench bench(tests::hosts(2), LbPolicy::kLeastRequest);
  bench.hosts[0]->active_requests = 5;
  EXPECT_TRUE(near(bench.shares(), {{"1", 25}, {"2", 75}}));  // 1 only if it is drawn twice
}

TEST(LoadBalancer, LeastRequestMeasuresByWeight) {
  Bench bench({tests::host(1, 10), tests::host(2, 1)}, LbPolicy::kLeastRequest);
  bench.hosts[0]->active_requests = 5;
  EXPECT_TRUE(near(bench.shares(), {{"1", 75}, {"2", 25}}));
}

TEST(LoadBalancer, RandomIsEven) {
  EXPECT_TRUE(near(Bench(tests::hosts(4), LbPolicy::kRandom).shares(),
                   {{"1", 25}, {"2", 25}, {"3", 25}, {"4", 25}}));
}

TEST(LoadBalancer, TheNeighbourOfAnEjectedHostGetsNoMoreThanOthers) {
  for (const LbPolicy policy : kAll) {
    Bench bench(tests::hosts(4), policy);
    bench.eject({1});
    EXPECT_TRUE(near(bench.shares(), {{"1", 33}, {"3", 33}, {"4", 33}}));
  }
}

TEST(LoadBalancer, TriedHostsAreLeftForOthersIfThereAreAny) {
  for (const LbPolicy policy : kAll) {
    Bench bench(tests::hosts(3), policy);
    const Hosts one = {bench.hosts[0]}, all = bench.hosts;
    EXPECT_TRUE(near(bench.shares(one), {{"2", 50}, {"3", 50}}));
    EXPECT_NE(bench.pick(all), "none");
  }
  Bench single(tests::hosts(1));
  EXPECT_EQ(single.pick(single.hosts), "1");
}

TEST(LoadBalancer, ARetryLeavesHostsAloneThatAskedForPatience) {
  Bench bench(tests::hosts(2));
  bench.hosts[0]->health.avoid_until = (kNow + 1ns).time_since_epoch().count();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(bench.pick({}, true), "2");
  EXPECT_EQ(bench.picks(2).size(), 2u);
  EXPECT_TRUE(near(bench.shares(), {{"1", 50}, {"2", 50}}));  // first attempts do not care
  bench.hosts[1]->health.avoid_until = (kNow + 1ns).time_since_epoch().count();
  EXPECT_NE(bench.pick({}, true), "none");
}

TEST(LoadBalancer, AnEjectionEndsAtItsTime) {
  Bench bench(tests::hosts(3));
  tests::eject_until(*bench.hosts[0], kNow);
  EXPECT_EQ(bench.picks(3), "123");
  tests::eject_until(*bench.hosts[0], kNow + 1ns);
  EXPECT_EQ(bench.picks(2), "23");
}

TEST(LoadBalancer, PanicsWhenLessThanTheThresholdIsInService) {
  struct Case {
    int hosts;
    std::initializer_list<std::size_t> ejected;
    double threshold;
    std::map<std::string, int> shares;
  };
  const Case cases[] = {
      {4, {0, 1}, 50, {{"3", 50}, {"4", 50}}},
      {4, {0, 1, 2}, 50, {{"1", 25}, {"2", 25}, {"3", 25}, {"4", 25}}},
      {4, {0, 1, 2}, 20, {{"4", 100}}},
      {4, {0}, 90, {{"2", 33}, {"3", 33}, {"4", 33}}},  // 75% × 1.4: enough for all
      {2, {0, 1}, 50, {{"1", 50}, {"2", 50}}},
      {2, {0, 1}, 0, {{"none", 100}}}};
  for (const Case& c : cases) {
    Bench bench(tests::hosts(c.hosts), LbPolicy::kRoundRobin, c.threshold);
    bench.eject(c.ejected);
    EXPECT_TRUE(near(bench.shares(), c.shares)) << c.hosts << " " << c.threshold;
  }
}

// Hosts 1–4 of priority 0, 5–6 of priority 1.
Hosts two_levels() {
  Hosts out = tests::hosts(4);
  for (int i = 5; i <= 6; ++i) out.insert(out.begin(), tests::host(i, 1, 1));
  return out;
}

TEST(LoadBalancer, ALowerPriorityHelpsWhenTheHigherCannotTakeAll) {
  struct Case {
    std::initializer_list<std::size_t> ejected;  // places 0 and 1 are hosts 6 and 5
    std::map<std::string, int> shares;
  };
  const Case cases[] = {
      {{}, {{"1", 25}, {"2", 25}, {"3", 25}, {"4", 25}}},
      {{2}, {{"2", 33}, {"3", 33}, {"4", 33}}},
      {{2, 3}, {{"3", 35}, {"4", 35}, {"5", 15}, {"6", 15}}},
      // No panic at 25% while the other level can take the rest.
      {{2, 3, 4}, {{"4", 35}, {"5", 32}, {"6", 33}}},
      {{2, 3, 4, 5}, {{"5", 50}, {"6", 50}}},
      // 35 and 70 hundredths are more than enough.
      {{2, 3, 4, 0}, {{"4", 35}, {"5", 65}}},
      // 35 alone is not: the other level has nobody, and this one panics.
      {{2, 3, 4, 0, 1}, {{"1", 17}, {"2", 17}, {"3", 17}, {"4", 17}, {"5", 17}, {"6", 17}}},
      {{0, 1, 2, 3, 4, 5}, {{"1", 17}, {"2", 17}, {"3", 17}, {"4", 17}, {"5", 17}, {"6", 17}}}};
  for (const Case& c : cases) {
    Bench bench(two_levels());
    bench.eject(c.ejected);
    EXPECT_TRUE(near(bench.shares(), c.shares)) << c.ejected.size() << " ejected";
  }
}

TEST(LoadBalancer, WhatTheLevelsCannotTakeIsSharedByWhatTheyCan) {
  Bench bench(two_levels(), LbPolicy::kRoundRobin, 10);
  bench.eject({2, 3, 4, 0, 1});  // 35 and 0
  EXPECT_TRUE(near(bench.shares(), {{"4", 100}}));
  Hosts hosts = tests::hosts(4);
  for (int i = 5; i <= 8; ++i) hosts.push_back(tests::host(i, 1, 1));
  Bench even(hosts, LbPolicy::kRoundRobin, 10);
  even.eject({1, 2, 3, 5, 6, 7});  // 35 and 35
  EXPECT_TRUE(near(even.shares(), {{"1", 50}, {"5", 50}}));
}

TEST(LoadBalancer, WeightsCountWithinAPriority) {
  Bench bench({tests::host(1, 1), tests::host(2, 1), tests::host(3, 9, 1)});
  EXPECT_EQ(bench.picks(4), "1212");
}

TEST(LoadBalancer, TakesNewHosts) {
  Bench bench(tests::hosts(2));
  bench.pick();
  bench.balancer.update({tests::host(7)});
  EXPECT_EQ(bench.picks(2), "77");
  EXPECT_EQ(bench.balancer.hosts().size(), 1u);
  bench.balancer.update({});
  EXPECT_EQ(bench.pick(), "none");
}

}  // namespace
}  // namespace damper::upstream
