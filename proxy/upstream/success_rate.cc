#include "upstream/success_rate.h"

#include <algorithm>
#include <cmath>

namespace damper::upstream {
namespace {

// Those with enough requests; none if they are too few to tell.
std::vector<std::size_t> judged(const std::vector<RateSample>& samples, RateRules rules) {
  std::vector<std::size_t> out;
  const std::uint32_t volume = std::max(rules.request_volume, 1u);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].requests >= volume) out.push_back(i);
  }
  if (out.size() < rules.minimum_hosts) out.clear();
  return out;
}

}  // namespace

std::vector<std::size_t> below_the_others(const std::vector<RateSample>& samples, RateRules rules,
                                          double stdev_factor) {
  std::vector<std::size_t> hosts = judged(samples, rules);
  if (hosts.empty()) return hosts;
  const auto n = static_cast<double>(hosts.size());
  double mean = 0;
  for (const std::size_t i : hosts) mean += samples[i].success_percent() / n;
  double variance = 0;
  for (const std::size_t i : hosts) {
    variance += std::pow(samples[i].success_percent() - mean, 2) / n;
  }
  const double threshold = mean - stdev_factor * std::sqrt(variance);
  std::erase_if(hosts, [&](std::size_t i) { return samples[i].success_percent() >= threshold; });
  return hosts;
}

std::vector<std::size_t> failing_often(const std::vector<RateSample>& samples, RateRules rules,
                                       double failure_percent) {
  std::vector<std::size_t> hosts = judged(samples, rules);
  std::erase_if(
      hosts, [&](std::size_t i) { return 100.0 - samples[i].success_percent() < failure_percent; });
  return hosts;
}

}  // namespace damper::upstream
