#include "server/admin_query.h"

#include <gtest/gtest.h>

namespace damper::server {
namespace {

TEST(AdminQuery, HasAPathAndTheParametersOfQueryAndForm) {
  const auto query = AdminQuery::parse("POST", "/retry?mode=off&flag", "for=10m&ratio=5%25");
  EXPECT_EQ(query.method, "POST");
  EXPECT_EQ(query.path, "/retry");
  EXPECT_EQ(query.get("mode"), "off");
  EXPECT_TRUE(query.has("flag"));
  EXPECT_EQ(query.get("flag"), "");
  EXPECT_EQ(query.get("for"), "10m");
  EXPECT_EQ(query.get("ratio"), "5%");
  EXPECT_FALSE(query.has("none"));
  EXPECT_EQ(query.get("none"), "");
}

TEST(AdminQuery, TheFirstOfANameHolds) {
  EXPECT_EQ(AdminQuery::parse("GET", "/?a=1&a=2", "a=3").get("a"), "1");
}

TEST(AdminQuery, IsPercentDecodedWhereThatIsMeant) {
  EXPECT_EQ(AdminQuery::parse("GET", "/a%7Cb", "").path, "/a|b");
  for (const char* text : {"5%", "%", "%2", "%zz", "5%x"}) {
    EXPECT_EQ(AdminQuery::parse("GET", "/?a=" + std::string(text), "").get("a"), text);
  }
}

TEST(AdminQuery, ATargetMayBeEmptyOrEndAnywhere) {
  for (const char* target : {"", "?", "/?", "/?&&", "/?="}) {
    EXPECT_FALSE(AdminQuery::parse("GET", target, "").has("a")) << target;
  }
}

}  // namespace
}  // namespace damper::server
