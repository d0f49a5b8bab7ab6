// Which hosts of a cluster do clearly worse than the others (Envoy OutlierDetection by success
// rate), or simply too badly (by failure percentage). Pure arithmetic over one interval's counts.
#pragma once
#include <cstdint>
#include <vector>

namespace damper::upstream {

// One host's attempts in the interval.
struct RateSample {
  std::uint32_t requests = 0;
  std::uint32_t successes = 0;
  double success_percent() const { return 100.0 * successes / requests; }
};

struct RateRules {
  std::uint32_t minimum_hosts = 5;     // with enough requests; fewer are not compared
  std::uint32_t request_volume = 100;  // of a host, to be judged
};

// Places in `samples` whose success rate is below the mean less `stdev_factor` standard deviations.
std::vector<std::size_t> below_the_others(const std::vector<RateSample>& samples, RateRules rules,
                                          double stdev_factor);

// Places in `samples` that failed in at least so many percent.
std::vector<std::size_t> failing_often(const std::vector<RateSample>& samples, RateRules rules,
                                       double failure_percent);

}  // namespace damper::upstream
