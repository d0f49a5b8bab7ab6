// Non-blocking TCP on IPv4 for the demo services.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace damper::demo {

// Owns a descriptor of a connection or of a listening socket.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  int fd() const { return fd_; }
  // Appends to `into` what has arrived, if anything. kClosed at the end of the stream.
  Status read_available(std::string& into);
  // How many of the bytes were taken: fewer than all when the peer does not keep up, or the
  // connection does not stand yet.
  Result<std::size_t> write_some(std::string_view bytes);
  // The peer will see an RST, not a FIN, when this is closed.
  void reset_on_close();

 private:
  int fd_;
};

struct Address {
  std::string host;  // "127.0.0.1"
  std::uint16_t port = 0;
};
Result<Address> parse_address(std::string_view text);  // "127.0.0.1:8080"

Result<Socket> connect_to(const Address& address);  // a refusal shows when it is read or written
Result<Socket> listen_on(const Address& address);   // port 0: any free one
Result<std::uint16_t> local_port(const Socket& socket);
Result<Socket> accept_from(const Socket& listening);

}  // namespace damper::demo
