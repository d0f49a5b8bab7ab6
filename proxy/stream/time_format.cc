#include "stream/time_format.h"

#include "base/text.h"

namespace damper::stream {
namespace {

constexpr std::string_view kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                      "Thursday", "Friday", "Saturday"};
constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
constexpr std::string_view kConversions = "YymdejHIMSpaAbBhDFTRzZsfE";

struct Moment {
  std::chrono::year_month_day date;
  std::chrono::sys_days day;
  unsigned weekday = 0;   // 0: Sunday
  unsigned year_day = 0;  // from 1
  unsigned hour = 0, minute = 0, second = 0;
  std::uint32_t nanoseconds = 0;
  std::int64_t unix_seconds = 0;

  explicit Moment(WallTime at);
  int year() const { return static_cast<int>(date.year()); }
  unsigned month() const { return static_cast<unsigned>(date.month()); }
  unsigned month_day() const { return static_cast<unsigned>(date.day()); }
};

Moment::Moment(WallTime at) {
  using namespace std::chrono;
  const auto seconds_point = floor<seconds>(at);
  day = floor<days>(seconds_point);
  date = year_month_day(day);
  weekday = std::chrono::weekday(day).c_encoding();
  year_day = static_cast<unsigned>((day - sys_days(date.year() / January / 1)).count()) + 1;
  const auto of_day = static_cast<unsigned>((seconds_point - day).count());
  hour = of_day / 3600;
  minute = of_day / 60 % 60;
  second = of_day % 60;
  nanoseconds = static_cast<std::uint32_t>(
      duration_cast<std::chrono::nanoseconds>(at - seconds_point).count());
  unix_seconds = seconds_point.time_since_epoch().count();
}

void append_padded(std::string& out, std::uint32_t n, std::size_t width, char pad = '0') {
  char digits[10];
  std::size_t at = sizeof digits;
  for (; n > 0 || at == sizeof digits; n /= 10) digits[--at] = static_cast<char>('0' + n % 10);
  while (sizeof digits - at < width) digits[--at] = pad;
  out.append(digits + at, sizeof digits - at);
}

void append_year(std::string& out, int year) {
  if (year < 0) out.push_back('-');
  append_padded(out, static_cast<std::uint32_t>(year < 0 ? -year : year), 4);
}

void append_date(std::string& out, const Moment& t) {
  append_year(out, t.year());
  out.push_back('-');
  append_padded(out, t.month(), 2);
  out.push_back('-');
  append_padded(out, t.month_day(), 2);
}

void append_hour_and_minute(std::string& out, const Moment& t) {
  append_padded(out, t.hour, 2);
  out.push_back(':');
  append_padded(out, t.minute, 2);
}

void append_time(std::string& out, const Moment& t) {
  append_hour_and_minute(out, t);
  out.push_back(':');
  append_padded(out, t.second, 2);
}

// The first digits of the nanoseconds.
void append_fraction(std::string& out, const Moment& t, std::size_t digits) {
  std::uint32_t n = t.nanoseconds;
  for (std::size_t i = digits; i < 9; ++i) n /= 10;
  append_padded(out, n, digits);
}

void append_us_date(std::string& out, const Moment& t) {
  append_padded(out, t.month(), 2);
  out.push_back('/');
  append_padded(out, t.month_day(), 2);
  out.push_back('/');
  append_padded(out, static_cast<std::uint32_t>(t.year()) % 100, 2);
}

void convert_date(char conversion, const Moment& t, std::string& out) {
  switch (conversion) {
    case 'Y': append_year(out, t.year()); return;
    case 'y': append_padded(out, static_cast<std::uint32_t>(t.year()) % 100, 2); return;
    case 'm': append_padded(out, t.month(), 2); return;
    case 'd': append_padded(out, t.month_day(), 2); return;
    case 'e': append_padded(out, t.month_day(), 2, ' '); return;
    case 'j': append_padded(out, t.year_day, 3); return;
    case 'a': out.append(kDays[t.weekday].substr(0, 3)); return;
    case 'A': out.append(kDays[t.weekday]); return;
    case 'b':
    case 'h': out.append(kMonths[t.month() - 1].substr(0, 3)); return;
    case 'B': out.append(kMonths[t.month() - 1]); return;
    case 'D': append_us_date(out, t); return;
    case 'F': append_date(out, t); return;
    case 'z': out.append("+0000"); return;
    case 'Z': out.append("UTC"); return;
    default: return;
  }
}

void convert(char conversion, std::size_t digits, const Moment& t, std::string& out) {
  switch (conversion) {
    case 'H': append_padded(out, t.hour, 2); return;
    case 'I': append_padded(out, t.hour % 12 == 0 ? 12 : t.hour % 12, 2); return;
    case 'M': append_padded(out, t.minute, 2); return;
    case 'S': append_padded(out, t.second, 2); return;
    case 'p': out.append(t.hour < 12 ? "AM" : "PM"); return;
    case 'T': append_time(out, t); return;
    case 'R': append_hour_and_minute(out, t); return;
    case 's': append_number(out, t.unix_seconds); return;
    case 'f': append_fraction(out, t, digits); return;
    case 'E':
      append_padded(out, t.second, 2);
      out.push_back('.');
      append_fraction(out, t, digits);
      return;
    default: convert_date(conversion, t, out);
  }
}

struct Conversion {
  char letter = 0;
  std::size_t digits = 9;
  std::size_t length = 0;  // in the pattern, without the %; 0: unknown
};

// What follows a %: "Y", "3f", "E3S".
Conversion read_conversion(std::string_view text) {
  const auto digit_at = [&](std::size_t i) {
    return i < text.size() && text[i] >= '1' && text[i] <= '9';
  };
  const auto value_at = [&](std::size_t i) { return static_cast<std::size_t>(text[i] - '0'); };
  if (digit_at(0) && text.size() > 1 && text[1] == 'f') return {'f', value_at(0), 2};
  if (text.starts_with('E')) {
    const bool whole = digit_at(1) && text.size() > 2 && text[2] == 'S';
    return whole ? Conversion{'E', value_at(1), 3} : Conversion{};
  }
  if (text.empty() || kConversions.find(text.front()) == std::string_view::npos) return {};
  return {text.front(), 9, 1};
}

char literal_conversion(char c) {
  return c == '%' ? '%' : c == 'n' ? '\n' : c == 't' ? '\t' : '\0';
}

}  // namespace

