// Accepts connections on one address for one worker and hands them on.
#pragma once
#include <functional>
#include <memory>

#include "event/io_handle.h"
#include "net/socket.h"

namespace damper::net {

class Listener final : public event::IoTarget {
 public:
  using Accept = std::function<void(Fd, const Address& peer)>;

  // Takes over a listening socket (listen_on). `on_error` is told when accept() fails for want of
  // descriptors or memory: the listener then rests for 100 ms instead of spinning.
  Listener(event::Loop& loop, Fd fd, Accept accept, std::function<void(int error)> on_error);

  void on_readable() override;
  void on_writable() override {}

  Address address() const { return Address::local_of(fd_.get()); }

 private:
  static constexpr int kAcceptsPerWake =
      32;  // so that accepting does not starve those already accepted

  Fd fd_;
  Accept accept_;
  std::function<void(int)> on_error_;
  event::IoHandle io_;
  std::unique_ptr<event::Timer> rest_;
};

}  // namespace damper::net
