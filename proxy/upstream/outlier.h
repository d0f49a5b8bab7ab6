// Takes hosts out of service for a while that fail in a row, or clearly more often than the others
// (Envoy OutlierDetection). Fed by every attempt. Process-wide; a success costs a look at a few
// counters, only a failure and the sweep at the end of an interval take the lock.
#pragma once
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "base/random.h"
#include "config/model/cluster.h"
#include "upstream/evidence.h"
#include "upstream/host.h"

namespace damper::upstream {

// Why a host is found to be an outlier, in the order of stats::OutlierStats.
enum class OutlierKind : std::uint8_t {
  kConsecutive5xx,
  kConsecutiveGatewayFailure,
  kConsecutiveLocalOriginFailure,
  kSuccessRate,
  kLocalOriginSuccessRate,
  kFailurePercentage,
  kLocalOriginFailurePercentage,
};

struct OutlierFinding {
  enum class Fate : std::uint8_t { kEjected, kNotEnforced, kOverflow };
  OutlierKind kind;
  Fate fate;
};
using OutlierFindings = std::vector<OutlierFinding>;

class OutlierDetector {
 public:
  // Without rules the default holds (semantics.md §4): five gateway or local-origin failures in a
  // row, 30 s, at most a third of the hosts; local-origin failures alone where there are two;
  // nothing where there is one.
  OutlierDetector(std::optional<config::OutlierDetection> rules, bool default_on);

  // Returns what was found of hosts by this attempt's evidence, and by the counts of the interval
  // if it is over. Whoever sends nothing learns nothing: a sweep waits for the next attempt.
  OutlierFindings report(Host& host, Evidence evidence, const Hosts& all, TimePoint now,
                         Random& random);

  void reconfigure(std::optional<config::OutlierDetection> rules, bool default_on);
  static std::uint32_t ejected(const Hosts& all, TimePoint now);

 private:
  struct Trip {
    OutlierKind kind;
    std::uint32_t enforcing_percent;
  };
  using Trips = std::array<std::optional<Trip>, 2>;
  struct Rates;  // which counts of a host are compared, and what follows

  void count(HostHealth& health, Evidence evidence) const;
  void sweep(const Hosts& all, TimePoint now, Random& random, OutlierFindings& out);
  void judge(const Rates& rates, const Hosts& all, TimePoint now, Random& random,
             OutlierFindings& out);
  Trips tripped(HostHealth& health, Evidence evidence, std::size_t hosts) const;
  Trips tripped_by_rules(HostHealth& health, Evidence evidence) const;
  void on_trip(const Trip& trip, Host& host, const Hosts& all, TimePoint now, Random& random,
               OutlierFindings& out);
  bool may_eject(const Hosts& all, TimePoint now) const;
  void eject(Host& host, TimePoint now, Random& random);

  // For those who report without the lock.
  std::atomic<TimePoint::rep> next_sweep_;  // the end of the interval
  std::atomic<bool> counts_rates_;
  std::atomic<bool> split_;  // local-origin failures are counted apart

  mutable std::mutex mu_;  // guards what follows
  std::optional<config::OutlierDetection> rules_;
  bool default_on_;
};

}  // namespace damper::upstream
