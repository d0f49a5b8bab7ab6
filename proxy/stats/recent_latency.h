// How long something took lately: percentiles over a sliding window. A plain value; whoever shares
// one locks it.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/time.h"

namespace damper::stats {

// Times are kept in steps of a sixteenth of themselves, from a microsecond to nine minutes. An
// answer is the lower end of its step and at most 100 ms old.
class RecentLatency {
 public:
  static constexpr Duration kWindow = std::chrono::seconds(30);

  void add(Duration took, TimePoint now);

  std::uint64_t samples(TimePoint now) const;
  // `percent` of the samples were shorter; none: fewer than `least` samples.
  std::optional<Duration> percentile(double percent, std::uint64_t least, TimePoint now) const;

 private:
  static constexpr std::size_t kSlots = 6;
  static constexpr std::size_t kSteps = 16;
  static constexpr std::size_t kOctaves = 26;
  static constexpr std::size_t kBuckets = kSteps * (kOctaves + 1);

  struct Slot {
    std::int64_t number = -1;
    std::array<std::uint32_t, kBuckets> counts{};
  };

  static std::size_t bucket_of(Duration took);
  static Duration lower_end(std::size_t bucket);
  static std::int64_t slot_at(TimePoint now);
  bool is_recent(const Slot& slot, std::int64_t current) const;
  void sum_up(TimePoint now) const;

  // Made with the first sample: most of what could be measured never happens.
  std::unique_ptr<std::array<Slot, kSlots>> slots_;

  // The sum over the slots, for the questions of the next 100 ms.
  mutable std::optional<TimePoint> summed_at_;
  mutable std::array<std::uint32_t, kBuckets> sum_{};
  mutable std::uint64_t total_ = 0;
};

}  // namespace damper::stats
