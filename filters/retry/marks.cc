#include "filters/retry/marks.h"

#include <algorithm>

#include "base/text.h"
#include "filters/retry/retry_after.h"

namespace damper::retry {
namespace {

constexpr std::string_view kFinal = "final";

bool is_token_octet(char c) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  const char letter = to_lower(c);
  return is_digit(c) || (letter >= 'a' && letter <= 'z') || kMarks.find(c) != kMarks.npos;
}

void append_token(std::string& out, std::string_view text) {
  for (const char c : text) out += is_token_octet(c) ? c : '_';
}

void read_parameter(std::string_view parameter, Mark& mark) {
  const auto equals = parameter.find('=');
  if (equals == parameter.npos) return;
  const auto key = trim(parameter.substr(0, equals));
  const auto value = trim(parameter.substr(equals + 1));
  if (equals_ignoring_case(key, "by")) mark.by = value;
  if (equals_ignoring_case(key, "verdict")) mark.verdict = value;
  if (equals_ignoring_case(key, "attempts")) {
    constexpr std::uint64_t kMost = 1'000'000;  // more than anybody makes
    mark.attempts = static_cast<std::uint32_t>(std::min(parse_number(value).value_or(0), kMost));
  }
}

}  // namespace

std::string format_final(const Mark& mark) {
  std::string out(kFinal);
  out += "; by=";
  append_token(out, mark.by);
  out += "; attempts=";
  append_number(out, mark.attempts);
  out += "; verdict=";
  append_token(out, mark.verdict);
  return out;
}

std::optional<Mark> parse_final(std::string_view value) {
  const auto parts = split(value, ';');
  if (parts.empty() || !equals_ignoring_case(parts.front(), kFinal)) return std::nullopt;
  Mark mark;
  for (std::size_t i = 1; i < parts.size(); ++i) read_parameter(parts[i], mark);
  return mark;
}

void add_final_mark(http::Fields& response, std::string_view mark, bool is_grpc) {
  response.set(http::HeaderId::kXDamperRetry, mark);
  if (is_grpc) response.set(http::HeaderId::kGrpcRetryPushbackMs, kNoRetryPushback);
}

void add_final_mark(stream::Reply& reply, std::string_view mark, bool is_grpc) {
  reply.headers.emplace_back(http::HeaderId::kXDamperRetry, mark);
  if (is_grpc) reply.headers.emplace_back(http::HeaderId::kGrpcRetryPushbackMs, kNoRetryPushback);
}

std::uint32_t attempt_count(const http::Fields& request) {
  constexpr std::uint64_t kMost = 1'000'000;  // whoever says more means nothing
  std::uint64_t count = 1;
  if (const auto told = request.find(http::HeaderId::kXEnvoyAttemptCount)) {
    count = std::max(count, parse_number(*told).value_or(1));
  }
  if (const auto before = request.find(http::HeaderId::kGrpcPreviousRpcAttempts)) {
    count = std::max(count, std::min(parse_number(*before).value_or(0), kMost) + 1);
  }
  return static_cast<std::uint32_t>(std::min(count, kMost));
}

bool is_owner_mark(std::string_view value) {
  const auto parts = split(value, ';');
  return !parts.empty() && equals_ignoring_case(parts.front(), kOwnerMark);
}

bool forbids_retry(const Outcome& outcome) {
  const auto mark = find(outcome, http::HeaderId::kXDamperRetry);
  return (mark && parse_final(*mark)) || pushback_forbids_retry(outcome);
}

bool marks_response(Verdict verdict, std::uint32_t num_retries) {
  switch (verdict) {
    case Verdict::kLimit: return num_retries > 0;
    case Verdict::kDeadline:
    case Verdict::kLiveOff:
    case Verdict::kBreakerOpen:
    case Verdict::kBudgetConcurrency:
    case Verdict::kBudgetWindow:
    case Verdict::kBudgetRate:
    case Verdict::kBudgetThrottle: return true;
    case Verdict::kNone:
    case Verdict::kResponseStarted:
    case Verdict::kNotRetriable:
    case Verdict::kMarked:  // whoever marked it has said so already
    case Verdict::kNotIdempotent:
    case Verdict::kBodyLost: return false;
  }
  return false;
}

bool marks_response(Failure own_refusal) {
  return own_refusal == Failure::kOverflow || own_refusal == Failure::kNoHealthyHost ||
         own_refusal == Failure::kBreakerOpen;
}

}  // namespace damper::retry
