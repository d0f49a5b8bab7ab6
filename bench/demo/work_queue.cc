#include "bench/demo/work_queue.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace damper::demo {

void WorkQueue::add(Job job, TimePoint now) {
  waiting_.push_back(job);
  start_waiting(now);
}

void WorkQueue::scale(double share, TimePoint now) {
  share_ = share;
  start_waiting(now);
}

std::vector<WorkQueue::Job> WorkQueue::advance(TimePoint now) {
  std::vector<Job> out;
  for (auto at = next(); at && *at <= now; at = next()) {
    if (!running_.empty() && running_.top().end == *at) {
      out.push_back(running_.top().job);
      running_.pop();
    }
    start_waiting(*at);
  }
  return out;
}

std::optional<TimePoint> WorkQueue::next() const {
  std::optional<TimePoint> out;
  if (!running_.empty()) out = running_.top().end;
  if (!waiting_.empty() && running_.size() < usable_slots()) {
    out = out ? std::min(*out, stalled_until_) : stalled_until_;
  }
  return out;
}

std::size_t WorkQueue::usable_slots() const {
  if (options_.slots == 0) return std::numeric_limits<std::size_t>::max();
  const double slots = static_cast<double>(options_.slots) * share_;
  return std::max<std::size_t>(static_cast<std::size_t>(slots), 1);
}

Duration WorkQueue::draw() {
  if (!options_.exponential) return options_.mean;
  const double mean = static_cast<double>(options_.mean.count());
  return Duration(std::llround(-std::log(1 - random_.unit()) * mean));
}

void WorkQueue::start_waiting(TimePoint at) {
  while (!waiting_.empty() && running_.size() < usable_slots() && at >= stalled_until_) {
    running_.push({at + draw(), waiting_.front()});
    waiting_.pop_front();
    max_running_ = std::max(max_running_, running_.size());
  }
}

}  // namespace damper::demo
