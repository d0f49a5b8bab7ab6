#include "http/grpc_timeout.h"

#include <algorithm>

#include "base/text.h"

namespace damper::http {

std::optional<Duration> parse_grpc_timeout(std::string_view text) {
  constexpr std::size_t kMostDigits = 8;
  if (text.size() < 2 || text.size() > kMostDigits + 1) return std::nullopt;
  const auto number = parse_number(text.substr(0, text.size() - 1));
  if (!number) return std::nullopt;
  const auto n = static_cast<std::int64_t>(*number);
  switch (text.back()) {
    // 99,999,999 hours are more than nanoseconds can count.
    case 'H': return std::chrono::hours(std::min<std::int64_t>(n, 1'000'000));
    case 'M': return std::chrono::minutes(n);
    case 'S': return std::chrono::seconds(n);
    case 'm': return std::chrono::milliseconds(n);
    case 'u': return std::chrono::microseconds(n);
    case 'n': return std::chrono::nanoseconds(n);
    default: return std::nullopt;
  }
}

std::string format_grpc_timeout(Duration timeout) {
  constexpr std::int64_t kMost = 99'999'999;
  return std::to_string(std::clamp<std::int64_t>(milliseconds(timeout), 1, kMost)) + "m";
}

}  // namespace damper::http
