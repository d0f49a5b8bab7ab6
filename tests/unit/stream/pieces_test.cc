#include "stream/pieces.h"

#include <gtest/gtest.h>

namespace damper::stream {
namespace {

TEST(ParseFormat, TextWithoutOperatorsIsOnePiece) {
  auto pieces = parse_format("a 100%% b");
  ASSERT_TRUE(pieces);
  ASSERT_EQ(pieces->size(), 1u);
  EXPECT_EQ((*pieces)[0].literal, "a 100% b");
  EXPECT_FALSE((*pieces)[0].value);
}

TEST(ParseFormat, EachOperatorEndsAPiece) {
  auto pieces = parse_format("<%PROTOCOL%%DURATION%>");
  ASSERT_TRUE(pieces);
  ASSERT_EQ(pieces->size(), 3u);
  EXPECT_EQ((*pieces)[0].literal, "<");
  EXPECT_EQ((*pieces)[1].literal, "");
  EXPECT_EQ((*pieces)[2].literal, ">");
}

TEST(ParseFormat, AnArgumentMayHoldPercentSignsAndParentheses) {
  auto pieces = parse_format("%START_TIME(<%H> (%M))% %REQ(X):12%");
  ASSERT_TRUE(pieces);
  ASSERT_EQ(pieces->size(), 3u);
  EXPECT_EQ((*pieces)[1].value->at_most_bytes, 12u);
}

TEST(ParseFormat, BrokenSyntaxIsAnErrorThatShowsWhere) {
  for (const char* format : {"%", "x %", "% %", "%REQ(X%", "%REQ(X)", "%REQ(X):%", "%REQ(X):a%",
                             "%PROTOCOL", "%protocol%", "%REQ(X):99999999999999999999999%"}) {
    EXPECT_FALSE(parse_format(format)) << format;
  }
  EXPECT_EQ(parse_format("at 5% of").error().detail,
            "no operator at \"% of\"; a literal % is written %%");
}

TEST(ParseFormat, AMisspeltOperatorIsNamed) {
  EXPECT_EQ(parse_format("%DURATON%").error().detail,
            "unknown operator %DURATON%, did you mean %DURATION%?");
}

}  // namespace
}  // namespace damper::stream
