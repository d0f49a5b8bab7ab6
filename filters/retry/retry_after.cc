#include "filters/retry/retry_after.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "filters/retry/http_date.h"

namespace damper::retry {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::sys_seconds;

// Longer than any wait that could fit, and short enough to calculate with.
constexpr std::chrono::hours kForever(24 * 365);

// RFC 9111 §1.2.2: a number that is too large for us is a very large one, not garbage.
std::optional<std::uint64_t> digits(std::string_view text) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  return parse_number(text).value_or(std::numeric_limits<std::uint64_t>::max());
}

template <class Unit>
Duration at_most_forever(std::uint64_t count) {
  const auto limit = static_cast<std::uint64_t>(Unit(kForever).count());
  return Unit(static_cast<typename Unit::rep>(std::min(count, limit)));
}

// In seconds first: dates reach further than the nanoseconds of a WallTime.
Duration until(sys_seconds at, WallTime now) {
  const auto second = std::chrono::floor<seconds>(now);
  if (at <= second) return Duration::zero();
  return std::min<seconds>(at - second, kForever) - (now - second);
}

std::optional<Duration> read_seconds(std::string_view text) {
  const auto count = digits(text);
  return count ? std::optional(at_most_forever<seconds>(*count)) : std::nullopt;
}

std::optional<Duration> read_unix_timestamp(std::string_view text, WallTime now) {
  const auto count = digits(text);
  if (!count) return std::nullopt;
  constexpr std::uint64_t kEndOfYear9999 = 253'402'300'799;
  const auto at = static_cast<seconds::rep>(std::min(*count, kEndOfYear9999));
  return until(sys_seconds(seconds(at)), now);
}

std::optional<Duration> read_retry_after(std::string_view text, WallTime now) {
  if (const auto wait = read_seconds(text)) return wait;
  const auto date = parse_http_date(text, now);
  return date ? std::optional(until(*date, now)) : std::nullopt;
}

std::optional<std::uint64_t> read_pushback(std::string_view text) { return digits(trim(text)); }

auto count_pushbacks(const http::Fields& fields) {
  return static_cast<std::size_t>(std::count_if(
      fields.begin(), fields.end(),
      [](const http::Field& field) { return field.id == http::HeaderId::kGrpcRetryPushbackMs; }));
}

// Takes the value over unless an earlier header has spoken.
void consider(ServerWait& result, std::optional<Duration> wait) {
  result.said = true;
  if (!wait) {
    ++result.unreadable;
  } else if (result.wait == Duration::zero()) {
    result.wait = *wait;
  }
}

}  // namespace

ServerWait read_server_wait(const config::RetryAfter& rules, const Outcome& outcome, WallTime now) {
  ServerWait result;
  if (rules.ignore || !outcome.response) return result;
  if (const auto pushback = find(outcome, http::HeaderId::kGrpcRetryPushbackMs)) {
    result.said = true;
    result.wait = at_most_forever<milliseconds>(read_pushback(*pushback).value_or(0));
  }
  const http::Fields& fields = outcome.response->fields;
  for (const config::ResetHeader& header : rules.reset_headers) {
    const auto value = fields.find(header.name);
    if (!value) continue;
    const bool relative = header.format == config::ResetHeader::Format::kSeconds;
    const auto text = trim(*value);
    consider(result, relative ? read_seconds(text) : read_unix_timestamp(text, now));
  }
  if (const auto value = fields.find(http::HeaderId::kRetryAfter)) {
    consider(result, read_retry_after(trim(*value), now));
  }
  return result;
}

bool pushback_forbids_retry(const Outcome& outcome) {
  const auto value = find(outcome, http::HeaderId::kGrpcRetryPushbackMs);
  if (!value) return false;
  std::size_t values = outcome.trailers ? count_pushbacks(*outcome.trailers) : 0;
  if (outcome.response) values += count_pushbacks(outcome.response->fields);
  return values > 1 || !read_pushback(*value);
}

bool says_stop(const Outcome& outcome) {
  return outcome.is_grpc && grpc_status(outcome).value_or(0) != 0 &&
         pushback_forbids_retry(outcome);
}

Duration draw_server_wait(Duration told, Duration fits, Random& random) {
  const Duration room = std::min(told / 2, fits - told);
  if (room <= Duration::zero()) return told;
  return told + Duration(static_cast<Duration::rep>(
                    random.below(static_cast<std::uint64_t>(room.count()))));
}

}  // namespace damper::retry
