#include "upstream/success_rate.h"

#include <gtest/gtest.h>

namespace damper::upstream {
namespace {

using Places = std::vector<std::size_t>;

// Hosts with a hundred requests each, by successes.
std::vector<RateSample> hosts(std::initializer_list<std::uint32_t> successes) {
  std::vector<RateSample> out;
  for (const std::uint32_t s : successes) out.push_back({.requests = 100, .successes = s});
  return out;
}

TEST(SuccessRate, BelowTheMeanLessSoManyDeviationsIsAnOutlier) {
  const struct {
    std::vector<RateSample> samples;
    double factor;
    Places below;
  } cases[] = {{hosts({50, 100, 100, 100, 100}), 1.9, {0}},  // mean 90, deviation 20: below 52
               {hosts({53, 100, 100, 100, 100}), 1.9, {0}},
               {hosts({50, 100, 100, 100, 100}), 2.1, {}},
               {hosts({100, 100, 100, 100, 100}), 1.9, {}},  // nobody is worse than the others
               {hosts({0, 0, 0, 0, 0}), 1.9, {}},
               {hosts({90, 95, 100, 100, 100}), 1, {0}},
               {hosts({50, 50, 100, 100, 100, 100, 100, 100}), 1.5, {0, 1}}};
  for (const auto& c : cases) EXPECT_EQ(below_the_others(c.samples, {}, c.factor), c.below);
}

TEST(SuccessRate, FewHostsOrFewRequestsAreNotCompared) {
  EXPECT_EQ(below_the_others(hosts({0, 100, 100, 100}), {}, 1), Places{});
  EXPECT_EQ(below_the_others(hosts({0, 100, 100, 100}), {.minimum_hosts = 4}, 1), Places{0});
  auto samples = hosts({0, 100, 100, 100, 100});
  samples[4].requests = samples[4].successes = 99;
  EXPECT_EQ(below_the_others(samples, {}, 1), Places{});
  EXPECT_EQ(below_the_others(samples, {.request_volume = 99}, 1), Places{0});
}

TEST(SuccessRate, AHostWithoutRequestsIsNeverJudged) {
  EXPECT_EQ(failing_often({RateSample{}}, {.minimum_hosts = 0, .request_volume = 0}, 0), Places{});
  EXPECT_EQ(below_the_others({}, {.minimum_hosts = 0, .request_volume = 0}, 1), Places{});
}

TEST(FailurePercentage, IsReachedAtItsThreshold) {
  EXPECT_EQ(failing_often(hosts({14, 15, 16, 100, 0}), {}, 85), (Places{0, 1, 4}));
  EXPECT_EQ(failing_often(hosts({0, 0, 0, 0}), {}, 85), Places{});
}

}  // namespace
}  // namespace damper::upstream
