#include "bench/demo/socket.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <limits>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"

namespace damper::demo {
namespace {

Error system_error(std::string_view what) {
  return {Errc::kSystem, Side::kLocal, std::string(what) + ": " + std::strerror(errno)};
}

Result<sockaddr_in> to_sockaddr(const Address& address) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(address.port);
  if (inet_pton(AF_INET, address.host.c_str(), &out.sin_addr) != 1) {
    return Error{Errc::kInvalid, Side::kLocal, "not an IPv4 address: " + address.host};
  }
  return out;
}

// Small messages leave at once: the figures are about the proxy, not about Nagle's algorithm.
void send_without_delay(const Socket& socket) {
  const int on = 1;
  setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

Status Socket::read_available(std::string& into) {
  char bytes[16384];
  while (true) {
    const ssize_t n = recv(fd_, bytes, sizeof bytes, 0);
    if (n == 0) return Error{Errc::kClosed, Side::kLocal, "the peer closed the connection"};
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return Ok{};
    if (n < 0) return system_error("recv");
    into.append(bytes, static_cast<std::size_t>(n));
    if (static_cast<std::size_t>(n) < sizeof bytes) return Ok{};
  }
}

Result<std::size_t> Socket::write_some(std::string_view bytes) {
  while (true) {
    const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno == EAGAIN) return std::size_t{0};
    if (errno != EINTR) return system_error("send");
  }
}

void Socket::reset_on_close() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

Result<Address> parse_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const auto port = colon == text.npos ? std::nullopt : parse_number(text.substr(colon + 1));
  if (!port || *port > std::numeric_limits<std::uint16_t>::max()) {
    return Error{Errc::kInvalid, Side::kLocal, "not host:port: " + std::string(text)};
  }
  return Address{std::string(text.substr(0, colon)), static_cast<std::uint16_t>(*port)};
}

Result<Socket> connect_to(const Address& address) {
  TRY_ASSIGN(const sockaddr_in peer, to_sockaddr(address));
  Socket out(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (out.fd() < 0) return system_error("socket");
  if (connect(out.fd(), reinterpret_cast<const sockaddr*>(&peer), sizeof peer) != 0 &&
      errno != EINPROGRESS) {
    return system_error("connect");
  }
  send_without_delay(out);
  return out;
}

Result<Socket> listen_on(const Address& address) {
  TRY_ASSIGN(const sockaddr_in local, to_sockaddr(address));
  Socket out(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (out.fd() < 0) return system_error("socket");
  const int on = 1;
  setsockopt(out.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(out.fd(), reinterpret_cast<const sockaddr*>(&local), sizeof local) != 0) {
    return system_error("bind");
  }
  if (listen(out.fd(), SOMAXCONN) != 0) return system_error("listen");
  return out;
}

Result<std::uint16_t> local_port(const Socket& socket) {
  sockaddr_in local{};
  socklen_t size = sizeof local;
  if (getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&local), &size) != 0) {
    return system_error("getsockname");
  }
  return static_cast<std::uint16_t>(ntohs(local.sin_port));
}

Result<Socket> accept_from(const Socket& listening) {
  Socket out(accept4(listening.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (out.fd() < 0) return system_error("accept");
  send_without_delay(out);
  return out;
}

}  // namespace damper::demo
