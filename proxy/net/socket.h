// Sockets as values with one owner, and the system calls on them that may fail.
#pragma once
#include <chrono>
#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "config/model/cluster.h"
#include "net/address.h"

namespace damper::net {

// Owns a descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd();

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

struct ListenOptions {
  bool reuse_port = true;
  int backlog = 4096;
};

// A non-blocking listening socket. Port 0 takes a free one. A stale unix socket file is replaced.
Result<Fd> listen_on(const Address& address, const ListenOptions& options);

// Begins to connect; the socket is writable when that has ended (see connect_error).
Result<Fd> connect_to(const Address& address, const std::optional<Address>& source);

// How a connect ended: 0 or an errno.
int connect_error(int fd);

// Small writes leave at once: a proxy never gains by waiting.
void set_no_delay(int fd);

// A peer that vanished without a word (a NAT entry that expired) is noticed within `dead_after`
// although nothing is sent, and unacknowledged bytes fail the connection after that time too
// (TCP_USER_TIMEOUT).
void set_liveness(int fd, const config::TcpKeepalive& keepalive);

// Closing discards what is still unsent and answers with RST.
void set_abortive_close(int fd);

}  // namespace damper::net
