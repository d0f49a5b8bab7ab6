#include "base/json.h"

#include <gtest/gtest.h>

namespace damper {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  append_json_escaped(out, text);
  return out;
}

TEST(Json, EscapesWhatEndsAStringOrALine) {
  EXPECT_EQ(escaped("a\"b\\c\nd\re\tf"), R"(a\"b\\c\nd\re\tf)");
  EXPECT_EQ(escaped(std::string_view("\0\x1f\x7f", 3)), R"(\u0000\u001f\u007f)");
}

TEST(Json, KeepsValidUtf8) {
  for (const char* text : {"é", "€", "😀", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(escaped(text), text);
}

TEST(Json, ShowsBytesThatAreNoUtf8) {
  const struct {
    std::string_view text, expected;
  } cases[] = {
      {"\xff", R"(\\xff)"},
      {"\x80z", R"(\\x80z)"},
      {"\xc3", R"(\\xc3)"},
      {"\xc0\xaf", R"(\\xc0\\xaf)"},                    // overlong
      {"\xe0\x80\xaf", R"(\\xe0\\x80\\xaf)"},           // overlong
      {"\xed\xa0\x80", R"(\\xed\\xa0\\x80)"},           // a surrogate
      {"\xf4\x90\x80\x80", R"(\\xf4\\x90\\x80\\x80)"},  // beyond U+10FFFF
      {"\xe2\x82", R"(\\xe2\\x82)"},                    // cut off
      {"\xe2\x82!", R"(\\xe2\\x82!)"},
  };
  for (const auto& c : cases) EXPECT_EQ(escaped(c.text), c.expected);
}

TEST(Json, AStringHasItsQuotes) {
  std::string out = "x=";
  append_json_string(out, "a\"");
  EXPECT_EQ(out, R"(x="a\"")");
}

}  // namespace
}  // namespace damper
