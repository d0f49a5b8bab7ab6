// How many requests at a time a service can bear, learned from its latency: while more requests
// take no longer than few, there may be more; when they take longer, they stand in a queue inside
// the service, and belong in ours. After Envoy's adaptive_concurrency and Netflix's gradient
// limits.
//
//   gradient = minimum latency × (1 + tolerance) ÷ latency now, between 0.5 and 2
//   limit    = limit × gradient + √(limit × gradient)
//
// Latencies are percentiles of windows. The root is the headroom that finds out whether more is
// possible. A service that does c requests at once without delay gets about c × (1 + tolerance) and
// the root of that.
//
// - A window judges only requests that were let in during it: those before felt another limit. It
//   lasts until there are enough of them.
// - A limit that nobody came near to is not judged.
// - Every `remeasure_interval` the limit is halved for a moment, which is below what the service
// can
//   bear, and the latency measured then is the new minimum. Else a service that became slower for
//   good would be throttled for good. The first time, and after one that was a tenth lower than the
//   last, it is measured again soon: a limit that began too high hides the true minimum.
// - What was no good answer (errors, timeouts, clients that left) may be quick without meaning
//   anything: it counts only if it took longer than the minimum, which is bad news at any rate.
//
// A policy: it knows no clock. Not thread-safe.
#pragma once
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "config/model/filters.h"

namespace damper::admission {

// A request that has been let in and is over.
struct Stay {
  TimePoint admitted;
  TimePoint ended;
  bool good = true;  // it was answered, and not with 5xx
};

class AdaptiveLimit {
 public:
  explicit AdaptiveLimit(const config::AdaptiveLimit& settings);

  std::uint32_t limit() const { return limit_; }
  Duration minimum_latency() const { return minimum_; }  // zero: not measured yet

  // `active`: how many were in, this one included. Clocks of different workers may differ a little.
  void record(const Stay& stay, std::uint32_t active);

 private:
  static constexpr std::size_t kSamples = 20;           // at least, of a window
  static constexpr std::size_t kSamplesOfMinimum = 50;  // the same of one that measures
  static constexpr std::size_t kMostSamples = 500;      // a window looks at no more

  void end_window(TimePoint now);
  void begin_measuring();
  void end_measuring(Duration latency, TimePoint now);
  Duration sampled_latency();
  std::uint32_t judged(Duration latency) const;

  const config::AdaptiveLimit settings_;
  std::uint32_t limit_;
  std::uint32_t limit_before_;  // the measuring began
  bool measuring_ = true;
  Duration minimum_{};
  TimePoint next_measuring_{};
  TimePoint window_start_{};
  std::uint32_t most_active_ = 0;  // in this window
  std::vector<Duration> samples_;
};

}  // namespace damper::admission
