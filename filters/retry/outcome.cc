#include "filters/retry/outcome.h"

#include <array>

#include "base/text.h"
#include "http/grpc_status.h"

namespace damper::retry {
namespace {

constexpr int kLowest = 100;
constexpr int kHighest = 999;

constexpr auto make_status_digits() {
  std::array<char, 3 * (kHighest - kLowest + 1)> digits{};
  std::size_t at = 0;
  for (int status = kLowest; status <= kHighest; ++status) {
    digits[at++] = static_cast<char>('0' + status / 100);
    digits[at++] = static_cast<char>('0' + status / 10 % 10);
    digits[at++] = static_cast<char>('0' + status % 10);
  }
  return digits;
}

constexpr std::array<std::string_view, 17> kGrpcWords = {"200",
                                                         "grpc_cancelled",
                                                         "grpc_unknown",
                                                         "grpc_invalid_argument",
                                                         "grpc_deadline_exceeded",
                                                         "grpc_not_found",
                                                         "grpc_already_exists",
                                                         "grpc_permission_denied",
                                                         "grpc_resource_exhausted",
                                                         "grpc_failed_precondition",
                                                         "grpc_aborted",
                                                         "grpc_out_of_range",
                                                         "grpc_unimplemented",
                                                         "grpc_internal",
                                                         "grpc_unavailable",
                                                         "grpc_data_loss",
                                                         "grpc_unauthenticated"};

bool is_judged_by_grpc(const Outcome& outcome) {
  return outcome.is_grpc && outcome.response && outcome.response->status == 200;
}

// Log records keep views, so the text of a status must outlive the request.
std::string_view status_word(int status) {
  static constexpr auto kDigits = make_status_digits();
  if (status < kLowest || status > kHighest) return "invalid_status";
  return {kDigits.data() + 3 * static_cast<std::size_t>(status - kLowest), 3};
}

}  // namespace

std::optional<std::string_view> find(const Outcome& outcome, http::HeaderId id) {
  if (outcome.response) {
    if (const auto value = outcome.response->fields.find(id)) return value;
  }
  return outcome.trailers ? outcome.trailers->find(id) : std::nullopt;
}

std::optional<int> grpc_status(const Outcome& outcome) {
  const auto text = find(outcome, http::HeaderId::kGrpcStatus);
  const auto number = text ? parse_number(trim(*text)) : std::nullopt;
  if (!number || *number >= kGrpcWords.size()) return std::nullopt;
  return static_cast<int>(*number);
}

bool awaits_grpc_status(const Outcome& outcome) {
  return is_judged_by_grpc(outcome) && !outcome.complete && !grpc_status(outcome);
}

int effective_status(const Outcome& outcome) {
  if (!is_judged_by_grpc(outcome)) return outcome.response->status;
  if (const auto status = grpc_status(outcome)) return http::http_status_for(*status);
  return outcome.complete ? 500 : 200;
}

std::string_view word(const Outcome& outcome) {
  if (is_judged_by_grpc(outcome)) {
    if (const auto status = grpc_status(outcome)) {
      return kGrpcWords[static_cast<std::size_t>(*status)];
    }
    if (outcome.complete) return "grpc_no_status";
  }
  return outcome.response ? status_word(outcome.response->status) : word(outcome.failure);
}

std::string_view word(Failure failure) {
  switch (failure) {
    case Failure::kNone: return "none";
    case Failure::kConnectFailure: return "connect_failure";
    case Failure::kConnectTimeout: return "connect_timeout";
    case Failure::kReset: return "reset";
    case Failure::kRefusedStream: return "refused_stream";
    case Failure::kPerTryTimeout: return "timeout";
    case Failure::kPerTryIdleTimeout: return "idle_timeout";
    case Failure::kProtocolError: return "protocol_error";
    case Failure::kOverflow: return "overflow";
    case Failure::kNoHealthyHost: return "no_healthy_host";
    case Failure::kBreakerOpen: return "breaker_open";
    case Failure::kRouteTimeout: return "route_timeout";
  }
  return "";
}

}  // namespace damper::retry
