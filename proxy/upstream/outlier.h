// Takes hosts out of service for a while after consecutive failures (Envoy OutlierDetection). Fed
// by every attempt. Process-wide; successes cost a look at three counters, only failures may take
// the lock.
#pragma once
#include <mutex>
#include <optional>

#include "base/random.h"
#include "config/model/cluster.h"
#include "upstream/host.h"

namespace damper::upstream {

// What an attempt says about its host.
enum class Evidence {
  kNone,  // nothing: the host asked for patience (Retry-After), was told to stop, or we refused
  kGood,
  kError,        // 5xx but no gateway error
  kGateway,      // 502, 503, 504
  kLocalOrigin,  // no connection, reset, timeout
};

class OutlierDetector {
 public:
  // Without rules the default holds (semantics.md §4): five gateway or local-origin failures in a
  // row, 30 s, at most a third of the hosts; local-origin failures alone where there are two;
  // nothing where there is one.
  OutlierDetector(std::optional<config::OutlierDetection> rules, bool default_on);

  // Returns true if this attempt's evidence ejected the host.
  bool report(Host& host, Evidence evidence, const Hosts& all, TimePoint now, Random& random);

  void reconfigure(std::optional<config::OutlierDetection> rules, bool default_on);
  static std::uint32_t ejected(const Hosts& all, TimePoint now);

 private:
  bool may_eject(const Hosts& all, TimePoint now) const;
  bool eject(Host& host, const Hosts& all, TimePoint now);
  std::optional<std::uint32_t> tripped(HostHealth& health, Evidence evidence,
                                       std::size_t hosts) const;

  mutable std::mutex mu_;
  std::optional<config::OutlierDetection> rules_;
  bool default_on_;
};

}  // namespace damper::upstream
