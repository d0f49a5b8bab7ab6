#include "net/listener.h"

#include <cerrno>
#include <utility>

namespace damper::net {
namespace {

// Errors of the one connection that was about to be accepted; the next one may be fine (accept(2)).
bool concerns_peer(int error) {
  return error == ECONNABORTED || error == EINTR || error == EPROTO || error == ENETDOWN ||
         error == EHOSTUNREACH || error == ENETUNREACH;
}

}  // namespace

Listener::Listener(event::Loop& loop, Fd fd, Accept accept, std::function<void(int)> on_error)
    : fd_(std::move(fd)),
      accept_(std::move(accept)),
      on_error_(std::move(on_error)),
      io_(loop, fd_.get(), *this),
      rest_(loop.timer([this] { io_.want_read(true); })) {
  io_.want_read(true);
}

void Listener::on_readable() {
  for (int i = 0; i < kAcceptsPerWake; ++i) {
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    const int fd = ::accept4(fd_.get(), reinterpret_cast<sockaddr*>(&peer), &length,
                             SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      accept_(Fd(fd), Address(reinterpret_cast<sockaddr*>(&peer), length));
      continue;
    }
    const int error = errno;
    if (error == EAGAIN || error == EWOULDBLOCK) return;
    if (concerns_peer(error)) continue;
    io_.want_read(false);
    rest_->arm(std::chrono::milliseconds(100));
    return on_error_(error);
  }
}

}  // namespace damper::net
