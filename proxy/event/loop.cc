#include "event/loop.h"

#include <algorithm>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

#include "base/check.h"

namespace damper::event {
namespace {

timeval to_timeval(Duration delay) {
  const auto us =
      std::max<std::int64_t>(std::chrono::ceil<std::chrono::microseconds>(delay).count(), 0);
  return {.tv_sec = us / 1'000'000, .tv_usec = us % 1'000'000};
}

}  // namespace

// The one timer that libevent knows: it fires for the earliest of the heap.
class Loop::ClockEvent {
 public:
  explicit ClockEvent(Loop& loop) : loop_(loop) {
    evtimer_assign(&event_, loop.base(), &ClockEvent::on_time, this);
  }
  ~ClockEvent() { event_del(&event_); }
  ClockEvent(const ClockEvent&) = delete;
  ClockEvent& operator=(const ClockEvent&) = delete;

  void wake_by(TimePoint due) {
    if (wakes_at_ && *wakes_at_ <= due)
      return;  // an earlier wake that nobody needs any more is harmless
    wakes_at_ = due;
    const timeval tv = to_timeval(due - loop_.now());
    DAMPER_CHECK(evtimer_add(&event_, &tv) == 0);
  }

 private:
  static void on_time(evutil_socket_t, short, void* self) {
    auto& clock = *static_cast<ClockEvent*>(self);
    clock.wakes_at_.reset();
    // libevent's clock is coarse and may be some milliseconds early: then nothing is due, and we
    // come again.
    clock.loop_.timers_.fire_due(clock.loop_.now());
    if (const auto next = clock.loop_.timers_.next()) clock.wake_by(*next);
  }

  Loop& loop_;
  std::optional<TimePoint> wakes_at_;
  struct event event_ {};
};

// A timer of the heap, as its owner holds it.
class Loop::HeapTimer final : public Timer {
 public:
  HeapTimer(Loop& loop, std::function<void()> fire)
      : loop_(loop), id_(loop.timers_.add(std::move(fire))) {}
  ~HeapTimer() override { loop_.timers_.remove(id_); }
  HeapTimer(const HeapTimer&) = delete;
  HeapTimer& operator=(const HeapTimer&) = delete;

  void arm(Duration delay) override {
    const TimePoint due = loop_.now() + delay;
    loop_.timers_.arm(id_, due);
    loop_.clock_->wake_by(due);
  }
  void cancel() override { loop_.timers_.cancel(id_); }
  bool armed() const override { return loop_.timers_.armed(id_); }

 private:
  Loop& loop_;
  const TimerHeap::Id id_;
};

// The descriptor through which other threads wake the loop.
class Loop::Wakeup {
 public:
  explicit Wakeup(event_base* base) : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    DAMPER_CHECK(fd_ >= 0);
    event_assign(&event_, base, fd_, EV_READ | EV_PERSIST, &Wakeup::on_wake, nullptr);
    DAMPER_CHECK(event_add(&event_, nullptr) == 0);
  }
  ~Wakeup() {
    event_del(&event_);
    ::close(fd_);
  }
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  void wake() const {
    const std::uint64_t one = 1;
    (void)!::write(fd_, &one, sizeof one);
  }

 private:
  static void on_wake(evutil_socket_t fd, short, void*) {
    std::uint64_t count = 0;
    (void)!::read(fd, &count, sizeof count);
  }

  int fd_;
  struct event event_ {};
};

void Loop::FreeBase::operator()(event_base* base) const { event_base_free(base); }

Loop::Loop() {
  std::unique_ptr<event_config, decltype(&event_config_free)> config(event_config_new(),
                                                                     &event_config_free);
  event_config_set_flag(config.get(), EVENT_BASE_FLAG_NOLOCK);
  base_.reset(event_base_new_with_config(config.get()));
  DAMPER_CHECK(base_);
  wakeup_ = std::make_unique<Wakeup>(base_.get());
  clock_ = std::make_unique<ClockEvent>(*this);
}

Loop::~Loop() {
  end_turn();
  clock_.reset();
  wakeup_.reset();
}

void Loop::run() {
  while (!stopping_) turn(EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY);
  stopping_ = false;
}

// Without EVLOOP_ONCE libevent would go on for as long as some socket is ready.
void Loop::run_once() { turn(EVLOOP_ONCE | EVLOOP_NONBLOCK); }

void Loop::turn(int flags) {
  now_known_ = false;
  event_base_loop(base_.get(), flags);
  run_posted();
  end_turn();
}

void Loop::end_turn() {
  while (!end_of_turn_.empty() || !doomed_.empty()) {
    for (std::size_t i = 0; i < end_of_turn_.size(); ++i) {  // it may grow meanwhile
      EndOfTurn* const work = end_of_turn_[i];
      if (!work) continue;
      work->queued_ = false;
      work->at_end_of_turn();
    }
    end_of_turn_.clear();
    std::exchange(doomed_, {}).clear();
  }
}

void Loop::at_end_of_turn(EndOfTurn& work) {
  if (std::exchange(work.queued_, true)) return;
  end_of_turn_.push_back(&work);
}

void Loop::forget(EndOfTurn& work) {
  if (!std::exchange(work.queued_, false)) return;
  *std::find(end_of_turn_.begin(), end_of_turn_.end(), &work) = nullptr;
}

void Loop::post(std::function<void()> fn) {
  bool wake = false;
  {
    const std::lock_guard lock(mu_);
    wake = posted_.empty();
    posted_.push_back(std::move(fn));
  }
  if (wake) wakeup_->wake();
}

void Loop::run_posted() {
  std::vector<std::function<void()>> batch;
  {
    const std::lock_guard lock(mu_);
    batch.swap(posted_);
  }
  for (auto& fn : batch) fn();
}

TimePoint Loop::now() {
  if (!std::exchange(now_known_, true)) now_ = Clock::now();
  return now_;
}

TimePoint Loop::read_clock() {
  now_known_ = false;
  return now();
}

std::unique_ptr<Timer> Loop::timer(std::function<void()> fire) {
  return std::make_unique<HeapTimer>(*this, std::move(fire));
}

}  // namespace damper::event
