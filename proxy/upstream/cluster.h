// One cluster on one worker: its configuration, its load balancing, its pools.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "http/worker.h"
#include "stats/recent_latency.h"
#include "upstream/cluster_state.h"
#include "upstream/host_pool.h"
#include "upstream/load_balancer.h"

namespace damper::upstream {

class Cluster {
 public:
  Cluster(http::Worker& worker, std::shared_ptr<const config::Cluster> config,
          std::shared_ptr<ClusterState> state);
  ~Cluster();

  void update_hosts(const Hosts& hosts);

  const config::Cluster& config() const { return *config_; }
  ClusterState& state() { return *state_; }
  const ClusterState& state() const { return *state_; }
  const Hosts& hosts() const { return balancer_.hosts(); }

  // Null: there is no host. `tried`: see LoadBalancer::pick.
  HostPtr choose_host(std::span<const HostPtr> tried, bool is_retry);
  // `downstream`: what the client speaks, for a cluster that is to be spoken to likewise.
  // `server_name`: with auto_sni connections are shared only by requests for one host; else empty.
  Pool& pool(const HostPtr& host, config::Priority priority, http::Protocol downstream,
             const std::string& server_name = {});

  std::size_t pools() const { return pools_.size(); }

  // From the start of attempts to their response heads, as seen by this worker.
  stats::RecentLatency& attempt_latency() { return attempt_latency_; }

  // May an attempt be made? Nothing: the failure-rate breaker is open.
  std::optional<FailureBreaker::Pass> admit();
  // Feeds outlier detection and the breaker with what an attempt said about its host.
  void report(Host& host, Evidence evidence, FailureBreaker::Pass& pass);
  // Is there a host in service, other than this one, whose last attempt did not fail?
  bool any_well_host_but(const Host* host) const;

 private:
  struct Key {
    const Host* host;
    config::Priority priority;
    config::UpstreamHttp http;
    std::string server_name;
    auto operator<=>(const Key&) const = default;
  };
  static constexpr std::size_t kManyPools = 256;

  void forget_drained_pools();
  void forget_empty_pools();
  void count(const OutlierFinding& found);

  http::Worker& worker_;
  std::shared_ptr<const config::Cluster> config_;
  std::shared_ptr<ClusterState> state_;
  stats::RecentLatency attempt_latency_;
  PoolTimeouts timeouts_;
  LoadBalancer balancer_;
  std::map<Key, std::unique_ptr<HostPool>> pools_;
  std::size_t sweep_at_ = kManyPools;  // clients choose names: pools without connections go
  std::vector<std::unique_ptr<HostPool>> draining_;  // their hosts have left
};

// The clusters of one worker by name.
class Clusters {
 public:
  Cluster* find(std::string_view name) {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : at->second.get();
  }
  void put(std::string name, std::unique_ptr<Cluster> cluster) {
    by_name_.insert_or_assign(std::move(name), std::move(cluster));
  }
  void clear() { by_name_.clear(); }

 private:
  std::map<std::string, std::unique_ptr<Cluster>, std::less<>> by_name_;
};

}  // namespace damper::upstream
