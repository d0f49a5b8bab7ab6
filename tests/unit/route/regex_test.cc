#include "route/regex.h"

#include <gtest/gtest.h>

namespace damper::route {
namespace {

TEST(Regex, MatchesOnlyTheWholeText) {
  const auto regex = Regex::compile("/api/\\d+");
  ASSERT_TRUE(regex);
  EXPECT_TRUE(regex->matches("/api/12"));
  EXPECT_FALSE(regex->matches("/api/12/x"));
  EXPECT_FALSE(regex->matches("x/api/12"));
}

TEST(Regex, ReplacesEveryMatchAndFillsInGroups) {
  const auto regex = Regex::compile("(\\w)-(\\w)");
  ASSERT_TRUE(regex);
  EXPECT_EQ(regex->replace_all("a-b c-d", "\\2\\1"), "ba dc");
  EXPECT_EQ(regex->replace_all("none", "\\2\\1"), "none");
}

TEST(Regex, ASubstitutionMayOnlyNameGroupsThatExist) {
  const auto regex = Regex::compile("(a)");
  ASSERT_TRUE(regex);
  EXPECT_TRUE(regex->check_substitution("\\1"));
  EXPECT_FALSE(regex->check_substitution("\\2"));
}

TEST(Regex, AMalformedPatternIsNamed) {
  EXPECT_EQ(check_regex("a+"), std::nullopt);
  const auto why = check_regex("a(");
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("a("), std::string::npos);
}

}  // namespace
}  // namespace damper::route
