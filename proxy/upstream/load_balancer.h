// Chooses a host: round robin, least request or random, by Envoy's priorities, past ejected hosts
// unless too many are, and for retries past the hosts already tried. One a cluster and worker.
#pragma once
#include <span>

#include "base/random.h"
#include "config/model/cluster.h"
#include "upstream/host.h"

namespace damper::upstream {

class LoadBalancer {
 public:
  LoadBalancer(config::Cluster::LbPolicy policy, std::uint32_t choice_count,
               double panic_threshold_percent);

  void update(Hosts hosts);
  const Hosts& hosts() const { return hosts_; }

  // Null if there is no host, or if all are ejected and there is no panic (threshold 0). `tried`
  // are hosts to avoid if there is another; `avoid_busy` leaves hosts alone whose Retry-After runs.
  HostPtr pick(TimePoint now, Random& random, std::span<const HostPtr> tried, bool avoid_busy);

 private:
  struct Level {  // the hosts of one priority
    Hosts hosts;
    bool weighted = false;
    std::size_t next = 0;
    std::vector<std::int64_t> credit;  // of smooth weighted round robin
    // As the present choice sees it.
    double share = 0;    // of the traffic
    bool panic = false;  // so few are in service that all are used
  };

  void weigh_levels(TimePoint now);
  Level& choose_level(Random& random);
  template <class Usable>
  HostPtr pick_among(Level& level, Random& random, Usable usable);
  template <class Usable>
  HostPtr round_robin(Level& level, Usable usable);
  template <class Usable>
  HostPtr weighted_round_robin(Level& level, Usable usable);
  template <class Usable>
  HostPtr least_request(Level& level, Random& random, Usable usable);
  template <class Usable>
  HostPtr any(Level& level, Random& random, Usable usable);

  config::Cluster::LbPolicy policy_;
  std::uint32_t choice_count_;
  double panic_threshold_percent_;
  Hosts hosts_;
  std::vector<Level> levels_;  // by priority, none empty
};

}  // namespace damper::upstream
