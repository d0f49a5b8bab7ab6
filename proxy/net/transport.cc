#include "net/transport.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace damper::net {
namespace {

Error connection_error(int error) {
  const Errc code = error == ECONNRESET || error == EPIPE ? Errc::kReset
                    : error == ETIMEDOUT                  ? Errc::kTimeout
                                                          : Errc::kSystem;
  return {code, Side::kLocal, std::strerror(error)};
}

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

class PlainTransport final : public Transport {
 public:
  Result<Progress> handshake(int) override { return Progress{}; }

  Result<Progress> read(int fd, char* into, std::size_t at_most) override {
    const ssize_t n = ::read(fd, into, at_most);
    if (n > 0) return Progress{.bytes = static_cast<std::size_t>(n)};
    if (n == 0) return Progress{.next = Progress::Next::kEof};
    if (would_block(errno)) return Progress{.next = Progress::Next::kWantRead};
    return connection_error(errno);
  }

  Result<Progress> write(int fd, Buffer& from) override {
    constexpr int kRuns = 64;
    iovec runs[kRuns];
    const int count = from.peek(runs, kRuns);
    const ssize_t n = ::writev(fd, runs, count);
    if (n >= 0) {
      from.drain(static_cast<std::size_t>(n));
      return Progress{.bytes = static_cast<std::size_t>(n)};
    }
    if (would_block(errno)) return Progress{.next = Progress::Next::kWantWrite};
    return connection_error(errno);
  }

  void shutdown(int fd) override { (void)::shutdown(fd, SHUT_WR); }
  std::string_view alpn() const override { return {}; }
};

}  // namespace

std::unique_ptr<Transport> make_plain_transport() { return std::make_unique<PlainTransport>(); }

}  // namespace damper::net
