// The time seam: event::Loop keeps real time, tests::ManualScheduler is moved by hand.
#pragma once
#include <functional>
#include <memory>

#include "base/time.h"

namespace damper::event {

// A timer that its owner arms and re-arms; destroying it cancels. Never fires before its time.
class Timer {
 public:
  virtual ~Timer() = default;
  virtual void arm(Duration delay) = 0;  // replaces an earlier arming
  virtual void cancel() = 0;
  virtual bool armed() const = 0;
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  virtual TimePoint now() = 0;  // read once an iteration of the loop
  [[nodiscard]] virtual std::unique_ptr<Timer> timer(std::function<void()> fire) = 0;
};

}  // namespace damper::event
