// The forms that single values may have in a file: durations, percentages, numbers, names of keys.
// All of them answer with nothing when the text is not of their form or out of range.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "config/model/common.h"

namespace damper::config {

// No timeout needs more, and a time this far ahead still fits the clock.
inline constexpr Duration kLongestDuration = std::chrono::hours(24 * 366 * 100);

// "0.5s", "500ms", "2m", "1h", "10us", "10ns". A minus sign is read, so that the caller can refuse
// it with a reason.
std::optional<Duration> parse_duration(std::string_view text);
std::string to_text(Duration duration);  // "2.5s", "500ms", "2m"

std::optional<double> parse_decimal(std::string_view text);
std::optional<std::int64_t> parse_integer(std::string_view text);

// "snake_case" is how keys are named here; a file may say "snakeCase". Either side may be written
// either way.
bool same_key(std::string_view a, std::string_view b);

// "127.0.0.1", "::1": an IP address, not a name.
bool is_ip_address(const std::string& host);

// "host:port", "[::1]:port", "unix:/path". The host may be a name.
std::optional<Endpoint> parse_endpoint(std::string_view text);
// "10.0.0.0/8", or an address alone.
std::optional<CidrRange> parse_cidr(std::string_view text);
std::optional<int> longest_prefix(
    const std::string& address);  // 32 or 128; nothing: not an IP address

bool is_token(std::string_view text);         // RFC 9110 §5.6.2
bool is_header_value(std::string_view text);  // no CR, LF or NUL

}  // namespace damper::config
