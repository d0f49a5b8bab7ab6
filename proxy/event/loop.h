// The event loop of one thread: sockets and timers by libevent, then what other threads posted,
// then the writes that were put off to the end of the turn, then the objects that died in it.
// Nothing but post() may be called from outside.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "event/scheduler.h"
#include "event/timer_heap.h"

struct event_base;

namespace damper::event {

// Something that may be handed to destroy_later().
class Disposable {
 public:
  virtual ~Disposable() = default;
};

// Something with work to do once all events of this turn have been handled: a connection that has
// bytes to write.
class EndOfTurn {
 public:
  virtual ~EndOfTurn() = default;
  virtual void at_end_of_turn() = 0;

 private:
  friend class Loop;
  bool queued_ = false;
};

class Loop final : public Scheduler {
 public:
  Loop();
  ~Loop() override;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run();       // until stop()
  void run_once();  // what is due now, without waiting
  void stop() { stopping_ = true; }

  void post(std::function<void()> fn);  // any thread; runs on the loop's
  void destroy_later(std::unique_ptr<Disposable> dead) { doomed_.push_back(std::move(dead)); }
  void at_end_of_turn(EndOfTurn& work);  // once a turn, however often it is asked for
  void forget(EndOfTurn& work);          // its object dies outside destroy_later()

  TimePoint now() override;  // as it was when it was first asked for in this turn
  TimePoint read_clock();    // as it is; now() says the same from then on
  [[nodiscard]] std::unique_ptr<Timer> timer(std::function<void()> fire) override;

  event_base* base() { return base_.get(); }  // for event/ only

 private:
  struct FreeBase {
    void operator()(event_base* base) const;
  };
  class Wakeup;
  class ClockEvent;
  class HeapTimer;

  void turn(int flags);
  void end_turn();
  void run_posted();

  std::unique_ptr<event_base, FreeBase> base_;
  std::unique_ptr<Wakeup> wakeup_;
  std::unique_ptr<ClockEvent> clock_;
  TimerHeap timers_;
  bool stopping_ = false;
  bool now_known_ = false;
  TimePoint now_{};
  std::vector<EndOfTurn*> end_of_turn_;  // null: forgotten
  std::vector<std::unique_ptr<Disposable>> doomed_;
  std::mutex mu_;
  std::vector<std::function<void()>> posted_;  // guarded by mu_
};

}  // namespace damper::event
