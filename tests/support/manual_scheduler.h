// Time that stands still until a test moves it.
#pragma once
#include <list>
#include <optional>
#include <utility>

#include "event/scheduler.h"

namespace damper::tests {

class ManualScheduler final : public event::Scheduler {
 public:
  TimePoint now() override { return now_; }

  std::unique_ptr<event::Timer> timer(std::function<void()> fire) override {
    return std::make_unique<Handle>(*this, std::move(fire));
  }

  // Moves the clock and fires what becomes due, in order of time.
  void advance(Duration by) {
    const TimePoint end = now_ + by;
    for (Handle* next = earliest(end); next; next = earliest(end)) {
      now_ = std::max(now_, *next->due);
      next->due.reset();
      next->fire();
    }
    now_ = end;
  }

 private:
  struct Handle final : event::Timer {
    Handle(ManualScheduler& scheduler, std::function<void()> f)
        : owner(scheduler), fire(std::move(f)) {
      place = owner.timers_.insert(owner.timers_.end(), this);
    }
    ~Handle() override { owner.timers_.erase(place); }
    void arm(Duration delay) override { due = owner.now_ + delay; }
    void cancel() override { due.reset(); }
    bool armed() const override { return due.has_value(); }

    ManualScheduler& owner;
    std::function<void()> fire;
    std::optional<TimePoint> due;
    std::list<Handle*>::iterator place;
  };

  Handle* earliest(TimePoint end) {
    Handle* best = nullptr;
    for (Handle* h : timers_) {
      if (h->due && *h->due <= end && (!best || *h->due < *best->due)) best = h;
    }
    return best;
  }

  TimePoint now_{};
  std::list<Handle*> timers_;
};

}  // namespace damper::tests
