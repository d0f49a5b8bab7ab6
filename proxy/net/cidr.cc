#include "net/cidr.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <netinet/in.h>

#include "base/check.h"

namespace damper::net {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0,    0,
                                                  0, 0, 0, 0, 0xff, 0xff};  // RFC 4291 §2.5.5.2
constexpr int kMappedBits = 96;

bool same_bits(const std::uint8_t* a, const std::uint8_t* b, int bits) {
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (std::memcmp(a, b, whole) != 0) return false;
  const int rest = bits % 8;
  return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

}  // namespace

bool is_ip_address(const std::string& text) {
  in6_addr buffer;
  return ::inet_pton(AF_INET, text.c_str(), &buffer) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), &buffer) == 1;
}

CidrSet::Ip CidrSet::of_v4(const void* bytes) {
  Ip out{.v4 = true};
  std::memcpy(out.bytes.data(), bytes, 4);
  return out;
}

CidrSet::Ip CidrSet::of_v6(const void* bytes) {
  Ip out;
  std::memcpy(out.bytes.data(), bytes, out.bytes.size());
  if (std::equal(kMapped.begin(), kMapped.end(), out.bytes.begin()))
    return of_v4(out.bytes.data() + kMapped.size());
  return out;
}

std::optional<CidrSet::Ip> CidrSet::parse_ip(const std::string& text) {
  in_addr v4;
  if (::inet_pton(AF_INET, text.c_str(), &v4) == 1) return of_v4(&v4);
  in6_addr v6;
  if (::inet_pton(AF_INET6, text.c_str(), &v6) == 1) return of_v6(&v6);
  return std::nullopt;
}

Result<CidrSet::Range> CidrSet::parse_range(const config::CidrRange& range) {
  const Error bad{
      Errc::kInvalid, Side::kLocal,
      "no address range: " + range.address_prefix + "/" + std::to_string(range.prefix_len)};
  const auto ip = parse_ip(range.address_prefix);
  if (!ip) return bad;
  int bits = range.prefix_len;
  const bool written_as_v6 = range.address_prefix.find(':') != std::string::npos;
  if (ip->v4 && written_as_v6) bits -= kMappedBits;
  if (bits < 0 || bits > (ip->v4 ? 32 : 128)) return bad;
  return Range{*ip, bits};
}

Result<CidrSet> CidrSet::parse(const std::vector<config::CidrRange>& ranges) {
  CidrSet out;
  for (const config::CidrRange& range : ranges) {
    TRY_ASSIGN(const Range parsed, parse_range(range));
    out.ranges_.push_back(parsed);
  }
  return out;
}

CidrSet CidrSet::loopback() {
  auto set = parse({{"127.0.0.0", 8}, {"::1", 128}});
  DAMPER_CHECK(set);
  return *std::move(set);
}

bool CidrSet::contains(const Ip& ip) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [&ip](const Range& range) {
    return range.prefix.v4 == ip.v4 &&
           same_bits(range.prefix.bytes.data(), ip.bytes.data(), range.bits);
  });
}

bool CidrSet::contains(const sockaddr* address) const {
  switch (address->sa_family) {
    case AF_INET: return contains(of_v4(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr));
    case AF_INET6:
      return contains(of_v6(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr));
    case AF_UNIX:
      return contains(Ip{.v4 = true, .bytes = {127, 0, 0, 1}}) ||
             contains(of_v6(&in6addr_loopback));
    default: return false;
  }
}

}  // namespace damper::net
