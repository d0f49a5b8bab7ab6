// The failure-rate breaker of one cluster (semantics.md §10). Closed: all attempts pass, and their
// outcomes are counted over a sliding window. When too many have failed it opens: nothing passes
// for a while. Then it is half open: a few probes at a time pass. As many successes close it, one
// failure opens it again.
//
// Process-wide. A success in the closed state takes no lock.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "config/model/cluster.h"
#include "upstream/evidence.h"
#include "upstream/slot_ring.h"

namespace damper::upstream {

class FailureBreaker {
 public:
  enum class State : std::uint32_t { kOff, kClosed, kOpen, kHalfOpen };
  enum class Change : std::uint8_t { kNone, kOpened, kClosed };

 private:
  // One stay in a state. What was let in by another has no say in this one.
  struct Phase {
    State state = State::kOff;
    std::uint32_t number = 0;
    bool operator==(const Phase&) const = default;
  };

 public:
  // Permission to make one attempt. A probe's place is free again when it has reported, or dies
  // without.
  class Pass {
   public:
    Pass() = default;  // of no breaker: reports lead nowhere
    Pass(Pass&& other) noexcept
        : breaker_(std::exchange(other.breaker_, nullptr)), phase_(other.phase_) {}
    Pass& operator=(Pass&& other) noexcept {
      std::swap(breaker_, other.breaker_);
      std::swap(phase_, other.phase_);
      return *this;
    }
    ~Pass() { (void)report(0, Evidence::kNone, {}); }

    bool is_probe() const { return breaker_ && phase_.state == State::kHalfOpen; }
    // What the attempt came to. Called by worker number `worker`; only the first report counts.
    Change report(unsigned worker, Evidence evidence, TimePoint now);

   private:
    friend class FailureBreaker;
    Pass(FailureBreaker* breaker, Phase phase) : breaker_(breaker), phase_(phase) {}
    FailureBreaker* breaker_ = nullptr;
    Phase phase_;
  };

  // Without rules everything passes and nothing is counted.
  FailureBreaker(const std::optional<config::FailureBreaker>& rules, unsigned workers);
  FailureBreaker(const FailureBreaker&) = delete;
  FailureBreaker& operator=(const FailureBreaker&) = delete;

  std::optional<Pass> admit(TimePoint now);  // nothing: the attempt must not be made

  // Other rules begin to count anew; an open breaker stays open as long as it was to be.
  void reconfigure(const std::optional<config::FailureBreaker>& rules);

  // Does everything pass? Only then is anything worth a retry: half-open traffic never is.
  bool closed() const {
    const State state = phase_.load(std::memory_order_acquire).state;
    return state == State::kOff || state == State::kClosed;
  }
  State state(TimePoint now) const;    // an open one whose time is over is half open
  Duration wait(TimePoint now) const;  // until probes pass; zero: they do, or everything does

 private:
  static constexpr std::size_t kSlots = 10;

  // What one worker counts, on cache lines of its own. It joins a phase under the lock, and counts
  // without.
  struct alignas(64) Cell {
    std::atomic<std::uint32_t> phase{0};
    Duration slot_width{};
    SlotRing<kSlots> requests;
    SlotRing<kSlots> failures;
  };

  bool is_current(Phase phase) const { return phase_.load(std::memory_order_acquire) == phase; }
  TimePoint open_until() const {
    return TimePoint(Duration(open_until_.load(std::memory_order_relaxed)));
  }
  std::optional<Pass> admit_probe(TimePoint now);
  Change count(Phase phase, unsigned worker, Evidence evidence, TimePoint now);
  bool join(Cell& cell, Phase phase);
  Change open_if_due(Phase phase, TimePoint now);
  Change end_probe(Phase phase, Evidence evidence, TimePoint now);
  bool fails_too_often(TimePoint now) const;
  Change open(TimePoint now);
  void enter(State state);

  std::vector<Cell> cells_;     // one a worker
  std::atomic<Phase> phase_{};  // written under mu_
  std::atomic<TimePoint::rep> open_until_{0};

  std::mutex mu_;  // guards what follows
  std::optional<config::FailureBreaker> rules_;
  std::uint32_t probes_running_ = 0;
  std::uint32_t probes_succeeded_ = 0;
};

std::string_view word(FailureBreaker::State state);  // "off", "closed", "open", "half_open"

}  // namespace damper::upstream
