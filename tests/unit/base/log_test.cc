#include "base/log.h"

#include <gtest/gtest.h>

namespace damper::log {
namespace {

TEST(Log, EnvoysWordsAreLevels) {
  const struct {
    const char* text;
    Level level;
  } kCases[] = {{"trace", Level::kTrace}, {"debug", Level::kDebug},      {"info", Level::kInfo},
                {"warn", Level::kWarn},   {"warning", Level::kWarn},     {"error", Level::kError},
                {"off", Level::kOff},     {"critical", Level::kCritical}};
  for (const auto& c : kCases) {
    Level level = Level::kOff;
    EXPECT_TRUE(parse_level(c.text, level)) << c.text;
    EXPECT_EQ(level, c.level) << c.text;
  }
  Level level = Level::kInfo;
  EXPECT_FALSE(parse_level("loud", level));
  EXPECT_EQ(level, Level::kInfo);
}

TEST(Log, TheLevelThatIsSetIsTheLevel) {
  const Level before = log::level();
  set_level(Level::kError);
  EXPECT_EQ(log::level(), Level::kError);
  EXPECT_EQ(name(log::level()), "error");
  set_level(before);
}

TEST(Log, AFileThatCannotBeOpenedIsAnAnswer) { EXPECT_FALSE(open("/dev/null/damper.log")); }

}  // namespace
}  // namespace damper::log
