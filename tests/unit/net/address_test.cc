#include "net/address.h"

#include <gtest/gtest.h>

#include "tests/support/sockets.h"

namespace damper::net {
namespace {

TEST(Address, ReadsIpLiteralsAndWritesThemBack) {
  const std::tuple<const char*, int, const char*> literals[] = {
      {"127.0.0.1", AF_INET, "127.0.0.1:80"},
      {"10.1.2.3", AF_INET, "10.1.2.3:80"},
      {"::1", AF_INET6, "[::1]:80"},
      {"2001:DB8:0:0::7", AF_INET6, "[2001:db8::7]:80"}};
  for (const auto& [ip, family, text] : literals) {
    const auto address = Address::from_ip(ip, 80);
    ASSERT_TRUE(address) << ip;
    EXPECT_EQ(address->family(), family);
    EXPECT_EQ(address->to_string(), text);
    EXPECT_EQ(address->port(), 80);
    EXPECT_FALSE(address->is_unix());
  }
}

TEST(Address, ANameIsNoAddress) {
  for (const char* text : {"", "localhost", "10.0.0", "10.0.0.256", "1.2.3.4:80", "[::1]", ":::"}) {
    EXPECT_FALSE(Address::from_ip(text, 80)) << text;
  }
}

TEST(Address, APathIsAUnixSocketAndAnAtSignPutsItInTheAbstractNamespace) {
  for (const char* path : {"/run/app.sock", "@app"}) {
    const auto address = Address::from_unix_path(path);
    ASSERT_TRUE(address);
    EXPECT_TRUE(address->is_unix());
    EXPECT_EQ(address->to_string(), path);
    EXPECT_EQ(address->ip(), "");
    EXPECT_EQ(address->port(), 0);
  }
}

TEST(Address, APathMustFitWithItsEnd) {
  const std::size_t longest = sizeof(sockaddr_un{}.sun_path) - 1;
  EXPECT_TRUE(Address::from_unix_path(std::string(longest, 'x')));
  EXPECT_FALSE(Address::from_unix_path(std::string(longest + 1, 'x')));
  EXPECT_FALSE(Address::from_unix_path(""));
}

TEST(Address, AnEndpointIsAnAddressUnlessItMustBeResolved) {
  EXPECT_EQ(Address::from_endpoint({.host = "::1", .port = 7})->to_string(), "[::1]:7");
  EXPECT_EQ(Address::from_endpoint({.unix_path = "/run/app"})->to_string(), "/run/app");
  EXPECT_FALSE(Address::from_endpoint({.host = "orders", .port = 7}));
}

TEST(Address, KnowsLoopback) {
  const std::pair<const char*, bool> ips[] = {{"127.0.0.1", true},
                                              {"127.9.9.9", true},
                                              {"128.0.0.1", false},
                                              {"::1", true},
                                              {"::2", false},
                                              {"::ffff:127.0.0.1", true},
                                              {"::ffff:10.0.0.1", false},
                                              {"10.0.0.127", false}};
  for (const auto& [ip, loopback] : ips) {
    EXPECT_EQ(Address::from_ip(ip, 0)->is_loopback(), loopback) << ip;
  }
  EXPECT_TRUE(Address::from_unix_path("@app")->is_loopback());
  EXPECT_FALSE(Address().is_loopback());
}

TEST(Address, EqualsOneOfTheSameFamilyIpAndPort) {
  const auto one = *Address::from_ip("10.0.0.1", 80);
  EXPECT_EQ(one, *Address::from_ip("10.0.0.1", 80));
  EXPECT_FALSE(one == *Address::from_ip("10.0.0.1", 81));
  EXPECT_FALSE(one == *Address::from_ip("10.0.0.2", 80));
  EXPECT_FALSE(one == *Address::from_ip("::ffff:10.0.0.1", 80));
  EXPECT_FALSE(one == Address());
}

TEST(Address, ThePortCanBeSet) {
  for (const char* ip : {"10.0.0.1", "::1"}) {
    auto address = *Address::from_ip(ip, 0);
    address.set_port(65'535);
    EXPECT_EQ(address, *Address::from_ip(ip, 65'535));
  }
}

TEST(Address, OfASocketIsWhatTheKernelSays) {
  const tests::Backend backend;
  EXPECT_EQ(backend.address().ip(), "127.0.0.1");
  EXPECT_NE(backend.address().port(), 0);
  EXPECT_EQ(Address::local_of(-1).family(), AF_UNSPEC);
  EXPECT_EQ(Address::local_of(-1).to_string(), "");
}

TEST(Address, AUnixClientWithoutANameIsJustUnix) {
  const sockaddr_un nameless{.sun_family = AF_UNIX, .sun_path = {}};
  const Address address(reinterpret_cast<const sockaddr*>(&nameless), sizeof(sa_family_t));
  EXPECT_EQ(address.to_string(), "unix");
}

}  // namespace
}  // namespace damper::net
