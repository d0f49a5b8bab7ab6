// retry_on: which outcomes a policy calls worth a retry (Envoy's conditions, with our exceptions).
#pragma once
#include "config/model/retry.h"
#include "filters/retry/outcome.h"

namespace damper::retry {

// What the policies know of a request. It does not change from attempt to attempt.
struct RequestTraits {
  bool headers_allow = true;  // false: retriable_request_headers is given and nothing matches
  bool early_data = false;    // came as TLS early data (RFC 8470)
  bool repeatable = false;    // may be repeated after bytes were sent: see idempotency.h
  bool owned_above = false;   // an outer layer has asked to be the one that retries: see marks.h
};

// Does retry_on match? Whether the retry is also safe and affordable is not asked here.
bool matches(const config::RetryPolicy& policy, const Outcome& outcome,
             const RequestTraits& request);

// A reused connection that died before any byte of the response: the upstream closed it while we
// wrote. For repeatable requests it counts as a failure to connect.
bool covers_keep_alive_race(const config::RetryPolicy& policy, const Outcome& outcome,
                            const RequestTraits& request);

// x-envoy-ratelimited forbids every retry, unless retry_on has envoy-ratelimited.
bool vetoed_by_ratelimit(const config::RetryPolicy& policy, const Outcome& outcome);

// A failure whatever the policy says: no response, 5xx or 429, or a gRPC status that stands for it.
bool is_failure(const Outcome& outcome);

// What a first attempt must come to, to be a success that feeds the retry budget. A gRPC status
// that has a condition is none, whether or not the policy has it; nor is a word to stop.
// `policy` is null where nothing is retried.
bool is_success(const config::RetryPolicy* policy, const Outcome& outcome);

}  // namespace damper::retry
