// A second attempt beside one that takes long (semantics.md §11): when it is due, and the older of
// two that run. The younger is the router's own.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "config/model/retry.h"
#include "filters/router/attempt.h"

namespace damper::router {

// At most two attempts run at a time; made only for requests whose route hedges.
class Hedge {
 public:
  explicit Hedge(const config::HedgePolicy& policy) : policy_(policy) {}

  bool on_per_try_timeout() const { return policy_.hedge_on_per_try_timeout; }
  // How long the original may take; none: as long as it wants, or nobody knows what is long here.
  std::optional<Duration> patience(const stats::RecentLatency& latency, TimePoint now) const;

  // The older attempt, while both run.
  Attempt* rival() const { return rival_.attempt.get(); }

  struct Running {
    std::unique_ptr<Attempt> attempt;
    std::optional<upstream::RetryTicket> ticket;
  };
  void set_rival(Running older) { rival_ = std::move(older); }
  Running take_rival() { return std::exchange(rival_, {}); }
  // It has ended, but may be on the stack: it is destroyed with the hedge.
  void keep(std::unique_ptr<Attempt> ended) { ended_.push_back(std::move(ended)); }

  std::unique_ptr<event::Timer> timer;

 private:
  const config::HedgePolicy policy_;
  Running rival_;
  std::vector<std::unique_ptr<Attempt>> ended_;
};

}  // namespace damper::router
