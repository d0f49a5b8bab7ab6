#include "filters/retry/idempotency.h"

#include <algorithm>

namespace damper::retry {
namespace {

bool is_surely_unprocessed(const Outcome& outcome) {
  switch (outcome.failure) {
    case Failure::kConnectFailure:
    case Failure::kConnectTimeout:
    case Failure::kRefusedStream: return true;
    default: return !outcome.response && !outcome.request_on_wire;
  }
}

}  // namespace

bool is_idempotent_method(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE" ||
         method == "PUT" || method == "DELETE";
}

bool is_repeatable(std::string_view method, KeyOrigin key, const config::RetryPolicy& policy,
                   bool cluster_honours_key) {
  if (policy.idempotent || is_idempotent_method(method)) return true;
  switch (key) {
    case KeyOrigin::kNone: return false;
    case KeyOrigin::kClient: return true;
    case KeyOrigin::kMadeHere: return policy.honours_idempotency_key || cluster_honours_key;
  }
  return false;
}

bool may_repeat_after(const Outcome& outcome, bool repeatable, const config::RetryPolicy& policy) {
  if (repeatable || is_surely_unprocessed(outcome)) return true;
  if (!outcome.response) return false;
  const auto& statuses = policy.retry_non_idempotent_on;
  return std::find(statuses.begin(), statuses.end(), effective_status(outcome)) != statuses.end();
}

}  // namespace damper::retry
