#include "config/values.h"

#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace damper::config {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};

// The longer names first: "ms" ends in "s".
constexpr Unit kUnits[] = {{"ms", 1'000'000},    {"us", 1'000},         {"ns", 1},
                           {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000}};

// digits [ "." digits ], exactly, as nanoseconds.
std::optional<std::int64_t> scale(std::string_view number, std::int64_t unit) {
  const auto point = number.find('.');
  const auto whole = parse_number(number.substr(0, point));
  const auto most = static_cast<std::uint64_t>(Duration(kLongestDuration).count() / unit);
  if (!whole || *whole > most) return std::nullopt;
  auto out = static_cast<std::int64_t>(*whole) * unit;
  if (point == std::string_view::npos) return out;
  const auto digits = number.substr(point + 1);
  if (digits.empty() || digits.size() > 9 || !parse_number(digits)) return std::nullopt;
  double part = static_cast<double>(*parse_number(digits)) * static_cast<double>(unit);
  for (std::size_t i = 0; i < digits.size(); ++i) part /= 10;
  return out + std::llround(part);
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  const auto port = parse_number(text);
  if (!port || *port > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(*port);
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  for (const Unit& unit : kUnits) {
    if (!ends_with(text, unit.name)) continue;
    const auto count = scale(text.substr(0, text.size() - unit.name.size()), unit.nanoseconds);
    if (!count) return std::nullopt;
    return Duration(negative ? -*count : *count);
  }
  return std::nullopt;
}

std::string to_text(Duration duration) {
  const std::int64_t count = duration.count();
  constexpr Unit kPlain[] = {
      {"h", 3'600'000'000'000}, {"m", 60'000'000'000}, {"s", 1'000'000'000}, {"ms", 1'000'000}};
  for (const Unit& unit : kPlain) {
    if (count != 0 && count % unit.nanoseconds == 0) {
      return std::to_string(count / unit.nanoseconds) + std::string(unit.name);
    }
  }
  std::string out = std::to_string(static_cast<double>(count) / 1e9);  // six digits after the point
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out + "s";
}

std::optional<double> parse_decimal(std::string_view text) {
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() ||
      !std::isfinite(out)) {
    return std::nullopt;
  }
  return out;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

bool same_key(std::string_view a, std::string_view b) {
  // A hump and an underscore before a small letter say the same.
  std::size_t i = 0, j = 0;
  const auto next = [](std::string_view text, std::size_t& at, bool& hump) {
    hump = at > 0 && text[at] == '_' && at + 1 < text.size();
    if (hump) ++at;
    const char c = text[at++];
    if (at == 1) return c;
    hump = hump || to_lower(c) != c;
    return to_lower(c);
  };
  while (i < a.size() && j < b.size()) {
    bool hump_a = false, hump_b = false;
    const char x = next(a, i, hump_a);
    const char y = next(b, j, hump_b);
    // A digit has no capital: "consecutive_5xx" is "consecutive5xx".
    if (x != y || (hump_a != hump_b && !is_digit(x))) return false;
  }
  return i == a.size() && j == b.size();
}

std::optional<int> longest_prefix(const std::string& address) {
  std::array<unsigned char, 16> bytes{};
  if (inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) return 32;
  if (inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1) return 128;
  return std::nullopt;
}

bool is_ip_address(const std::string& host) { return longest_prefix(host).has_value(); }

std::optional<Endpoint> parse_endpoint(std::string_view text) {
  if (text.substr(0, 5) == "unix:") {
    if (text.size() == 5) return std::nullopt;
    return Endpoint{.host = {}, .port = 0, .unix_path = std::string(text.substr(5))};
  }
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const auto port = parse_port(text.substr(colon + 1));
  auto host = text.substr(0, colon);
  const bool bracketed = host.front() == '[' && host.back() == ']' && host.size() > 2;
  if (bracketed) host = host.substr(1, host.size() - 2);
  const bool has_colon = host.find(':') != std::string_view::npos;
  if (!port || has_colon != bracketed || host.find_first_of(" \t/[]") != std::string_view::npos)
    return std::nullopt;
  return Endpoint{.host = std::string(host), .port = *port, .unix_path = {}};
}

std::optional<CidrRange> parse_cidr(std::string_view text) {
  const auto slash = text.find('/');
  CidrRange out{.address_prefix = std::string(text.substr(0, slash)), .prefix_len = 0};
  const auto longest = longest_prefix(out.address_prefix);
  if (!longest) return std::nullopt;
  out.prefix_len = *longest;
  if (slash == std::string_view::npos) return out;
  const auto length = parse_number(text.substr(slash + 1));
  if (!length || *length > static_cast<std::uint64_t>(*longest)) return std::nullopt;
  out.prefix_len = static_cast<int>(*length);
  return out;
}

bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  for (const char c : text) {
    const char small = to_lower(c);
    if (!is_digit(c) && !(small >= 'a' && small <= 'z') && kMarks.find(c) == std::string_view::npos)
      return false;
  }
  return !text.empty();
}

bool is_header_value(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

}  // namespace damper::config
