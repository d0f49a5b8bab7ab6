#include "upstream/cluster_state.h"

#include <algorithm>

namespace damper::upstream {
namespace {

const config::Thresholds& high(const config::Cluster& config) {
  static const config::Thresholds defaults;
  return config.thresholds_high ? *config.thresholds_high : defaults;
}

// Outlier detection is on by itself where the default budget holds (semantics.md §4).
bool default_budget(const config::Cluster& config) {
  return !config.thresholds.retry_budget && !config.thresholds.max_retries;
}

}  // namespace

ClusterState::ClusterState(const config::Cluster& config, stats::Registry& registry,
                           const stats::RetryWords& words, unsigned workers)
    : name(config.name),
      stats(registry, config.name, words),
      outlier(config.outlier_detection, default_budget(config)),
      failure_breaker(config.breaker, workers),
      budgets_{RetryBudget(config.thresholds, workers), RetryBudget(high(config), workers)},
      breakers_{CircuitBreaker(config.thresholds), CircuitBreaker(high(config))} {}

void ClusterState::reconfigure(const config::Cluster& config) {
  budgets_[0].reconfigure(config.thresholds);
  budgets_[1].reconfigure(high(config));
  breakers_[0].reconfigure(config.thresholds);
  breakers_[1].reconfigure(high(config));
  outlier.reconfigure(config.outlier_detection, default_budget(config));
  failure_breaker.reconfigure(config.breaker);
}

std::shared_ptr<net::TlsClient> ClusterState::tls() const {
  const std::lock_guard lock(tls_mu_);
  return tls_;
}

void ClusterState::set_tls(std::shared_ptr<net::TlsClient> tls) {
  const std::lock_guard lock(tls_mu_);
  tls_ = std::move(tls);
}

HostPtr ClusterState::host(const net::Address& address, const config::ClusterEndpoint& endpoint) {
  std::erase_if(known_hosts_, [](const auto& known) { return known.second.use_count() == 1; });
  const auto at = std::find_if(known_hosts_.begin(), known_hosts_.end(), [&](const auto& known) {
    return known.second->address == address && known.first == endpoint;
  });
  if (at != known_hosts_.end()) return at->second;
  const std::string& hostname =
      endpoint.hostname.empty() ? endpoint.address.host : endpoint.hostname;
  auto made = std::make_shared<Host>(address, hostname, endpoint.weight, endpoint.priority);
  known_hosts_.emplace_back(endpoint, made);
  return made;
}

}  // namespace damper::upstream
