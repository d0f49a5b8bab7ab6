#include "event/timer_heap.h"

#include <algorithm>
#include <utility>

namespace damper::event {
namespace {

constexpr std::size_t kSweepFrom = 128;

constexpr auto kLater = [](const auto& a, const auto& b) { return a.due > b.due; };

}  // namespace

TimerHeap::Id TimerHeap::add(std::function<void()> fire) {
  if (free_.empty()) {
    free_.push_back(static_cast<Id>(timers_.size()));
    timers_.emplace_back();
  }
  const Id id = free_.back();
  free_.pop_back();
  timers_[id].fire = std::move(fire);
  timers_[id].used = true;
  return id;
}

void TimerHeap::remove(Id id) {
  cancel(id);
  timers_[id].fire = nullptr;
  timers_[id].used = false;
  free_.push_back(id);
}

void TimerHeap::arm(Id id, TimePoint due) {
  Slot& timer = timers_[id];
  if (!std::exchange(timer.armed, true)) ++armed_;
  ++timer.arming;
  heap_.push_back({due, id, timer.arming});
  std::push_heap(heap_.begin(), heap_.end(), kLater);
  sweep();
}

void TimerHeap::cancel(Id id) {
  if (std::exchange(timers_[id].armed, false)) --armed_;
}

void TimerHeap::sweep() {
  if (heap_.size() < kSweepFrom || heap_.size() < 2 * armed_) return;
  std::erase_if(heap_, [this](const Entry& e) { return !alive(e); });
  std::make_heap(heap_.begin(), heap_.end(), kLater);
}

void TimerHeap::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), kLater);
  heap_.pop_back();
}

std::optional<TimePoint> TimerHeap::next() {
  while (!heap_.empty() && !alive(heap_.front())) pop();
  if (heap_.empty()) return std::nullopt;
  return heap_.front().due;
}

void TimerHeap::fire_due(TimePoint now) {
  std::vector<Entry> due;
  while (!heap_.empty() && heap_.front().due <= now) {
    if (alive(heap_.front())) due.push_back(heap_.front());
    pop();
  }
  for (const Entry& e : due) {
    if (!alive(e)) continue;  // one that fired before it has cancelled it
    cancel(e.id);
    // Called out of its slot: it may remove itself or add others, which moves the slots.
    auto fire = std::move(timers_[e.id].fire);
    fire();
    Slot& after = timers_[e.id];
    if (after.used && !after.fire) after.fire = std::move(fire);
  }
}

}  // namespace damper::event
