#include "event/timeout_queue.h"

namespace damper::event {

TimeoutQueue::~TimeoutQueue() {
  while (first_) unlink(*first_);
}

void TimeoutQueue::Member::leave() {
  if (queue_) queue_->unlink(*this);
}

void TimeoutQueue::restart(Member& member) {
  member.leave();
  if (timeout_ == Duration::zero()) return;
  member.queue_ = this;
  member.since_ = scheduler_.now();
  member.before_ = last_;
  (last_ ? last_->after_ : first_) = &member;
  last_ = &member;
  // Armed for the first one; when it fires for a member that has moved to the end it is armed for
  // the rest.
  if (!timer_->armed()) timer_->arm(timeout_);
}

void TimeoutQueue::unlink(Member& member) {
  (member.before_ ? member.before_->after_ : first_) = member.after_;
  (member.after_ ? member.after_->before_ : last_) = member.before_;
  member.before_ = member.after_ = nullptr;
  member.queue_ = nullptr;
}

void TimeoutQueue::expire() {
  const TimePoint now = scheduler_.now();
  while (first_ && now - first_->since_ >= timeout_) {
    Member& due = *first_;
    unlink(due);
    due.on_timeout();
  }
  if (first_) timer_->arm(timeout_ - (now - first_->since_));
}

}  // namespace damper::event
