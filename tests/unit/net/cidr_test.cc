#include "net/cidr.h"

#include <arpa/inet.h>
#include <cstring>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/un.h>

namespace damper::net {
namespace {

sockaddr_storage address(const char* text) {
  sockaddr_storage out{};
  auto* v4 = reinterpret_cast<sockaddr_in*>(&out);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&out);
  if (::inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
    out.ss_family = AF_INET;
  } else if (::inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
    out.ss_family = AF_INET6;
  } else {
    out.ss_family = AF_UNIX;
  }
  return out;
}

bool contains(const CidrSet& set, const char* text) {
  const sockaddr_storage at = address(text);
  return set.contains(reinterpret_cast<const sockaddr*>(&at));
}

TEST(CidrSet, AnAddressIsInARangeOrBesideIt) {
  const struct {
    config::CidrRange range;
    const char* in;
    const char* out;
  } kCases[] = {
      {{"10.0.0.0", 8}, "10.255.255.255", "11.0.0.0"},
      {{"10.1.2.3", 8}, "10.0.0.0", "9.255.255.255"},  // bits behind the prefix do not count
      {{"10.1.2.3", 32}, "10.1.2.3", "10.1.2.2"},
      {{"192.168.128.0", 17}, "192.168.255.1", "192.168.127.1"},
      {{"0.0.0.0", 0}, "1.2.3.4", "::1"},
      {{"fd00::", 8}, "fdff::1", "fe00::1"},
      {{"2001:db8::", 33}, "2001:db8:7fff::1", "2001:db8:8000::1"},
      {{"::", 0}, "2001:db8::1", "1.2.3.4"},
      {{"10.0.0.0", 8}, "::ffff:10.1.1.1", "::ffff:11.1.1.1"},
      {{"::ffff:10.0.0.0", 104}, "10.1.1.1", "11.1.1.1"},
  };
  for (const auto& c : kCases) {
    const auto set = CidrSet::parse({c.range});
    ASSERT_TRUE(set) << c.range.address_prefix;
    EXPECT_TRUE(contains(*set, c.in)) << c.range.address_prefix;
    EXPECT_FALSE(contains(*set, c.out)) << c.range.address_prefix;
  }
}

TEST(CidrSet, OneRangeOfSeveralIsEnough) {
  const auto set = CidrSet::parse({{"10.0.0.0", 8}, {"192.168.0.0", 16}});
  EXPECT_TRUE(contains(*set, "192.168.1.1"));
  EXPECT_FALSE(contains(*set, "172.16.0.1"));
  EXPECT_FALSE(contains(*CidrSet::parse(std::vector<config::CidrRange>{}), "10.0.0.1"));
}

TEST(CidrSet, LoopbackIsBothFamiliesAndUnixSockets) {
  const CidrSet set = CidrSet::loopback();
  EXPECT_TRUE(contains(set, "127.0.0.2"));
  EXPECT_TRUE(contains(set, "::1"));
  EXPECT_TRUE(contains(set, "::ffff:127.0.0.1"));
  EXPECT_TRUE(contains(set, "a unix socket"));
  EXPECT_FALSE(contains(set, "128.0.0.1"));
  EXPECT_FALSE(contains(set, "::2"));
}

TEST(CidrSet, AUnixSocketIsTrustedWhereThisMachineIs) {
  EXPECT_TRUE(contains(*CidrSet::parse({{"127.0.0.1", 32}}), "a unix socket"));
  EXPECT_TRUE(contains(*CidrSet::parse({{"::1", 128}}), "a unix socket"));
  EXPECT_FALSE(contains(*CidrSet::parse({{"10.0.0.0", 8}}), "a unix socket"));
}

TEST(CidrSet, ARangeThatIsNoneIsNamed) {
  for (const config::CidrRange& range : std::vector<config::CidrRange>{{"10.0.0.0", 33},
                                                                       {"10.0.0.0", -1},
                                                                       {"::", 129},
                                                                       {"localhost", 8},
                                                                       {"", 0},
                                                                       {"::ffff:10.0.0.0", 95}}) {
    const auto set = CidrSet::parse({range});
    ASSERT_FALSE(set) << range.address_prefix;
    EXPECT_NE(set.error().detail.find(range.address_prefix), std::string::npos);
  }
}

TEST(IsIpAddress, OnlyWholeAddressesAre) {
  for (const char* text : {"1.2.3.4", "::1", "::ffff:1.2.3.4"})
    EXPECT_TRUE(is_ip_address(text)) << text;
  for (const char* text : {"", "1.2.3", "1.2.3.4:80", "[::1]", " 1.2.3.4", "unknown"}) {
    EXPECT_FALSE(is_ip_address(text)) << text;
  }
}

}  // namespace
}  // namespace damper::net
