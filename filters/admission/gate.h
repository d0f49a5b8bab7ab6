// The gate of one listener and one setting of the filter: at most so many requests are in at a
// time, a bounded number waits, and a slot that becomes free goes to the first that waits,
// whichever worker it is on. One object for the whole process, behind a lock; what waits is told by
// a post to its own loop.
//
// First attempts come before retries, within each kind the oldest first. A first attempt that finds
// the queue full takes the place of the newest retry: that one has waited the least, and a queue of
// retries must not keep new users out.
#pragma once
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>

#include "filters/admission/adaptive_limit.h"
#include "filters/admission/load.h"
#include "http/worker.h"
#include "stats/http_stats.h"

namespace damper::admission {

class Gate {
 public:
  // What a waiting request is told, once.
  enum class Turn {
    kAdmitted,   // it is in, and leaves by leave()
    kDisplaced,  // its place in the queue is another's
  };

  // A request that waits, or has been told of its turn and not heard it yet. The filter and the
  // queue share it with the post, which may arrive when the request is gone.
  class Waiting {
   public:
    Waiting(event::Loop& loop, std::function<void(Turn)> on_turn, bool is_retry)
        : loop_(loop), on_turn_(std::move(on_turn)), is_retry_(is_retry) {}

   private:
    friend class Gate;
    event::Loop& loop_;
    std::function<void(Turn)> on_turn_;  // of its own thread alone; empty: it wants to hear nothing
    const bool is_retry_;
    std::optional<Turn> told_;                               // guarded by the gate's lock
    std::list<std::shared_ptr<Waiting>>::iterator place_{};  // in the queue, until it is told
  };
  using WaitingRef = std::shared_ptr<Waiting>;

  struct In {};
  struct NoPlace {};
  using Entry = std::variant<In, WaitingRef, NoPlace>;

  struct Arrival {
    bool is_retry = false;
    bool may_wait = true;
  };

  // `load` may be null: nobody is told how many wait.
  Gate(const config::AdmissionFilter& settings, stats::Gauge limit_gauge,
       std::shared_ptr<Load> load);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  const config::AdmissionFilter& settings() const { return settings_; }

  // If it waits, `on_turn` is called on the worker's loop, once, later, unless it withdraws before.
  Entry enter(http::Worker& worker, const Arrival& arrival, std::function<void(Turn)> on_turn);
  // Ends the waiting. False: too late, it will still be told of its turn.
  bool withdraw(Waiting& waiting);
  // The same for a request that is gone: if it has been let in, its slot goes on to the next.
  void abandon(Waiting& waiting);
  void leave(http::Worker& worker, const Stay& stay);

  std::uint32_t limit() const;
  std::uint32_t active() const;
  std::uint32_t queued() const;

 private:
  using Queue = std::list<WaitingRef>;

  std::uint32_t limit_now() const;
  std::size_t queue_limit() const { return settings_.max_queue.value_or(limit_now()); }
  Queue& queue_of(const Waiting& waiting) { return waiting.is_retry_ ? retries_ : originals_; }
  std::size_t queue_size() const { return originals_.size() + retries_.size(); }
  bool make_room(const Arrival& arrival);
  void take_out(Waiting& waiting);
  void tell(WaitingRef waiting, Turn turn);
  void fill();
  void publish_limit(stats::Cells& cells);

  const config::AdmissionFilter settings_;
  const stats::Gauge limit_gauge_;
  const std::shared_ptr<Load> load_;

  mutable std::mutex mu_;  // guards what follows; taken before a loop's own
  std::optional<AdaptiveLimit> adaptive_;
  std::uint32_t active_ = 0;
  std::uint32_t published_limit_ = 0;  // in the gauge
  Queue originals_;
  Queue retries_;
};

}  // namespace damper::admission
