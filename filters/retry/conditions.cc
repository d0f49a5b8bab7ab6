#include "filters/retry/conditions.h"

#include <algorithm>

#include "filters/retry/retry_after.h"

namespace damper::retry {
namespace {

using config::RetryConditions;
using config::RetryOn;

bool any_of(const RetryConditions& retry_on, std::initializer_list<RetryOn> conditions) {
  return std::any_of(conditions.begin(), conditions.end(),
                     [&](RetryOn condition) { return retry_on.has(condition); });
}

bool nothing_sent_matches(const RetryConditions& retry_on, const Outcome& outcome) {
  return !outcome.any_attempt_on_wire && retry_on.has(RetryOn::kResetBeforeRequest);
}

bool failure_matches(const RetryConditions& retry_on, const Outcome& outcome) {
  const bool any_reset = any_of(retry_on, {RetryOn::k5xx, RetryOn::kGatewayError, RetryOn::kReset});
  switch (outcome.failure) {
    case Failure::kConnectFailure:
    case Failure::kConnectTimeout:
      return any_reset || retry_on.has(RetryOn::kConnectFailure) ||
             nothing_sent_matches(retry_on, outcome);
    case Failure::kReset:
    case Failure::kProtocolError: return any_reset || nothing_sent_matches(retry_on, outcome);
    case Failure::kRefusedStream:
      return any_reset || retry_on.has(RetryOn::kRefusedStream) ||
             nothing_sent_matches(retry_on, outcome);
    case Failure::kPerTryTimeout:
    case Failure::kPerTryIdleTimeout: return any_reset || retry_on.has(RetryOn::kTimeout);
    case Failure::kNone:
    case Failure::kOverflow:
    case Failure::kNoHealthyHost:
    case Failure::kBreakerOpen:
    case Failure::kRouteTimeout: return false;
  }
  return false;
}

bool is_listed(const std::vector<int>& statuses, int status) {
  return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

bool status_matches(const config::RetryPolicy& policy, int status) {
  const RetryConditions& on = policy.retry_on;
  if (on.has(RetryOn::k5xx) && status >= 500 && status <= 599) return true;
  if (on.has(RetryOn::kGatewayError) && status >= 502 && status <= 504) return true;
  if (on.has(RetryOn::kRetriable4xx) && status == 409) return true;
  return on.has(RetryOn::kRetriableStatusCodes) && is_listed(policy.retriable_status_codes, status);
}

// The condition that names the gRPC status, where there is one.
std::optional<RetryOn> grpc_condition(const Outcome& outcome) {
  switch (grpc_status(outcome).value_or(0)) {
    case 1: return RetryOn::kGrpcCancelled;
    case 4: return RetryOn::kGrpcDeadlineExceeded;
    case 8: return RetryOn::kGrpcResourceExhausted;
    case 13: return RetryOn::kGrpcInternal;
    case 14: return RetryOn::kGrpcUnavailable;
    default: return std::nullopt;
  }
}

// Not conditioned on the request being gRPC: as in Envoy.
bool grpc_status_matches(const RetryConditions& retry_on, const Outcome& outcome) {
  if (!retry_on.any_grpc()) return false;
  const auto condition = grpc_condition(outcome);
  return condition && retry_on.has(*condition);
}

bool is_ratelimited(const Outcome& outcome) {
  return find(outcome, http::HeaderId::kXEnvoyRatelimited).has_value();
}

bool response_matches(const config::RetryPolicy& policy, const Outcome& outcome) {
  return status_matches(policy, outcome.response->status) ||
         (policy.retry_on.has(RetryOn::kRetriableHeaders) && outcome.header_matched) ||
         (policy.retry_on.has(RetryOn::kEnvoyRatelimited) && is_ratelimited(outcome)) ||
         grpc_status_matches(policy.retry_on, outcome);
}

}  // namespace

bool matches(const config::RetryPolicy& policy, const Outcome& outcome,
             const RequestTraits& request) {
  if (!request.headers_allow) return false;
  if (!outcome.response) {
    return failure_matches(policy.retry_on, outcome) ||
           covers_keep_alive_race(policy, outcome, request);
  }
  // RFC 8470 §5.2: a request that came as early data is the client's to send again.
  if (outcome.response->status == 425 && request.early_data) return false;
  return response_matches(policy, outcome);
}

bool covers_keep_alive_race(const config::RetryPolicy& policy, const Outcome& outcome,
                            const RequestTraits& request) {
  return outcome.failure == Failure::kReset && outcome.keep_alive_race && request.repeatable &&
         any_of(policy.retry_on, {RetryOn::kResetBeforeRequest, RetryOn::kConnectFailure});
}

bool vetoed_by_ratelimit(const config::RetryPolicy& policy, const Outcome& outcome) {
  return is_ratelimited(outcome) && !policy.retry_on.has(RetryOn::kEnvoyRatelimited);
}

bool is_failure(const Outcome& outcome) {
  if (!outcome.response) return true;
  const int status = effective_status(outcome);
  return status >= 500 || status == 429;
}

bool is_success(const config::RetryPolicy* policy, const Outcome& outcome) {
  if (!outcome.response || effective_status(outcome) >= 500) return false;
  if (outcome.is_grpc && (grpc_condition(outcome) || says_stop(outcome))) return false;
  return !policy || !response_matches(*policy, outcome);
}

}  // namespace damper::retry
