// x-envoy-* request headers by which a trusted caller steers timeouts and retries of its request.
#pragma once
#include <string>
#include <vector>

#include "config/model/retry.h"
#include "http/fields.h"

namespace damper::retry {

struct RequestOverrides {
  config::RetryConditions retry_on;  // of x-envoy-retry-on and x-envoy-retry-grpc-on
  std::optional<std::uint32_t> max_retries;
  std::vector<int> status_codes;
  std::vector<std::string> header_names;  // lower case
  std::optional<Duration> timeout;        // of all attempts
  std::optional<Duration> per_try_timeout;
  std::optional<bool> hedge_on_per_try_timeout;
};

// Unreadable values and unknown conditions are passed over. Only for callers that are trusted.
RequestOverrides read_overrides(const http::Fields& request);

// Removes every steering header; no upstream sees one, and an untrusted caller's are not read.
void strip_overrides(http::Fields& request);

// Conditions, codes and names are added, the number of retries is replaced, time only gets shorter.
bool changes_policy(const RequestOverrides& overrides);
config::RetryPolicy apply(const RequestOverrides& overrides, config::RetryPolicy policy);

// The shorter of the two; 0 is "none" in `own`. For the route timeout.
Duration tighten(Duration own, std::optional<Duration> told);

}  // namespace damper::retry
