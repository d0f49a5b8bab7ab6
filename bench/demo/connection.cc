#include "bench/demo/connection.h"

#include <utility>

namespace damper::demo {

Connection::Connection(event::Loop& loop, Socket socket)
    : socket_(std::move(socket)), io_(loop, socket_.fd(), *this) {
  io_.want_read(true);
}

void Connection::send(std::string_view bytes) {
  if (ended_) return;
  const bool waiting = !unsent_.empty();
  unsent_.append(bytes);
  if (!waiting) on_writable();
}

void Connection::close(bool reset) {
  if (std::exchange(ended_, true)) return;
  io_.want_read(false);
  io_.want_write(false);
  if (reset) socket_.reset_on_close();
}

void Connection::end(const Error& why) {
  close();
  on_end(why);
}

void Connection::on_readable() {
  const std::size_t before = received_.size();
  const Status status = socket_.read_available(received_);
  if (received_.size() > before) on_received();
  if (!status && !ended_) end(status.error());
}

void Connection::on_writable() {
  const auto taken = socket_.write_some(unsent_);
  // A broken connection is readable too, and ends there: nobody is called back from within send().
  unsent_.erase(0, taken ? *taken : unsent_.size());
  io_.want_write(!unsent_.empty());
}

}  // namespace damper::demo
