// One upstream server. Process-wide: workers share what they know about it.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "net/address.h"
#include "upstream/success_rate.h"

namespace damper::upstream {

// Attempts and successes of one interval: together in a word, so that they are always of the same
// attempts.
class RateCount {
 public:
  void add(bool success) { both_.fetch_add(kOne | (success ? 1 : 0), std::memory_order_relaxed); }
  RateSample take() {
    const std::uint64_t both = both_.exchange(0, std::memory_order_relaxed);
    return {.requests = static_cast<std::uint32_t>(both >> 32),
            .successes = static_cast<std::uint32_t>(both)};
  }

 private:
  static constexpr std::uint64_t kOne = std::uint64_t{1} << 32;
  std::atomic<std::uint64_t> both_{0};
};

// What outlier detection knows of a host. Counts are relaxed atomics: one answer more or less
// decides nothing.
struct HostHealth {
  std::atomic<std::uint32_t> consecutive_5xx{0};
  std::atomic<std::uint32_t> consecutive_gateway{0};
  std::atomic<std::uint32_t> consecutive_local{0};
  RateCount answers;                             // attempts of this interval by what was answered,
  RateCount connections;                         //   and by whether there was an answer at all
  std::atomic<TimePoint::rep> ejected_until{0};  // 0: in service
  std::atomic<TimePoint::rep> avoid_until{0};    // the Retry-After of its last 503
  std::atomic<bool> last_attempt_failed{
      false};                   // connect or request: decides what a retry onto it costs
  std::uint32_t ejections = 0;  // guarded by the detector's lock, like `back_at`
  TimePoint back_at{};
};

struct Host {
  Host(const net::Address& at, std::string name, std::uint32_t weight_, std::uint32_t priority_)
      : address(at),
        text(at.to_string()),
        hostname(std::move(name)),
        weight(weight_),
        priority(priority_) {}

  bool ejected(TimePoint now) const {
    const auto until = health.ejected_until.load(std::memory_order_relaxed);
    return until != 0 && now.time_since_epoch().count() < until;
  }
  bool avoided(TimePoint now) const {
    return now.time_since_epoch().count() < health.avoid_until.load(std::memory_order_relaxed);
  }

  const net::Address address;
  const std::string text;      // "10.0.0.1:80"
  const std::string hostname;  // as configured; for auto_host_rewrite
  const std::uint32_t weight;
  const std::uint32_t priority;
  std::atomic<std::uint32_t> active_requests{0};
  HostHealth health;
};

using HostPtr = std::shared_ptr<Host>;
using Hosts = std::vector<HostPtr>;

}  // namespace damper::upstream
