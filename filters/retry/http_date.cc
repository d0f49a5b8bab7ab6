#include "filters/retry/http_date.h"

#include <string>
#include <time.h>

namespace damper::retry {
namespace {

using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

// Reads all of `text`. The process stays in the "C" locale, so the names are the English ones.
bool read(const std::string& text, const char* format, std::tm& fields) {
  fields = {};
  const char* end = strptime(text.c_str(), format, &fields);
  return end == text.c_str() + text.size();
}

// A two-digit year more than 50 years ahead is the last one that ended in these digits.
year settle_century(int two_digits, WallTime now) {
  const year_month_day today(std::chrono::floor<std::chrono::days>(now));
  const int this_year = static_cast<int>(today.year());
  const int candidate = this_year - this_year % 100 + two_digits;
  return year(candidate > this_year + 50 ? candidate - 100 : candidate);
}

}  // namespace

std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text, WallTime now) {
  const std::string terminated(text);
  std::tm fields;
  const bool rfc850 = read(terminated, "%A, %d-%b-%y %H:%M:%S GMT", fields);
  if (!rfc850 && !read(terminated, "%a, %d %b %Y %H:%M:%S GMT", fields) &&
      !read(terminated, "%a %b %e %H:%M:%S %Y", fields)) {
    return std::nullopt;
  }
  const year_month_day date(
      rfc850 ? settle_century(fields.tm_year % 100, now) : year(fields.tm_year + 1900),
      std::chrono::month(static_cast<unsigned>(fields.tm_mon + 1)),
      std::chrono::day(static_cast<unsigned>(fields.tm_mday)));
  if (!date.ok()) return std::nullopt;
  return sys_days(date) + std::chrono::hours(fields.tm_hour) + std::chrono::minutes(fields.tm_min) +
         std::chrono::seconds(fields.tm_sec);
}

}  // namespace damper::retry
