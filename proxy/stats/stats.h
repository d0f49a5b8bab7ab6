// Counters, gauges and histograms. Each thread adds to its own cells without a lock or a shared
// cache line; a reader sums them. A statistic is an index: it is named once, under a lock, and then
// costs one addition.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.h"

namespace damper::stats {

struct Counter {
  std::uint32_t index = 0;
};
struct Gauge {  // the sum of what all threads added and took away, then how often it was changed
  std::uint32_t index = 0;
};
struct Histogram {  // of durations; buckets are consecutive cells, the sum in microseconds is last
  std::uint32_t index = 0;
};

// Upper bounds of a histogram's buckets, inclusive: Envoy's, so that dashboards work. What is above
// the last goes into one more bucket.
inline constexpr std::array<std::chrono::microseconds, 19> kBucketBounds = [] {
  using std::chrono::milliseconds;
  return std::array<std::chrono::microseconds, 19>{std::chrono::microseconds(500),
                                                   milliseconds(1),
                                                   milliseconds(5),
                                                   milliseconds(10),
                                                   milliseconds(25),
                                                   milliseconds(50),
                                                   milliseconds(100),
                                                   milliseconds(250),
                                                   milliseconds(500),
                                                   milliseconds(1'000),
                                                   milliseconds(2'500),
                                                   milliseconds(5'000),
                                                   milliseconds(10'000),
                                                   milliseconds(30'000),
                                                   milliseconds(60'000),
                                                   milliseconds(300'000),
                                                   milliseconds(600'000),
                                                   milliseconds(1'800'000),
                                                   milliseconds(3'600'000)};
}();

// One thread's values. Written by that thread alone, read by any.
class Cells {
 public:
  void add(Counter c, std::uint64_t n = 1) { bump(c.index, n); }
  void add(Gauge g, std::int64_t n) {
    bump(g.index, static_cast<std::uint64_t>(n));
    bump(g.index + 1, 1);
  }
  // For a gauge that this thread alone writes.
  void set(Gauge g, std::int64_t value) {
    cell(g.index).store(static_cast<std::uint64_t>(value), std::memory_order_relaxed);
    bump(g.index + 1, 1);
  }
  void record(Histogram h, Duration value);

 private:
  friend class Registry;
  static constexpr std::size_t kChunk = 1024;
  static constexpr std::size_t kChunks = 4096;
  struct alignas(64) Chunk {
    std::array<std::atomic<std::uint64_t>, kChunk> cells{};
  };

  std::atomic<std::uint64_t>& cell(std::uint32_t index) const {
    return chunks_[index / kChunk].load(std::memory_order_acquire)->cells[index % kChunk];
  }
  // Not a read-modify-write: no other thread writes here.
  void bump(std::uint32_t index, std::uint64_t n) {
    auto& c = cell(index);
    c.store(c.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  std::array<std::atomic<Chunk*>, kChunks> chunks_{};
};

struct Label {
  std::string name;
  std::string value;
};

struct HistogramValue {
  std::array<std::uint64_t, kBucketBounds.size() + 1> buckets{};
  std::chrono::microseconds sum{};

  std::uint64_t count() const;
  // An estimate in milliseconds: values are taken to lie evenly within a bucket; the last bound for
  // what is above it. 0 if nothing was recorded.
  double quantile(double q) const;
};

// Names all statistics of the process. Thread-safe. A name that exists already gives the same
// statistic. When memory for cells runs out (four million), further statistics lead nowhere and are
// not listed. No index is 0: holders may use it for "not named yet".
class Registry {
 public:
  Registry() = default;
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Cells for one more thread; they live as long as the registry.
  Cells& new_cells();

  // `name` is Envoy's dotted name ("cluster.orders.upstream_rq_total"). For Prometheus the family
  // is the name without what the labels say ("cluster.upstream_rq_total",
  // envoy_cluster_name="orders").
  Counter counter(std::string name, std::string family, std::vector<Label> labels);
  Gauge gauge(std::string name, std::string family, std::vector<Label> labels);
  Histogram histogram(std::string name, std::string family, std::vector<Label> labels);

  std::uint64_t value(Counter) const;  // since the last reset
  std::int64_t value(Gauge) const;
  HistogramValue value(Histogram) const;

  // With `used_only` those that were ever changed; `filter` is a part of the name, empty for all.
  //
  // "name: value" lines, sorted, as Envoy's /stats; of a histogram "P50(…) P90(…) P99(…) count(…)"
  // in milliseconds, or "No recorded values".
  std::string text(std::string_view filter, bool used_only) const;
  // Envoy's /stats?format=json.
  std::string json(std::string_view filter, bool used_only) const;
  // Text format 0.0.4. Families are prefixed "envoy_", those that begin with "damper." are not.
  std::string prometheus(std::string_view filter, bool used_only) const;
  void reset_counters();

 private:
  enum class Kind : std::uint8_t { kCounter, kGauge, kHistogram };
  struct Entry {  // never changes once it is defined
    Kind kind;
    std::string name;
    std::string family;
    std::vector<Label> labels;
    std::uint32_t index;
  };
  struct Sample {
    const Entry* entry;
    std::uint64_t value = 0;  // of a counter or, as its bits, of a gauge
    HistogramValue histogram;
  };
  class Prometheus;

  std::uint32_t define(Entry entry);
  void reserve_cells(std::uint32_t end);
  void give_chunk(Cells& cells, std::size_t at);
  std::uint64_t sum(std::uint32_t index) const;
  std::uint64_t counted(std::uint32_t index) const;
  HistogramValue recorded(std::uint32_t index) const;
  bool used(const Entry& entry) const;
  Sample sample(const Entry& entry) const;
  std::vector<Sample> samples(std::string_view filter, bool used_only) const;  // sorted by name
  static void append_scalar(std::string& out, const Sample& sample);

  static constexpr std::uint32_t kNowhere = 1;  // cells that are written when there is no more room
  static constexpr std::uint32_t kFirst = 64;

  mutable std::mutex mu_;
  std::vector<std::unique_ptr<Cells>> cells_;
  std::vector<std::unique_ptr<Cells::Chunk>> memory_;
  std::deque<Entry> entries_;
  std::unordered_map<std::string, std::uint32_t> by_name_;  // kind and name → index
  std::unordered_map<std::uint32_t, std::uint64_t> reset_at_;
  std::uint32_t used_ = kFirst;
  std::size_t chunks_ = 1;
};

}  // namespace damper::stats
