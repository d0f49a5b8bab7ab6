#include "stats/recent_latency.h"

#include <algorithm>
#include <bit>

namespace damper::stats {
namespace {

constexpr Duration kFresh = std::chrono::milliseconds(100);

std::uint64_t microseconds(Duration d) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::microseconds>(d).count(), 0));
}

}  // namespace

// Below 16 µs a bucket each; above, the highest four bits behind the leading one choose the step.
std::size_t RecentLatency::bucket_of(Duration took) {
  const std::uint64_t us = microseconds(took);
  if (us < kSteps) return us;
  const auto octave = static_cast<std::size_t>(std::bit_width(us)) - 5;
  const std::size_t step = (us >> octave) & (kSteps - 1);
  return std::min(kSteps * (octave + 1) + step, kBuckets - 1);
}

Duration RecentLatency::lower_end(std::size_t bucket) {
  if (bucket < kSteps) return std::chrono::microseconds(bucket);
  const std::size_t octave = bucket / kSteps - 1;
  return std::chrono::microseconds((kSteps + bucket % kSteps) << octave);
}

std::int64_t RecentLatency::slot_at(TimePoint now) {
  constexpr Duration kWidth = kWindow / static_cast<int>(kSlots);
  return now.time_since_epoch() / kWidth;
}

bool RecentLatency::is_recent(const Slot& slot, std::int64_t current) const {
  return slot.number >= 0 && slot.number > current - static_cast<std::int64_t>(kSlots);
}

void RecentLatency::add(Duration took, TimePoint now) {
  if (!slots_) slots_ = std::make_unique<std::array<Slot, kSlots>>();
  const std::int64_t number = slot_at(now);
  Slot& slot = (*slots_)[static_cast<std::size_t>(number) % kSlots];
  if (slot.number < number) {
    slot.number = number;
    slot.counts.fill(0);
  }
  ++slot.counts[bucket_of(took)];
}

void RecentLatency::sum_up(TimePoint now) const {
  if (summed_at_ && now - *summed_at_ < kFresh) return;
  summed_at_ = now;
  sum_.fill(0);
  total_ = 0;
  if (!slots_) return;
  const std::int64_t current = slot_at(now);
  for (const Slot& slot : *slots_) {
    if (!is_recent(slot, current)) continue;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      sum_[i] += slot.counts[i];
      total_ += slot.counts[i];
    }
  }
}

std::uint64_t RecentLatency::samples(TimePoint now) const {
  sum_up(now);
  return total_;
}

std::optional<Duration> RecentLatency::percentile(double percent, std::uint64_t least,
                                                  TimePoint now) const {
  sum_up(now);
  if (total_ == 0 || total_ < least) return std::nullopt;
  const auto rank = static_cast<std::uint64_t>(static_cast<double>(total_) * percent / 100);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += sum_[i];
    if (seen > rank) return lower_end(i);
  }
  return lower_end(kBuckets - 1);
}

}  // namespace damper::stats
