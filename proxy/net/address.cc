#include "net/address.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstddef>
#include <cstring>

namespace damper::net {

Address::Address(const sockaddr* address, socklen_t length) {
  const bool is_unix = length >= sizeof(sa_family_t) && address->sa_family == AF_UNIX;
  length_ = std::min<socklen_t>(length, is_unix ? sizeof(sockaddr_un) : sizeof ip_);
  if (is_unix) {
    auto un = std::make_shared<sockaddr_un>();
    std::memcpy(un.get(), address, length_);
    unix_ = std::move(un);
  } else {
    std::memcpy(&ip_, address, length_);
  }
}

std::optional<Address> Address::from_ip(std::string_view ip, std::uint16_t port) {
  const std::string text(ip);
  Address out;
  if (inet_pton(AF_INET, text.c_str(), &out.ip_.v4.sin_addr) == 1) {
    out.ip_.v4.sin_family = AF_INET;
    out.length_ = sizeof(sockaddr_in);
  } else if (inet_pton(AF_INET6, text.c_str(), &out.ip_.v6.sin6_addr) == 1) {
    out.ip_.v6.sin6_family = AF_INET6;
    out.length_ = sizeof(sockaddr_in6);
  } else {
    return std::nullopt;
  }
  out.set_port(port);
  return out;
}

std::optional<Address> Address::from_unix_path(std::string_view path) {
  sockaddr_un un{};
  if (path.empty() || path.size() >= sizeof un.sun_path) return std::nullopt;
  un.sun_family = AF_UNIX;
  std::memcpy(un.sun_path, path.data(), path.size());
  std::size_t length = offsetof(sockaddr_un, sun_path) + path.size();
  if (path.front() == '@') {
    un.sun_path[0] = '\0';  // the abstract namespace: the length ends the name
  } else {
    ++length;
  }
  return Address(reinterpret_cast<const sockaddr*>(&un), static_cast<socklen_t>(length));
}

std::optional<Address> Address::from_endpoint(const config::Endpoint& endpoint) {
  if (endpoint.is_unix()) return from_unix_path(endpoint.unix_path);
  return from_ip(endpoint.host, endpoint.port);
}

Address Address::local_of(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  return ::getsockname(fd, any, &length) == 0 ? Address(any, length) : Address();
}

bool Address::is_loopback() const {
  switch (family()) {
    case AF_INET: return (ntohl(ip_.v4.sin_addr.s_addr) >> 24) == 127;
    case AF_INET6: {
      const in6_addr& a = ip_.v6.sin6_addr;
      return IN6_IS_ADDR_LOOPBACK(&a) || (IN6_IS_ADDR_V4MAPPED(&a) && a.s6_addr[12] == 127);
    }
    default: return is_unix();
  }
}

bool Address::is_wildcard() const {
  if (family() == AF_INET) return ip_.v4.sin_addr.s_addr == INADDR_ANY;
  return family() == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&ip_.v6.sin6_addr);
}

std::uint16_t Address::port() const {
  if (family() == AF_INET) return ntohs(ip_.v4.sin_port);
  if (family() == AF_INET6) return ntohs(ip_.v6.sin6_port);
  return 0;
}

void Address::set_port(std::uint16_t port) {
  if (family() == AF_INET) ip_.v4.sin_port = htons(port);
  if (family() == AF_INET6) ip_.v6.sin6_port = htons(port);
}

std::string Address::ip() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (family() == AF_INET) inet_ntop(AF_INET, &ip_.v4.sin_addr, text, sizeof text);
  if (family() == AF_INET6) inet_ntop(AF_INET6, &ip_.v6.sin6_addr, text, sizeof text);
  return text;
}

std::string Address::to_string() const {
  if (family() == AF_INET) return ip() + ":" + std::to_string(port());
  if (family() == AF_INET6) return "[" + ip() + "]:" + std::to_string(port());
  if (!is_unix() || length_ <= offsetof(sockaddr_un, sun_path)) return is_unix() ? "unix" : "";
  std::string path(unix_->sun_path, length_ - offsetof(sockaddr_un, sun_path));
  if (path.front() == '\0') {
    path.front() = '@';
  } else {
    path.resize(std::strlen(path.c_str()));
  }
  return path;
}

bool Address::operator==(const Address& other) const {
  return length_ == other.length_ && std::memcmp(get(), other.get(), length_) == 0;
}

}  // namespace damper::net
