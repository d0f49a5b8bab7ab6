#include "base/log.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <regex>
#include <string>
#include <unistd.h>

namespace damper::log {
namespace {

constexpr Level kLevels[] = {Level::kTrace, Level::kDebug,    Level::kInfo, Level::kWarn,
                             Level::kError, Level::kCritical, Level::kOff};

TEST(Log, LevelsAreReadByTheNamesThatTheyHave) {
  for (const Level level : kLevels) {
    Level read = Level::kTrace;
    EXPECT_TRUE(parse_level(name(level), read));
    EXPECT_EQ(read, level);
  }
}

TEST(Log, EnvoysShortWordForAWarningIsReadToo) {
  Level level = Level::kOff;
  EXPECT_TRUE(parse_level("warn", level));
  EXPECT_EQ(level, Level::kWarn);
}

TEST(Log, AnUnknownLevelChangesNothing) {
  for (const char* word : {"", "Info", "verbose", "info "}) {
    Level level = Level::kError;
    EXPECT_FALSE(parse_level(word, level)) << word;
    EXPECT_EQ(level, Level::kError);
  }
}

TEST(Log, TheLevelIsWhatWasSet) {
  const Level before = level();
  for (const Level l : kLevels) {
    set_level(l);
    EXPECT_EQ(level(), l);
  }
  set_level(before);
}

// In a process of its own: a log is opened once.
[[noreturn]] void log_to(const std::string& path) {
  if (!open(path)) std::_Exit(1);
  set_level(Level::kInfo);
  info("reload_rejected file={} line={}", "a.yaml", 12);
  debug("not=seen");
  warn("braces={} brackets={{}}", "{}");
  set_level(Level::kOff);
  error("not=seen either");
  std::exit(0);
}

TEST(Log, LinesFromTheLevelOnAreAppendedToTheFileWithTimeAndLevel) {
  const std::string path = testing::TempDir() + "damper_log_" + std::to_string(::getpid());
  std::ofstream(path) << "earlier\n";
  EXPECT_EXIT(log_to(path), testing::ExitedWithCode(0), "");
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ::unlink(path.c_str());
  const std::string time = R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})";
  EXPECT_TRUE(std::regex_match(
      text, std::regex("earlier\n" + time + " info reload_rejected file=a\\.yaml line=12\n" + time +
                       R"( warning braces=\{\} brackets=\{\})" + "\n")))
      << text;
}

TEST(Log, AFileThatCannotBeOpenedIsReported) { EXPECT_FALSE(open("/dev/null/log")); }

}  // namespace
}  // namespace damper::log
