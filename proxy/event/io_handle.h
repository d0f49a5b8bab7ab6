// Interest of one socket in being read and written: level-triggered, by raw libevent events.
// Declared after the descriptor that it watches, so that it leaves libevent before the descriptor
// is closed.
#pragma once
#include <event2/event.h>
#include <event2/event_struct.h>
#include <memory>

#include "event/loop.h"

namespace damper::event {

class IoTarget {
 public:
  virtual ~IoTarget() = default;
  virtual void on_readable() = 0;
  virtual void on_writable() = 0;
};

class IoHandle {
 public:
  IoHandle(Loop& loop, int fd, IoTarget& target);
  ~IoHandle();
  IoHandle(const IoHandle&) = delete;
  IoHandle& operator=(const IoHandle&) = delete;

  void want_read(bool on);
  void want_write(bool on);  // only while a write has blocked

 private:
  static void on_event(evutil_socket_t, short what, void* target);

  Loop& loop_;
  IoTarget& target_;
  struct event read_ {};
  std::unique_ptr<struct event> write_;  // made when a write blocks for the first time
  bool reading_ = false;
  bool writing_ = false;
};

// Calls a function when the process receives a signal; for the main thread's loop.
class SignalHandle {
 public:
  SignalHandle(Loop& loop, int signal, std::function<void()> fire);
  ~SignalHandle();
  SignalHandle(const SignalHandle&) = delete;
  SignalHandle& operator=(const SignalHandle&) = delete;

 private:
  std::function<void()> fire_;
  struct event event_ {};
};

}  // namespace damper::event
