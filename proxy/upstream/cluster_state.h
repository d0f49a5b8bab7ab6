// What the process knows about a cluster: budgets, breakers, hosts' health, statistics. One object,
// shared by the workers and kept across reloads by the cluster's name, so that a limit means what
// the file says.
#pragma once
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "config/model/cluster.h"
#include "net/tls_context.h"
#include "stats/cluster_stats.h"
#include "upstream/circuit_breaker.h"
#include "upstream/failure_breaker.h"
#include "upstream/host.h"
#include "upstream/live_mode.h"
#include "upstream/outlier.h"
#include "upstream/retry_budget.h"

namespace damper::upstream {

class ClusterState {
 public:
  ClusterState(const config::Cluster& config, stats::Registry& registry,
               const stats::RetryWords& words, unsigned workers);

  void reconfigure(const config::Cluster& config);

  RetryBudget& budget(config::Priority p) { return budgets_[index(p)]; }
  CircuitBreaker& breaker(config::Priority p) { return breakers_[index(p)]; }

  // TLS of its connections; null: plain.
  std::shared_ptr<net::TlsClient> tls() const;
  void set_tls(std::shared_ptr<net::TlsClient> tls);  // main thread

  // The host at that address; the same object as long as somebody still has it, so that its health
  // is not forgotten. Main thread only.
  HostPtr host(const net::Address& address, const config::ClusterEndpoint& endpoint);

  const std::string name;
  stats::ClusterStats stats;
  OutlierDetector outlier;
  FailureBreaker failure_breaker;
  std::atomic<LiveMode> live_mode{LiveMode::kNormal};  // written by the main thread

 private:
  static std::size_t index(config::Priority p) { return static_cast<std::size_t>(p); }

  std::array<RetryBudget, 2> budgets_;
  std::array<CircuitBreaker, 2> breakers_;
  std::vector<std::pair<config::ClusterEndpoint, HostPtr>> known_hosts_;
  mutable std::mutex tls_mu_;
  std::shared_ptr<net::TlsClient> tls_;  // guarded by tls_mu_
};

}  // namespace damper::upstream
