// Sets of IP addresses as a configuration writes them: who is trusted, who is internal.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <vector>

#include "base/result.h"
#include "config/model/common.h"

namespace damper::net {

// Is this the text of an IPv4 or IPv6 address, and of nothing more?
bool is_ip_address(const std::string& text);

class CidrSet {
 public:
  static CidrSet loopback();  // 127.0.0.0/8 and ::1
  // An Error names the range that is none. Bits behind the prefix are ignored.
  static Result<CidrSet> parse(const std::vector<config::CidrRange>& ranges);

  // An IPv4 address in IPv6 clothes (::ffff:1.2.3.4) is an IPv4 address. The peer of a unix socket
  // is on this machine: it counts as loopback. Other families are in no set.
  bool contains(const sockaddr* address) const;

 private:
  struct Ip {
    bool v4 = false;
    std::array<std::uint8_t, 16> bytes{};  // in network order; IPv4 has the first four
  };
  struct Range {
    Ip prefix;
    int bits = 0;
  };

  static Ip of_v4(const void* bytes);
  static Ip of_v6(const void* bytes);
  static std::optional<Ip> parse_ip(const std::string& text);
  static Result<Range> parse_range(const config::CidrRange& range);
  bool contains(const Ip& ip) const;

  std::vector<Range> ranges_;
};

}  // namespace damper::net
