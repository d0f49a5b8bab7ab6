// The limits of one cluster and priority (Envoy CircuitBreakers.Thresholds), one object for the
// whole process: what the file says holds whatever the number of workers.
#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

#include "config/model/cluster.h"

namespace damper::upstream {

// At most max() at a time, exactly, whatever the number of threads. Outlives its tickets.
class Limit {
 public:
  // One place, until it dies. Converts to false if there was none.
  class Ticket {
   public:
    Ticket() = default;
    Ticket(Ticket&& other) noexcept : limit_(std::exchange(other.limit_, nullptr)) {}
    Ticket& operator=(Ticket&& other) noexcept {
      std::swap(limit_, other.limit_);
      return *this;
    }
    ~Ticket() {
      if (limit_) limit_->used_.fetch_sub(1, std::memory_order_relaxed);
    }
    explicit operator bool() const { return limit_ != nullptr; }

   private:
    friend class Limit;
    explicit Ticket(Limit* limit) : limit_(limit) {}
    Limit* limit_ = nullptr;
  };

  explicit Limit(std::uint32_t max) : max_(max) {}
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

  Ticket take();
  void set_max(std::uint32_t max) { max_.store(max, std::memory_order_relaxed); }

  std::uint32_t max() const { return max_.load(std::memory_order_relaxed); }
  std::uint32_t used() const { return used_.load(std::memory_order_relaxed); }
  bool reached() const { return used() >= max(); }  // Envoy's gauges cx_open, rq_open, …

 private:
  std::atomic<std::uint32_t> max_;
  std::atomic<std::uint32_t> used_{0};
};

struct CircuitBreaker {
  explicit CircuitBreaker(const config::Thresholds& thresholds)
      : connections(thresholds.max_connections),
        pending_requests(thresholds.max_pending_requests),
        requests(thresholds.max_requests) {}

  void reconfigure(const config::Thresholds& thresholds);  // places taken stay taken

  Limit connections;
  Limit pending_requests;
  Limit requests;
};

}  // namespace damper::upstream
