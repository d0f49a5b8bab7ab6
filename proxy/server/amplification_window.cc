#include "server/amplification_window.h"

namespace damper::server {

void AmplificationWindow::sample(const std::string& cluster, const stats::RetryStats& stats) {
  auto& samples = samples_[cluster];
  samples.push_back(stats::attempt_counts(registry_, stats));
  if (samples.size() > kSamples) samples.pop_front();
}

double AmplificationWindow::of(const std::string& cluster, const stats::RetryStats& stats) const {
  const auto at = samples_.find(cluster);
  const bool none = at == samples_.end();
  return stats::amplification(none ? stats::AttemptCounts{} : at->second.front(),
                              stats::attempt_counts(registry_, stats));
}

}  // namespace damper::server
