#include "filters/retry/http_date.h"

#include <gtest/gtest.h>

namespace damper::retry {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;

constexpr WallTime kNow = sys_days(2026y / 11 / 29) + 12h;

TEST(HttpDate, AllThreeFormsAreRead) {
  const auto expected = sys_days(1994y / 11 / 6) + 8h + 49min + 37s;
  for (const auto* text : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(parse_http_date(text, kNow), expected) << text;
  }
}

TEST(HttpDate, ATwoDigitYearIsAtMostFiftyYearsAhead) {
  EXPECT_EQ(parse_http_date("Sunday, 29-Nov-76 00:00:00 GMT", kNow), sys_days(2076y / 11 / 29));
  EXPECT_EQ(parse_http_date("Tuesday, 29-Nov-77 00:00:00 GMT", kNow), sys_days(1977y / 11 / 29));
  EXPECT_EQ(parse_http_date("Sunday, 29-Nov-26 12:00:05 GMT", kNow),
            std::chrono::floor<std::chrono::seconds>(kNow) + 5s);
}

TEST(HttpDate, DatesOutsideTheClocksRangeAreStillDates) {
  EXPECT_TRUE(parse_http_date("Fri, 31 Dec 9999 23:59:59 GMT", kNow));
  EXPECT_TRUE(parse_http_date("Mon, 01 Jan 0001 00:00:00 GMT", kNow));
}

TEST(HttpDate, LeapDaysAreChecked) {
  EXPECT_TRUE(parse_http_date("Tue, 29 Feb 2028 00:00:00 GMT", kNow));
  EXPECT_FALSE(parse_http_date("Thu, 29 Feb 2027 00:00:00 GMT", kNow));
}

TEST(HttpDate, GarbageIsRefused) {
  for (const auto* text :
       {"", "tomorrow", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37", "2026-11-29T12:00:00Z",
        "Sun, 06 Nov 1994 08:49:37 PST", "Sun, 06 Nov 1994 08:49:37 GMT+1",
        "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 08:61:37 GMT", "Sun, 06 Nov"}) {
    EXPECT_FALSE(parse_http_date(text, kNow)) << text;
  }
}

}  // namespace
}  // namespace damper::retry
