#include "filters/admission/adaptive_limit.h"

#include <algorithm>
#include <cmath>

namespace damper::admission {

AdaptiveLimit::AdaptiveLimit(const config::AdaptiveLimit& settings)
    : settings_(settings), limit_(settings.initial), limit_before_(settings.initial) {}

void AdaptiveLimit::record(const Stay& stay, std::uint32_t active) {
  most_active_ = std::max(most_active_, active);
  const Duration latency = stay.ended - stay.admitted;
  const bool tells = stay.good || (minimum_ > Duration::zero() && latency > minimum_);
  if (tells && stay.admitted >= window_start_ && samples_.size() < kMostSamples) {
    samples_.push_back(latency);
  }
  const std::size_t enough = measuring_ ? kSamplesOfMinimum : kSamples;
  if (samples_.size() >= enough && stay.ended - window_start_ >= settings_.window) {
    end_window(stay.ended);
  }
}

void AdaptiveLimit::end_window(TimePoint now) {
  const Duration latency = sampled_latency();
  if (measuring_) {
    end_measuring(latency, now);
  } else {
    limit_ = judged(latency);
    if (now >= next_measuring_) begin_measuring();
  }
  window_start_ = now;
  most_active_ = 0;
  samples_.clear();
}

void AdaptiveLimit::begin_measuring() {
  measuring_ = true;
  limit_before_ = limit_;
  limit_ = std::max(settings_.min, limit_ / 2);
}

void AdaptiveLimit::end_measuring(Duration latency, TimePoint now) {
  const bool first = minimum_ == Duration::zero();
  const bool maybe_still_too_high = first || latency * 10 < minimum_ * 9;
  next_measuring_ =
      now + (maybe_still_too_high ? std::min(10 * settings_.window, settings_.remeasure_interval)
                                  : settings_.remeasure_interval);
  measuring_ = false;
  minimum_ = latency;
  limit_ = limit_before_;
}

Duration AdaptiveLimit::sampled_latency() {
  const auto at =
      samples_.begin() + static_cast<std::ptrdiff_t>(samples_.size() * settings_.percentile / 100);
  std::nth_element(samples_.begin(), at, samples_.end());
  return std::max(*at, Duration(1));
}

std::uint32_t AdaptiveLimit::judged(Duration latency) const {
  if (std::uint64_t{most_active_} * 2 < limit_) return limit_;
  const auto ticks = [](Duration d) { return static_cast<double>(d.count()); };
  const double no_slower = ticks(minimum_) * (1 + settings_.tolerance_percent / 100);
  const double gradient = std::clamp(no_slower / ticks(latency), 0.5, 2.0);
  const double share = gradient * limit_;
  return static_cast<std::uint32_t>(
      std::clamp<double>(share + std::sqrt(share), settings_.min, settings_.max));
}

}  // namespace damper::admission
