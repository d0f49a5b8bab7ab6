#include "net/address.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstddef>
#include <cstring>

namespace damper::net {

Address::Address(const sockaddr* address, socklen_t length)
    : length_(std::min<socklen_t>(length, sizeof storage_)) {
  std::memcpy(&storage_, address, length_);
}

std::optional<Address> Address::from_ip(std::string_view ip, std::uint16_t port) {
  const std::string text(ip);
  Address out;
  if (inet_pton(AF_INET, text.c_str(), &out.storage_.v4.sin_addr) == 1) {
    out.storage_.v4.sin_family = AF_INET;
    out.length_ = sizeof(sockaddr_in);
  } else if (inet_pton(AF_INET6, text.c_str(), &out.storage_.v6.sin6_addr) == 1) {
    out.storage_.v6.sin6_family = AF_INET6;
    out.length_ = sizeof(sockaddr_in6);
  } else {
    return std::nullopt;
  }
  out.set_port(port);
  return out;
}

std::optional<Address> Address::from_unix_path(std::string_view path) {
  Address out;
  sockaddr_un& un = out.storage_.un;
  if (path.empty() || path.size() >= sizeof un.sun_path) return std::nullopt;
  un.sun_family = AF_UNIX;
  std::memcpy(un.sun_path, path.data(), path.size());
  std::size_t length = offsetof(sockaddr_un, sun_path) + path.size();
  if (path.front() == '@') {
    un.sun_path[0] = '\0';  // the abstract namespace: the length ends the name
  } else {
    ++length;
  }
  out.length_ = static_cast<socklen_t>(length);
  return out;
}

std::optional<Address> Address::from_endpoint(const config::Endpoint& endpoint) {
  if (endpoint.is_unix()) return from_unix_path(endpoint.unix_path);
  return from_ip(endpoint.host, endpoint.port);
}

Address Address::local_of(int fd) {
  Address out;
  out.length_ = sizeof out.storage_;
  if (getsockname(fd, &out.storage_.any, &out.length_) != 0) out.length_ = 0;
  return out;
}

bool Address::is_loopback() const {
  switch (family()) {
    case AF_INET: return (ntohl(storage_.v4.sin_addr.s_addr) >> 24) == 127;
    case AF_INET6: {
      const in6_addr& a = storage_.v6.sin6_addr;
      return IN6_IS_ADDR_LOOPBACK(&a) || (IN6_IS_ADDR_V4MAPPED(&a) && a.s6_addr[12] == 127);
    }
    default: return is_unix();
  }
}

std::uint16_t Address::port() const {
  if (family() == AF_INET) return ntohs(storage_.v4.sin_port);
  if (family() == AF_INET6) return ntohs(storage_.v6.sin6_port);
  return 0;
}

void Address::set_port(std::uint16_t port) {
  if (family() == AF_INET) storage_.v4.sin_port = htons(port);
  if (family() == AF_INET6) storage_.v6.sin6_port = htons(port);
}

std::string Address::ip() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (family() == AF_INET) inet_ntop(AF_INET, &storage_.v4.sin_addr, text, sizeof text);
  if (family() == AF_INET6) inet_ntop(AF_INET6, &storage_.v6.sin6_addr, text, sizeof text);
  return text;
}

std::string Address::to_string() const {
  if (family() == AF_INET) return ip() + ":" + std::to_string(port());
  if (family() == AF_INET6) return "[" + ip() + "]:" + std::to_string(port());
  if (!is_unix() || length_ <= offsetof(sockaddr_un, sun_path)) return is_unix() ? "unix" : "";
  std::string path(storage_.un.sun_path, length_ - offsetof(sockaddr_un, sun_path));
  if (path.front() == '\0') {
    path.front() = '@';
  } else {
    path.resize(std::strlen(path.c_str()));
  }
  return path;
}

bool Address::operator==(const Address& other) const {
  return length_ == other.length_ && std::memcmp(&storage_, &other.storage_, length_) == 0;
}

}  // namespace damper::net
