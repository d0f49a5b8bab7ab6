// A socket address: IPv4, IPv6 or unix. A value.
#pragma once
#include <cstdint>
#include <memory>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>

#include "config/model/common.h"

namespace damper::net {

class Address {
 public:
  Address() = default;
  Address(const sockaddr* address, socklen_t length);

  // From an IP literal; nothing if it is none.
  static std::optional<Address> from_ip(std::string_view ip, std::uint16_t port);
  static std::optional<Address> from_unix_path(std::string_view path);  // nothing if it is too long
  // Nothing if the endpoint is a name that must be resolved.
  static std::optional<Address> from_endpoint(const config::Endpoint& endpoint);

  static Address local_of(int fd);

  const sockaddr* get() const {
    return unix_ ? reinterpret_cast<const sockaddr*>(unix_.get()) : &ip_.any;
  }
  socklen_t length() const { return length_; }
  int family() const { return length_ == 0 ? AF_UNSPEC : get()->sa_family; }
  bool is_unix() const { return unix_ != nullptr; }
  bool is_loopback() const;  // 127.0.0.0/8, ::1, unix
  bool is_wildcard() const;  // 0.0.0.0, ::
  std::uint16_t port() const;
  void set_port(std::uint16_t port);

  std::string to_string() const;  // "127.0.0.1:80", "[::1]:80", the path of a unix socket
  std::string ip() const;         // "127.0.0.1", "::1"; empty for unix

  bool operator==(const Address& other) const;

 private:
  // A unix address is five times as large as an IP address, and rare: it lives elsewhere.
  union Ip {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  };
  Ip ip_{};
  socklen_t length_ = 0;
  std::shared_ptr<const sockaddr_un> unix_;  // set exactly if it is one
};

}  // namespace damper::net
