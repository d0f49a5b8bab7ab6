#include "config/values.h"

#include <gtest/gtest.h>

namespace damper::config {
namespace {

TEST(ParseDuration, ReadsProtoJsonAndTheShorterUnits) {
  const std::pair<const char*, Duration> cases[] = {
      {"0s", 0s},    {"0.5s", 500ms},   {"500ms", 500ms}, {"2m", 2min},          {"1h", 1h},
      {"1.5m", 90s}, {"10us", 10us},    {"7ns", 7ns},     {"0.000000001s", 1ns}, {"3.25s", 3250ms},
      {"-1s", -1s},  {"-0.5s", -500ms}, {"0.1s", 100ms},  {"876000h", 876000h},
  };
  for (const auto& [text, duration] : cases) EXPECT_EQ(parse_duration(text), duration) << text;
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const char* text :
       {"", "s", "5", "ms", "1d", ".5s", "1.s", "1,5s", "1e3s", " 1s", "1 s", "--1s", "+1s", "1s2",
        "0.1234567890s", "99999999h", "18446744073709551616s", "infs", "nans"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(DurationText, IsTheShortestThatIsExact) {
  const std::pair<Duration, const char*> cases[] = {
      {0s, "0s"},   {250ms, "250ms"}, {1s, "1s"},         {90s, "90s"},
      {2min, "2m"}, {3h, "3h"},       {1500us, "0.0015s"}};
  for (const auto& [duration, text] : cases) EXPECT_EQ(to_text(duration), text);
}

TEST(SameKey, KnowsBothSpellings) {
  const std::pair<const char*, const char*> same[] = {
      {"name", "name"},
      {"num_retries", "numRetries"},
      {"consecutive_5xx", "consecutive5xx"},
      {"enforcing_consecutive_5xx", "enforcingConsecutive5xx"},
      {"accept_http_10", "acceptHttp10"},
      {"http2_protocol_options", "http2ProtocolOptions"},
      {"@type", "@type"},
  };
  for (const auto& [a, b] : same) {
    EXPECT_TRUE(same_key(a, b)) << a;
    EXPECT_TRUE(same_key(b, a)) << a;
  }
}

TEST(SameKey, IsNotLaxerThanThat) {
  const std::pair<const char*, const char*> different[] = {
      {"num_retries", "numretries"},
      {"num_retries", "NumRetries"},
      {"name", "names"},
      {"name", ""},
      {"address", "addRess"},
      {"a_b", "ab"},
      {"port", "Port"},
  };
  for (const auto& [a, b] : different) {
    EXPECT_FALSE(same_key(a, b)) << a << " " << b;
    EXPECT_FALSE(same_key(b, a)) << a << " " << b;
  }
}

TEST(ParseEndpoint, ReadsAddressesNamesAndSockets) {
  EXPECT_EQ(parse_endpoint("127.0.0.1:80"),
            (Endpoint{.host = "127.0.0.1", .port = 80, .unix_path = ""}));
  EXPECT_EQ(parse_endpoint("orders.svc:8080"),
            (Endpoint{.host = "orders.svc", .port = 8080, .unix_path = ""}));
  EXPECT_EQ(parse_endpoint("[::1]:0"), (Endpoint{.host = "::1", .port = 0, .unix_path = ""}));
  EXPECT_EQ(parse_endpoint("unix:/run/app.sock"),
            (Endpoint{.host = "", .port = 0, .unix_path = "/run/app.sock"}));
  EXPECT_EQ(parse_endpoint("unix:@app"), (Endpoint{.host = "", .port = 0, .unix_path = "@app"}));
}

TEST(ParseEndpoint, RefusesEverythingElse) {
  for (const char* text :
       {"", ":80", "host", "host:", "host:65536", "host:-1", "host:80x", "::1:80", "[::1]", "[]:80",
        "[host]:80", "a b:80", "http://host:80", "unix:"}) {
    EXPECT_EQ(parse_endpoint(text), std::nullopt) << text;
  }
}

TEST(ParseCidr, ReadsRangesAndSingleAddresses) {
  EXPECT_EQ(parse_cidr("10.0.0.0/8"), (CidrRange{.address_prefix = "10.0.0.0", .prefix_len = 8}));
  EXPECT_EQ(parse_cidr("127.0.0.1"), (CidrRange{.address_prefix = "127.0.0.1", .prefix_len = 32}));
  EXPECT_EQ(parse_cidr("fd00::/64"), (CidrRange{.address_prefix = "fd00::", .prefix_len = 64}));
  EXPECT_EQ(parse_cidr("::1"), (CidrRange{.address_prefix = "::1", .prefix_len = 128}));
  for (const char* text :
       {"", "/8", "10.0.0/8", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "host"}) {
    EXPECT_EQ(parse_cidr(text), std::nullopt) << text;
  }
}

TEST(HeaderText, FollowsTheGrammar) {
  EXPECT_TRUE(is_token("x-a_b.c~1"));
  for (const char* text : {"", "a b", "a:b", "a\r", "ä", "a(b)"})
    EXPECT_FALSE(is_token(text)) << text;
  EXPECT_TRUE(is_header_value("a b\tc, ä"));
  for (const std::string_view text : {"a\rb", "a\nb"}) EXPECT_FALSE(is_header_value(text));
  EXPECT_FALSE(is_header_value(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace damper::config
