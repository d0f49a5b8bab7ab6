#include "stream/time_format.h"

#include <ctime>
#include <gtest/gtest.h>

namespace damper::stream {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

WallTime at(std::int64_t unix_seconds, std::int64_t ns = 0) {
  return WallTime{} + seconds(unix_seconds) + nanoseconds(ns);
}

std::string iso(WallTime t) {
  std::string out;
  append_iso8601(out, t);
  return out;
}

std::string formatted(std::string_view pattern, WallTime t) {
  auto format = TimeFormat::compile(pattern);
  if (!format) return format.error().detail;
  std::string out;
  format->write(t, out);
  return out;
}

TEST(Iso8601, ShowsMillisecondsInUtc) {
  EXPECT_EQ(iso(at(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(iso(at(1767323045, 678'999'999)), "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(iso(at(951782399, 1'000'000)), "2000-02-28T23:59:59.001Z");
  EXPECT_EQ(iso(at(951782400)), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(iso(at(-1, 999'000'000)), "1969-12-31T23:59:59.999Z");
}

TEST(TimeFormat, ConversionsAreThoseOfStrftime) {
  for (const std::int64_t second : {0LL, 951782400LL, 1767323045LL, 4102444799LL, 1719835200LL}) {
    for (const char* pattern : {"%Y", "%y", "%m", "%d", "%e",
                                "%j", "%H", "%I", "%M", "%S",
                                "%p", "%a", "%A", "%b", "%B",
                                "%h", "%D", "%F", "%T", "%R",
                                "%z", "%%", "%n", "%t", "[%d/%b/%Y:%H:%M:%S %z]"}) {
      const std::time_t t = second;
      std::tm tm{};
      ::gmtime_r(&t, &tm);
      char expected[64];
      const std::size_t n = std::strftime(expected, sizeof expected, pattern, &tm);
      EXPECT_EQ(formatted(pattern, at(second)), std::string(expected, n)) << pattern << second;
    }
  }
}

TEST(TimeFormat, FractionsHaveTheDigitsAskedFor) {
  const WallTime t = at(1767323045, 12'345'678);
  EXPECT_EQ(formatted("%f", t), "012345678");
  EXPECT_EQ(formatted("%1f", t), "0");
  EXPECT_EQ(formatted("%s.%3f", t), "1767323045.012");
  EXPECT_EQ(formatted("%Y/%m/%dT%H:%M:%S.%6f%z", t), "2026/01/02T03:04:05.012345+0000");
  EXPECT_EQ(formatted("%E3S", t), "05.012");
  EXPECT_EQ(formatted("%s", at(-5)), "-5");
  EXPECT_EQ(formatted("%Z", t), "UTC");
}

TEST(TimeFormat, AnUnknownConversionIsAnError) {
  for (const char* pattern : {"%Q", "%", "%0f", "%3S", "%E", "%ES", "%E0S", "%E3", "a %", "%3"}) {
    EXPECT_FALSE(TimeFormat::compile(pattern)) << pattern;
  }
  EXPECT_EQ(formatted("%H:%Q", at(0)), "unknown time conversion \"%Q\"");
}

}  // namespace
}  // namespace damper::stream
