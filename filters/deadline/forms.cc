#include "filters/deadline/forms.h"

#include <algorithm>

#include "base/text.h"
#include "http/grpc_timeout.h"

namespace damper::deadline {
namespace {

using std::chrono::milliseconds;

constexpr Duration kLongest = std::chrono::hours(24);

// Reads digits off the front.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  const auto number = parse_number(text.substr(0, digits));
  if (!number) return std::nullopt;
  text.remove_prefix(digits);
  return static_cast<int>(*number);
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == any_of.npos) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<Duration> take_fraction(std::string_view& text) {
  if (!take(text, ".")) return Duration::zero();
  Duration unit = std::chrono::seconds(1);
  Duration fraction{};
  bool any = false;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    unit /= 10;
    fraction += unit * (text.front() - '0');
    any = true;
  }
  if (!any) return std::nullopt;
  return fraction;
}

std::optional<std::chrono::minutes> take_offset(std::string_view& text) {
  if (take(text, "Zz")) return std::chrono::minutes(0);
  const bool behind = !text.empty() && text.front() == '-';
  if (!take(text, "+-")) return std::nullopt;
  const auto hours = take_number(text, 2);
  if (!hours || *hours > 23 || !take(text, ":")) return std::nullopt;
  const auto minutes = take_number(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  const std::chrono::minutes offset(*hours * 60 + *minutes);
  return behind ? -offset : offset;
}

std::optional<std::chrono::sys_days> take_date(std::string_view& text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, "-")) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || !take(text, "-")) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date);
}

std::optional<std::chrono::seconds> take_time(std::string_view& text) {
  const auto hours = take_number(text, 2);
  if (!hours || *hours > 23 || !take(text, ":")) return std::nullopt;
  const auto minutes = take_number(text, 2);
  if (!minutes || *minutes > 59 || !take(text, ":")) return std::nullopt;
  const auto seconds = take_number(text, 2);
  if (!seconds || *seconds > 60) return std::nullopt;  // a leap second
  return std::chrono::hours(*hours) + std::chrono::minutes(*minutes) +
         std::chrono::seconds(*seconds);
}

std::optional<WallTime> parse_absolute(std::string_view text) {
  const auto unix_ms = parse_number(text);
  if (!unix_ms) return parse_rfc3339(text);
  constexpr std::uint64_t kYear9999 = 253'402'300'799'000;
  if (*unix_ms > kYear9999) return std::nullopt;
  // Far dates do not fit into nanoseconds; whatever is more than a century off is "not soon".
  constexpr std::uint64_t kYear2200 = 7'258'118'400'000;
  return WallTime(milliseconds(std::min(*unix_ms, kYear2200)));
}

std::optional<Duration> parse_relative(std::string_view text) {
  const auto ms = parse_number(text);
  if (!ms) return std::nullopt;
  return milliseconds(std::min<std::uint64_t>(*ms, 86'400'000));
}

}  // namespace

std::optional<WallTime> parse_rfc3339(std::string_view text) {
  const auto date = take_date(text);
  if (!date || !take(text, "Tt ")) return std::nullopt;
  const auto time = take_time(text);
  if (!time) return std::nullopt;
  const auto fraction = take_fraction(text);
  if (!fraction) return std::nullopt;
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;
  constexpr std::chrono::sys_days kFirst{std::chrono::year(1970) / 1 / 1};
  constexpr std::chrono::sys_days kLast{std::chrono::year(2200) / 1 / 1};
  const auto day = std::clamp(*date, kFirst, kLast);
  return WallTime(day) + *time + *fraction - *offset;
}

std::optional<Duration> read(Form form, std::string_view text, WallTime wall) {
  std::optional<Duration> left;
  switch (form) {
    case Form::kAbsolute:
      if (const auto at = parse_absolute(text)) left = *at - wall;
      break;
    case Form::kRelative: left = parse_relative(text); break;
    case Form::kGrpc: left = http::parse_grpc_timeout(text); break;
  }
  if (left) left = std::min(*left, kLongest);
  return left;
}

std::string write(Form form, Duration left, WallTime wall) {
  std::string out;
  const auto ms = std::chrono::floor<milliseconds>(left);
  switch (form) {
    case Form::kAbsolute:
      append_number(out,
                    std::chrono::floor<milliseconds>((wall + left).time_since_epoch()).count());
      return out;
    case Form::kRelative:
      append_number(out, std::max<milliseconds::rep>(ms.count(), 1));
      return out;
    case Form::kGrpc: return http::format_grpc_timeout(left);
  }
  return out;
}

}  // namespace damper::deadline
