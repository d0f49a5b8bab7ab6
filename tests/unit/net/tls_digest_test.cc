#include "net/tls_digest.h"

#include <gtest/gtest.h>

namespace damper::net {
namespace {

// RFC 4648 §10, and what has zeros and high bits in it.
TEST(Digest, Base64HasItsPaddingAndNoEnd) {
  using namespace std::string_view_literals;
  const struct {
    std::string_view octets, text;
  } cases[] = {
      {"", ""},        {"f", "Zg=="},          {"fo", "Zm8="},
      {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}, {"\0\xff\0"sv, "AP8A"},
  };
  for (const auto& c : cases) EXPECT_EQ(base64(c.octets), c.text);
}

// FIPS 180-4's example "abc".
TEST(Digest, Sha1AndSha256AreThoseOfTheStandard) {
  EXPECT_EQ(sha1_base64("abc"), "qZk+NkcGgWq6PiVxeFDCbJzQ2J0=");
  EXPECT_EQ(sha256_base64("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

}  // namespace
}  // namespace damper::net
