#include "net/socket.h"

#include <cerrno>
#include <cstring>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <unistd.h>

namespace damper::net {
namespace {

Error system_error(std::string_view what, const Address& address, int error) {
  return {Errc::kSystem, Side::kLocal,
          std::string(what) + " " + address.to_string() + ": " + std::strerror(error)};
}

void set_option(int fd, int level, int option, int value) {
  (void)setsockopt(fd, level, option, &value, sizeof value);
}

// A unix socket file that nobody listens on any more is in the way of bind().
void remove_stale_socket(const Address& address) {
  const std::string path = address.to_string();
  struct stat file {};
  if (!address.is_unix() || path.empty() || path.front() == '@') return;
  if (::stat(path.c_str(), &file) != 0 || !S_ISSOCK(file.st_mode)) return;
  const Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(probe.get(), address.get(), address.length()) != 0 && errno == ECONNREFUSED) {
    ::unlink(path.c_str());
  }
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = std::exchange(other.fd_, -1);
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

Result<Fd> listen_on(const Address& address, const ListenOptions& options) {
  Fd fd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return system_error("socket", address, errno);
  if (address.is_unix()) {
    remove_stale_socket(address);
  } else {
    set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    set_no_delay(fd.get());  // what is accepted inherits it: a system call less for each connection
    if (options.reuse_port) set_option(fd.get(), SOL_SOCKET, SO_REUSEPORT, 1);
    if (address.family() == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  }
  if (::bind(fd.get(), address.get(), address.length()) != 0) {
    return system_error("cannot bind", address, errno);
  }
  if (::listen(fd.get(), options.backlog) != 0) {
    return system_error("cannot listen on", address, errno);
  }
  return fd;
}

Result<Fd> connect_to(const Address& address, const std::optional<Address>& source) {
  Fd fd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return system_error("socket", address, errno);
  if (source && ::bind(fd.get(), source->get(), source->length()) != 0) {
    return system_error("cannot bind", *source, errno);
  }
  if (::connect(fd.get(), address.get(), address.length()) != 0 && errno != EINPROGRESS) {
    // A unix socket whose backlog is full says EAGAIN: nobody took the connection.
    return Error{Errc::kRefused, Side::kUpstream, std::strerror(errno)};
  }
  return fd;
}

int connect_error(int fd) {
  int error = 0;
  socklen_t length = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

void set_no_delay(int fd) { set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1); }

void set_liveness(int fd, const config::TcpKeepalive& keepalive) {
  const auto seconds = [](Duration d) {
    return static_cast<int>(std::chrono::ceil<std::chrono::seconds>(d).count());
  };
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, seconds(keepalive.time));
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, seconds(keepalive.interval));
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, static_cast<int>(keepalive.probes));
  const Duration dead_after = keepalive.time + keepalive.interval * keepalive.probes;
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(milliseconds(dead_after)));
}

void set_abortive_close(int fd) {
  const linger abort{.l_onoff = 1, .l_linger = 0};
  (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
}

}  // namespace damper::net
