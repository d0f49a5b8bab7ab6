// Many objects with the same patience and one timer: idle connections, requests without progress.
// To start an object's time again costs a few pointers, where a timer of its own would cost a heap
// operation and 128 bytes.
#pragma once
#include <memory>
#include <utility>

#include "event/scheduler.h"

namespace damper::event {

class TimeoutQueue {
 public:
  // An object that can wait in one queue at a time. Leaves it when it dies.
  class Member {
   public:
    Member() = default;
    virtual ~Member() { leave(); }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    virtual void on_timeout() = 0;
    void leave();
    bool waiting() const { return queue_ != nullptr; }

   private:
    friend class TimeoutQueue;
    TimeoutQueue* queue_ = nullptr;
    Member* before_ = nullptr;
    Member* after_ = nullptr;
    TimePoint since_{};
  };

  // A timeout of zero means none: members wait for ever.
  TimeoutQueue(Scheduler& scheduler, Duration timeout)
      : scheduler_(scheduler), timeout_(timeout), timer_(scheduler.timer([this] { expire(); })) {}
  ~TimeoutQueue();
  TimeoutQueue(const TimeoutQueue&) = delete;
  TimeoutQueue& operator=(const TimeoutQueue&) = delete;

  void restart(Member& member);  // its time begins now, in this queue
  Duration timeout() const { return timeout_; }

 private:
  void expire();
  void unlink(Member& member);

  Scheduler& scheduler_;
  Duration timeout_;
  std::unique_ptr<Timer> timer_;
  Member* first_ = nullptr;  // the longest waiting
  Member* last_ = nullptr;
};

}  // namespace damper::event
