// The hosts of a STRICT_DNS or LOGICAL_DNS cluster: asks for its names again and again, and reports
// when the hosts have changed. What is known stays while DNS fails or is silent: only an answer
// takes hosts away. Main thread only.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "config/model/cluster.h"
#include "event/scheduler.h"
#include "net/resolver.h"
#include "stats/cluster_stats.h"

namespace damper::upstream {

class DnsCluster {
 public:
  struct ResolvedHost {
    net::Address address;
    const config::ClusterEndpoint* endpoint;  // of the cluster's configuration
  };
  // net::Resolver::resolve, which is never silent for ever and never calls back from inside.
  using Resolve = std::function<net::Query(const std::string& name, config::Cluster::DnsFamily,
                                           net::Resolver::Done)>;
  // All hosts, in the order of the endpoints. First when every name has been answered or has
  // failed once, whatever came of it; from then on whenever the hosts have changed.
  using Report = std::function<void(const std::vector<ResolvedHost>&)>;
  struct Tools {
    event::Scheduler& scheduler;
    Random& random;
    stats::Cells& cells;
    Resolve resolve;
  };

  // `config` and `stats` outlive it. STRICT_DNS: a host for every address of every name, and none
  // for a name without addresses. LOGICAL_DNS: the first address of each name; an answer without
  // addresses changes nothing. IP literals and unix sockets are hosts as they are.
  DnsCluster(const config::Cluster& config, const stats::ClusterStats& stats, Tools tools,
             Report report);
  DnsCluster(const DnsCluster&) = delete;
  DnsCluster& operator=(const DnsCluster&) = delete;

  void start();  // reports at once if no endpoint is a name

 private:
  struct Target {
    const config::ClusterEndpoint* endpoint;
    std::vector<net::Address> addresses;
    std::unique_ptr<event::Timer> refresh;  // null: it is an address
    net::Query query;
    bool answered = false;  // or failed
    bool failing = false;
  };

  Target target(const config::ClusterEndpoint& endpoint);
  void ask(Target& target);
  void on_answer(Target& target, const Result<net::Resolution>& answer);
  void take(Target& target, const net::Resolution& answer);
  void note_failure(Target& target, const Error& error);
  Duration refresh_delay(const Result<net::Resolution>& answer);
  void report_if_due();
  std::vector<ResolvedHost> hosts() const;

  const config::Cluster& config_;
  const stats::ClusterStats& stats_;
  Tools tools_;
  Report report_;
  std::vector<Target> targets_;  // does not grow: timers and queries know their target
  std::size_t unanswered_ = 0;   // names in the first round
  bool reported_ = false;
  bool changed_ = false;  // since the last report
};

}  // namespace damper::upstream