void append_iso8601(std::string& out, WallTime at) {
  const Moment t(at);
  append_date(out, t);
  out.push_back('T');
  append_time(out, t);
  out.push_back('.');
  append_fraction(out, t, 3);
  out.push_back('Z');
}

Result<TimeFormat> TimeFormat::compile(std::string_view pattern) {
  TimeFormat out;
  Part part;
  while (!pattern.empty()) {
    const char c = pattern.front();
    pattern.remove_prefix(1);
    if (c != '%') {
      part.literal.push_back(c);
      continue;
    }
    if (const char literal = pattern.empty() ? '\0' : literal_conversion(pattern.front());
        literal) {
      part.literal.push_back(literal);
      pattern.remove_prefix(1);
      continue;
    }
    const Conversion conversion = read_conversion(pattern);
    if (conversion.length == 0) {
      return Error{Errc::kInvalid, Side::kLocal,
                   "unknown time conversion \"%" + std::string(pattern.substr(0, 1)) + "\""};
    }
    part.conversion = conversion.letter;
    part.digits = conversion.digits;
    out.parts_.push_back(std::exchange(part, {}));
    pattern.remove_prefix(conversion.length);
  }
  out.parts_.push_back(std::move(part));
  return out;
}

void TimeFormat::write(WallTime at, std::string& out) const {
  const Moment moment(at);
  for (const Part& part : parts_) {
    out.append(part.literal);
    convert(part.conversion, part.digits, moment, out);
  }
}

}  // namespace damper::stream
