// Counters, gauges and histograms. Each thread adds to its own cells without a lock or a shared cache line; a reader
// sums them. A statistic is an index: it is named once, under a lock, and then costs one addition.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
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
struct Gauge {  // the sum of what all threads added and took away
  std::uint32_t index = 0;
};
struct Histogram {  // of durations; buckets are consecutive cells, the sum in microseconds comes last
  std::uint32_t index = 0;
};

// One thread's values. Written by that thread alone, read by any.
class Cells {
 public:
  void add(Counter c, std::uint64_t n = 1) { bump(c.index, n); }
  void add(Gauge g, std::int64_t n) { bump(g.index, static_cast<std::uint64_t>(n)); }
  void record(Histogram h, Duration value);

 private:
  friend class Registry;
  static constexpr std::size_t kChunk = 1024;
  static constexpr std::size_t kChunks = 256;
  using Chunk = std::array<std::atomic<std::uint64_t>, kChunk>;

  void bump(std::uint32_t index, std::uint64_t n) {
    auto& cell = (*chunks_[index / kChunk].load(std::memory_order_acquire))[index % kChunk];
    cell.store(cell.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  std::array<std::atomic<Chunk*>, kChunks> chunks_{};
};

// Upper bounds of a histogram's buckets: Envoy's, so that dashboards work.
const std::vector<std::chrono::milliseconds>& bucket_bounds();

struct Label {
  std::string name;
  std::string value;
};

// Names all statistics of the process. Thread-safe. A name that exists already gives the same statistic.
class Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Cells for one more thread; they live as long as the registry.
  Cells& new_cells();

  // `name` is Envoy's dotted name ("cluster.orders.upstream_rq_total"). For Prometheus the family is the name without
  // what the labels say ("cluster.upstream_rq_total", envoy_cluster_name="orders").
  Counter counter(std::string name, std::string family, std::vector<Label> labels);
  Gauge gauge(std::string name, std::string family, std::vector<Label> labels);
  Histogram histogram(std::string name, std::string family, std::vector<Label> labels);

  std::uint64_t value(Counter) const;
  std::int64_t value(Gauge) const;

  // "name: value" lines, sorted (Envoy's /stats). With `used_only` those that were ever changed; `filter` is a part of
  // the name, empty for all.
  std::string text(std::string_view filter, bool used_only) const;
  std::string json(std::string_view filter, bool used_only) const;       // Envoy's /stats?format=json
  std::string prometheus(std::string_view filter, bool used_only) const;  // text format 0.0.4
  void reset_counters();

 private:
  enum class Kind : std::uint8_t { kCounter, kGauge, kHistogram };
  struct Entry {
    std::string name;
    std::string family;
    std::vector<Label> labels;
    Kind kind;
    std::uint32_t index;
  };

  std::uint32_t define(Kind kind, std::string name, std::string family, std::vector<Label> labels);
  std::uint64_t sum(std::uint32_t index) const;

  mutable std::mutex mu_;
  std::vector<std::unique_ptr<Cells>> cells_;
  std::vector<std::unique_ptr<Cells::Chunk>> memory_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::uint32_t> by_name_;  // position in entries_
  std::unordered_map<std::uint32_t, std::uint64_t> reset_at_;
  std::uint32_t used_ = 0;
};

}  // namespace damper::stats
