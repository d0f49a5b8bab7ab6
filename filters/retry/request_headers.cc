#include "filters/retry/request_headers.h"

#include <algorithm>

#include "base/text.h"

namespace damper::retry {
namespace {

using http::HeaderId;

void add_conditions(const http::Fields& request, HeaderId id, config::RetryConditions& into) {
  for (const auto token : split(request.find(id).value_or(""), ',')) {
    if (const auto condition = config::parse_retry_on(token)) into.add(*condition);
  }
}

std::optional<std::uint32_t> read_count(const http::Fields& request, HeaderId id) {
  const auto text = request.find(id);
  const auto number = text ? parse_number(trim(*text)) : std::nullopt;
  if (!number || *number > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

// 0 would lengthen ("no timeout"), so it says nothing here.
std::optional<Duration> read_timeout(const http::Fields& request, HeaderId id) {
  const auto count = read_count(request, id);
  if (!count || *count == 0) return std::nullopt;
  return std::chrono::milliseconds(*count);
}

std::vector<int> read_status_codes(const http::Fields& request) {
  std::vector<int> codes;
  const auto list = request.find(HeaderId::kXEnvoyRetriableStatusCodes).value_or("");
  for (const auto text : split(list, ',')) {
    const auto code = parse_number(text);
    if (code && *code >= 100 && *code <= 999) codes.push_back(static_cast<int>(*code));
  }
  return codes;
}

std::vector<std::string> read_header_names(const http::Fields& request) {
  std::vector<std::string> names;
  const auto list = request.find(HeaderId::kXEnvoyRetriableHeaderNames).value_or("");
  for (const auto name : split(list, ',')) names.push_back(lower(name));
  return names;
}

std::optional<bool> read_bool(const http::Fields& request, HeaderId id) {
  const auto text = trim(request.find(id).value_or(""));
  if (equals_ignoring_case(text, "true")) return true;
  if (equals_ignoring_case(text, "false")) return false;
  return std::nullopt;
}

bool steers(const http::Field& field) {
  switch (field.id) {
    case HeaderId::kXEnvoyRetryOn:
    case HeaderId::kXEnvoyRetryGrpcOn:
    case HeaderId::kXEnvoyMaxRetries:
    case HeaderId::kXEnvoyRetriableStatusCodes:
    case HeaderId::kXEnvoyRetriableHeaderNames:
    case HeaderId::kXEnvoyUpstreamRqTimeoutMs:
    case HeaderId::kXEnvoyUpstreamRqPerTryTimeoutMs:
    case HeaderId::kXEnvoyHedgeOnPerTryTimeout:
    case HeaderId::kXEnvoyUpstreamRqTimeoutAltResponse: return true;
    case HeaderId::kOther:  // Envoy takes these two off as well; we give them no meaning
      return field.name == "x-envoy-upstream-alt-stat-name" ||
             field.name == "x-envoy-upstream-stream-duration-ms";
    default: return false;
  }
}

}  // namespace

RequestOverrides read_overrides(const http::Fields& request) {
  RequestOverrides out;
  add_conditions(request, HeaderId::kXEnvoyRetryOn, out.retry_on);
  add_conditions(request, HeaderId::kXEnvoyRetryGrpcOn, out.retry_on);
  out.max_retries = read_count(request, HeaderId::kXEnvoyMaxRetries);
  out.status_codes = read_status_codes(request);
  out.header_names = read_header_names(request);
  out.timeout = read_timeout(request, HeaderId::kXEnvoyUpstreamRqTimeoutMs);
  out.per_try_timeout = read_timeout(request, HeaderId::kXEnvoyUpstreamRqPerTryTimeoutMs);
  out.hedge_on_per_try_timeout = read_bool(request, HeaderId::kXEnvoyHedgeOnPerTryTimeout);
  return out;
}

void strip_overrides(http::Fields& request) { request.remove_if(steers); }

bool changes_policy(const RequestOverrides& overrides) {
  return !overrides.retry_on.empty() || overrides.max_retries || overrides.per_try_timeout ||
         !overrides.status_codes.empty() || !overrides.header_names.empty();
}

config::RetryPolicy apply(const RequestOverrides& overrides, config::RetryPolicy policy) {
  policy.retry_on.add(overrides.retry_on);
  policy.num_retries = overrides.max_retries.value_or(policy.num_retries);
  policy.per_try_timeout = tighten(policy.per_try_timeout, overrides.per_try_timeout);
  auto& codes = policy.retriable_status_codes;
  codes.insert(codes.end(), overrides.status_codes.begin(), overrides.status_codes.end());
  for (const std::string& name : overrides.header_names) {
    policy.retriable_headers.push_back({.name = name});  // it is enough that it is there
  }
  return policy;
}

Duration tighten(Duration own, std::optional<Duration> told) {
  if (!told) return own;
  return own == Duration::zero() ? *told : std::min(own, *told);
}

}  // namespace damper::retry
