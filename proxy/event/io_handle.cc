#include "event/io_handle.h"

#include <utility>

#include "base/check.h"

namespace damper::event {

IoHandle::IoHandle(Loop& loop, int fd, IoTarget& target) : loop_(loop), target_(target) {
  event_assign(&read_, loop.base(), fd, EV_READ | EV_PERSIST, &IoHandle::on_event, &target_);
}

IoHandle::~IoHandle() {
  want_read(false);
  want_write(false);
}

void IoHandle::want_read(bool on) {
  if (std::exchange(reading_, on) == on) return;
  DAMPER_CHECK((on ? event_add(&read_, nullptr) : event_del(&read_)) == 0);
}

void IoHandle::want_write(bool on) {
  if (std::exchange(writing_, on) == on) return;
  if (!write_) {
    write_ = std::make_unique<struct event>();
    event_assign(write_.get(), loop_.base(), event_get_fd(&read_), EV_WRITE | EV_PERSIST,
                 &IoHandle::on_event, &target_);
  }
  DAMPER_CHECK((on ? event_add(write_.get(), nullptr) : event_del(write_.get())) == 0);
}

void IoHandle::on_event(evutil_socket_t, short what, void* target) {
  auto& io = *static_cast<IoTarget*>(target);
  if ((what & EV_READ) != 0) {
    io.on_readable();
  } else {
    io.on_writable();
  }
}

SignalHandle::SignalHandle(Loop& loop, int signal, std::function<void()> fire)
    : fire_(std::move(fire)) {
  event_assign(
      &event_, loop.base(), signal, EV_SIGNAL | EV_PERSIST,
      [](evutil_socket_t, short, void* self) { static_cast<SignalHandle*>(self)->fire_(); }, this);
  DAMPER_CHECK(event_add(&event_, nullptr) == 0);
}

SignalHandle::~SignalHandle() { event_del(&event_); }

}  // namespace damper::event
