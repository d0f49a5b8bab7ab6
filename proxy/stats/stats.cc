#include "stats/stats.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace damper::stats {
namespace {

constexpr std::uint32_t kSumAt = kBucketBounds.size() + 1;  // after the buckets
constexpr std::uint32_t kHistogramCells = kSumAt + 1;
constexpr std::uint32_t kGaugeCells = 2;

double as_milliseconds(std::chrono::microseconds d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

}  // namespace

void Cells::record(Histogram h, Duration value) {
  value = std::max(value, Duration::zero());
  const auto bound = std::lower_bound(kBucketBounds.begin(), kBucketBounds.end(), value);
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(value).count();
  bump(h.index + static_cast<std::uint32_t>(bound - kBucketBounds.begin()), 1);
  bump(h.index + kSumAt, static_cast<std::uint64_t>(us));
}

std::uint64_t HistogramValue::count() const {
  return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0});
}

double HistogramValue::quantile(double q) const {
  const double rank = q * static_cast<double>(count());
  double below = 0;
  for (std::size_t i = 0; i < kBucketBounds.size(); ++i) {
    const auto here = static_cast<double>(buckets[i]);
    if (here > 0 && below + here >= rank) {
      const double low = i == 0 ? 0 : as_milliseconds(kBucketBounds[i - 1]);
      return low + (as_milliseconds(kBucketBounds[i]) - low) * (rank - below) / here;
    }
    below += here;
  }
  return buckets.back() > 0 ? as_milliseconds(kBucketBounds.back()) : 0;
}

Cells& Registry::new_cells() {
  std::lock_guard lock(mu_);
  Cells& cells = *cells_.emplace_back(std::make_unique<Cells>());
  for (std::size_t at = 0; at < chunks_; ++at) give_chunk(cells, at);
  return cells;
}

void Registry::give_chunk(Cells& cells, std::size_t at) {
  auto* chunk = memory_.emplace_back(std::make_unique<Cells::Chunk>()).get();
  cells.chunks_[at].store(chunk, std::memory_order_release);
}

void Registry::reserve_cells(std::uint32_t end) {
  for (; chunks_ * Cells::kChunk < end; ++chunks_) {
    for (auto& cells : cells_) give_chunk(*cells, chunks_);
  }
}

std::uint32_t Registry::define(Entry entry) {
  static_assert(kNowhere + kHistogramCells <= kFirst);
  constexpr std::uint32_t kCells[] = {1, kGaugeCells, kHistogramCells};
  const std::uint32_t n = kCells[static_cast<std::size_t>(entry.kind)];
  std::lock_guard lock(mu_);
  // The kind is part of the key: names hold words of the configuration, so two kinds may meet.
  const auto [known, is_new] =
      by_name_.try_emplace(std::to_string(static_cast<int>(entry.kind)) + entry.name, kNowhere);
  if (!is_new) return known->second;
  if (used_ + n > Cells::kChunk * Cells::kChunks) return kNowhere;
  reserve_cells(used_ + n);
  entry.index = known->second = std::exchange(used_, used_ + n);
  entries_.push_back(std::move(entry));
  return known->second;
}

Counter Registry::counter(std::string name, std::string family, std::vector<Label> labels) {
  return {define({Kind::kCounter, std::move(name), std::move(family), std::move(labels), 0})};
}

Gauge Registry::gauge(std::string name, std::string family, std::vector<Label> labels) {
  return {define({Kind::kGauge, std::move(name), std::move(family), std::move(labels), 0})};
}

Histogram Registry::histogram(std::string name, std::string family, std::vector<Label> labels) {
  return {define({Kind::kHistogram, std::move(name), std::move(family), std::move(labels), 0})};
}

std::uint64_t Registry::sum(std::uint32_t index) const {
  std::uint64_t sum = 0;
  for (const auto& cells : cells_) sum += cells->cell(index).load(std::memory_order_relaxed);
  return sum;
}

std::uint64_t Registry::counted(std::uint32_t index) const {
  const auto reset = reset_at_.find(index);
  return sum(index) - (reset == reset_at_.end() ? 0 : reset->second);
}

HistogramValue Registry::recorded(std::uint32_t index) const {
  HistogramValue out;
  for (std::uint32_t i = 0; i < out.buckets.size(); ++i) out.buckets[i] = sum(index + i);
  out.sum = std::chrono::microseconds(sum(index + kSumAt));
  return out;
}

std::uint64_t Registry::value(Counter c) const {
  std::lock_guard lock(mu_);
  return counted(c.index);
}

std::int64_t Registry::value(Gauge g) const {
  std::lock_guard lock(mu_);
  return static_cast<std::int64_t>(sum(g.index));
}

HistogramValue Registry::value(Histogram h) const {
  std::lock_guard lock(mu_);
  return recorded(h.index);
}

void Registry::reset_counters() {
  std::lock_guard lock(mu_);
  for (const Entry& e : entries_) {
    if (e.kind == Kind::kCounter) reset_at_[e.index] = sum(e.index);
  }
}

bool Registry::used(const Entry& e) const {
  switch (e.kind) {
    case Kind::kCounter: return sum(e.index) != 0;
    case Kind::kGauge: return sum(e.index + 1) != 0;
    case Kind::kHistogram: return recorded(e.index).count() != 0;
  }
  return false;
}

Registry::Sample Registry::sample(const Entry& e) const {
  Sample out{.entry = &e, .value = 0, .histogram = {}};
  switch (e.kind) {
    case Kind::kCounter: out.value = counted(e.index); break;
    case Kind::kGauge: out.value = sum(e.index); break;
    case Kind::kHistogram: out.histogram = recorded(e.index); break;
  }
  return out;
}

std::vector<Registry::Sample> Registry::samples(std::string_view filter, bool used_only) const {
  std::vector<Sample> out;
  {
    std::lock_guard lock(mu_);
    for (const Entry& e : entries_) {
      if (e.name.find(filter) == std::string::npos || (used_only && !used(e))) continue;
      out.push_back(sample(e));
    }
  }
  std::sort(out.begin(), out.end(),
            [](const Sample& a, const Sample& b) { return a.entry->name < b.entry->name; });
  return out;
}

}  // namespace damper::stats
