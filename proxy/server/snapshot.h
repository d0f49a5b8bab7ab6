// A checked configuration, compiled: what is built once on the main thread and then shared by the
// workers, immutable.
#pragma once
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/model/bootstrap.h"
#include "filters/legs/correlation.h"
#include "filters/router/retry_matchers.h"
#include "server/access_log.h"
#include "server/tls_setup.h"
#include "stats/stats.h"
#include "stream/frontend.h"
#include "upstream/cluster_state.h"

namespace damper::server {

struct FrontendSnapshot {
  std::shared_ptr<const stream::FrontendConfig> config;
  std::vector<AccessLog> access_logs;
  router::ClusterMatchers cluster_matchers;
};

struct Snapshot {
  std::shared_ptr<const config::Bootstrap> bootstrap;
  std::vector<std::shared_ptr<const FrontendSnapshot>> frontends;  // one a listener
  std::vector<std::shared_ptr<upstream::ClusterState>> clusters;   // one a cluster, in its order
};

// What outlives a snapshot: statistics, the state of clusters and the open log files, all found
// again by name.
class Registries {
 public:
  explicit Registries(unsigned workers) : workers_(workers) {}

  legs::Correlation& correlation() { return correlation_; }

  stats::Registry& stats() { return stats_; }
  AccessLogSink& access_logs() { return access_logs_; }

  // The state of a cluster of that name, told of its new configuration.
  std::shared_ptr<upstream::ClusterState> cluster(const config::Cluster& config);
  std::shared_ptr<stats::HttpStats> http(const std::string& stat_prefix);

  // Reads the certificates that the configuration names. Where nothing is written otherwise, what
  // was there goes on: with its sessions, tickets and statistics. A listener without TLS: null.
  Result<std::shared_ptr<net::TlsServer>> tls(const config::Listener& listener);
  Result<std::shared_ptr<net::TlsClient>> tls(const config::Cluster& cluster);

 private:
  const unsigned workers_;
  stats::Registry stats_;
  AccessLogSink access_logs_{stats_};
  legs::Correlation correlation_{std::random_device{}()};
  std::map<std::string, std::shared_ptr<upstream::ClusterState>> clusters_;
  std::map<std::string, std::shared_ptr<stats::HttpStats>> http_;
  const net::TlsTools tls_tools_ = make_tls_tools();
  std::map<std::string, std::shared_ptr<net::TlsServer>> tls_servers_;  // by listener
};

// An Error for what only building finds: a log file that cannot be opened, a value with a wrong
// operator.
Result<std::shared_ptr<const Snapshot>> build_snapshot(
    std::shared_ptr<const config::Bootstrap> bootstrap, Registries& registries);

// Builds it and forgets it: what `--mode validate` does, without a socket.
Status try_to_build(std::shared_ptr<const config::Bootstrap> bootstrap);

}  // namespace damper::server
