#include "base/text.h"

#include <gtest/gtest.h>

namespace damper {
namespace {

TEST(Text, CaseIsIgnoredForAsciiLettersOnly) {
  EXPECT_EQ(lower("X-Request-ID"), "x-request-id");
  EXPECT_TRUE(equals_ignoring_case("Keep-Alive", "keep-alive"));
  EXPECT_FALSE(equals_ignoring_case("keep-alive", "keep-aliv"));
  EXPECT_FALSE(equals_ignoring_case("[", "{"));
  EXPECT_TRUE(starts_with_ignoring_case("Application/gRPC", "application/grpc"));
  EXPECT_FALSE(starts_with_ignoring_case("app", "application"));
}

TEST(Text, TrimTakesBlanksAndTabsOffBothEnds) {
  EXPECT_EQ(trim(" \ta b\t "), "a b");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim("\r"), "\r");
}

TEST(Text, SplitLeavesOutEmptyParts) {
  EXPECT_EQ(split("a, b ,,c,", ','), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_TRUE(split(" , ", ',').empty());
  EXPECT_TRUE(split("", ',').empty());
}

TEST(Text, ANumberIsDigitsAndNothingElse) {
  EXPECT_EQ(parse_number("0"), 0u);
  EXPECT_EQ(parse_number("18446744073709551615"), 18446744073709551615u);
  for (const char* wrong : {"", "-1", "+1", " 1", "1 ", "0x10", "1.0", "18446744073709551616"}) {
    EXPECT_FALSE(parse_number(wrong)) << wrong;
  }
}

TEST(Text, NearestIsTheWordThatWasMeant) {
  const std::vector<std::string_view> words = {"num_retries", "per_try_timeout", "retry_on"};
  EXPECT_EQ(nearest("num_retry", words), "num_retries");
  EXPECT_EQ(nearest("retryon", words), "retry_on");
  EXPECT_EQ(nearest("timeout_of_each_try", words), "");
}

TEST(Text, NumbersAreAppended) {
  std::string out = "n=";
  append_number(out, 0);
  append_number(out, -42);
  EXPECT_EQ(out, "n=0-42");
}

TEST(Text, HexadecimalDigitsInBothCases) {
  EXPECT_EQ(hex_digit('0'), 0);
  EXPECT_EQ(hex_digit('9'), 9);
  EXPECT_EQ(hex_digit('a'), 10);
  EXPECT_EQ(hex_digit('F'), 15);
  for (const char c : {'g', 'G', '@', '/', ':', '`', ' '}) EXPECT_EQ(hex_digit(c), -1) << c;
}

TEST(Text, APercentAndTwoDigitsAreOneOctet) {
  EXPECT_EQ(percent_octet("%2Fx"), '/');
  EXPECT_EQ(percent_octet("%ff"), '\xff');
  for (const char* text : {"", "%", "%2", "%2g", "%g2", "2F", "x%2F"}) {
    EXPECT_EQ(percent_octet(text), std::nullopt) << text;
  }
}

TEST(Text, Base64IsDecodedAndNothingElse) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9v"), "foo");
  EXPECT_EQ(decode_base64("Zm9vYg=="), "foob");
  EXPECT_EQ(decode_base64("/+8="), "\xff\xef");
  for (const char* text : {"Z", "Zg", "Zg=", "Zm9v=", "Z===", "Zm 9v", "Zm9-"}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace damper
