// How many attempts each cluster's requests have come to of late: attempts ÷ originals over the
// last ten seconds. Main thread only.
#pragma once
#include <deque>
#include <map>
#include <string>

#include "stats/cluster_stats.h"

namespace damper::server {

class AmplificationWindow {
 public:
  explicit AmplificationWindow(const stats::Registry& registry) : registry_(registry) {}

  // To be called once a second for each cluster.
  void sample(const std::string& cluster, const stats::RetryStats& stats);
  // Over the window and what came since the last sample; 1 if there was no request.
  double of(const std::string& cluster, const stats::RetryStats& stats) const;

 private:
  static constexpr std::size_t kSamples = 10;

  const stats::Registry& registry_;
  std::map<std::string, std::deque<stats::AttemptCounts>> samples_;  // the oldest first
};

}  // namespace damper::server
