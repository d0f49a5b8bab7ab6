// Retry, hedge and budget settings. Each initialiser is the documented default; semantics.md says
// what they mean.
#pragma once
#include "config/model/common.h"

namespace damper::config {

// The conditions of retry_on, one bit each (Envoy's names; `timeout` is ours).
enum class RetryOn : std::uint32_t {
  k5xx = 1u << 0,
  kGatewayError = 1u << 1,
  kReset = 1u << 2,
  kResetBeforeRequest = 1u << 3,
  kConnectFailure = 1u << 4,
  kRefusedStream = 1u << 5,
  kRetriable4xx = 1u << 6,
  kRetriableStatusCodes = 1u << 7,
  kRetriableHeaders = 1u << 8,
  kEnvoyRatelimited = 1u << 9,
  kHttp3PostConnectFailure = 1u << 10,
  kTimeout = 1u << 11,
  kGrpcCancelled = 1u << 12,
  kGrpcDeadlineExceeded = 1u << 13,
  kGrpcInternal = 1u << 14,
  kGrpcResourceExhausted = 1u << 15,
  kGrpcUnavailable = 1u << 16,
};

// A set of conditions.
struct RetryConditions {
  std::uint32_t bits = 0;
  bool has(RetryOn condition) const { return (bits & static_cast<std::uint32_t>(condition)) != 0; }
  void add(RetryOn condition) { bits |= static_cast<std::uint32_t>(condition); }
  void add(RetryConditions other) { bits |= other.bits; }
  bool empty() const { return bits == 0; }
  bool any_grpc() const { return (bits >> 12) != 0; }
  bool operator==(const RetryConditions&) const = default;
};

// Every token of retry_on and x-envoy-retry-on with its condition.
struct RetryOnToken {
  std::string_view token;
  RetryOn condition;
};
const std::vector<RetryOnToken>& retry_on_tokens();
std::optional<RetryOn> parse_retry_on(std::string_view token);

struct BackOff {  // Envoy RetryPolicy.RetryBackOff
  Duration base_interval = 25ms;
  std::optional<Duration> max_interval;  // 10 × base_interval if not given
  Duration cap() const { return max_interval.value_or(base_interval * 10); }
  bool operator==(const BackOff&) const = default;
};

struct ResetHeader {  // Envoy RetryPolicy.ResetHeader
  enum class Format { kSeconds, kUnixTimestamp };
  std::string name;  // lower case
  Format format = Format::kSeconds;
  bool operator==(const ResetHeader&) const = default;
};

// What a server says about when to come back (RFC 9110 §10.2.3); on without any configuration.
struct RetryAfter {
  bool ignore = false;
  Duration max_wait = 30s;
  std::vector<ResetHeader>
      reset_headers;  // of rate_limited_retry_back_off, tried before Retry-After
  bool operator==(const RetryAfter&) const = default;
};

struct RetryPolicy {  // Envoy config.route.v3.RetryPolicy
  RetryConditions retry_on;
  std::uint32_t num_retries = 1;
  Duration per_try_timeout{};       // 0: none
  Duration per_try_idle_timeout{};  // 0: none
  std::vector<int> retriable_status_codes;
  std::vector<HeaderMatch> retriable_headers;          // of the response
  std::vector<HeaderMatch> retriable_request_headers;  // none: every request may be retried
  BackOff back_off;
  RetryAfter retry_after;
  bool previous_hosts = true;  // prefer hosts not yet tried
  // Damper's own.
  bool idempotent = false;                   // every request of the route may be repeated
  std::vector<int> retry_non_idempotent_on;  // status codes after which even a POST is repeated
  bool honours_idempotency_key = false;      // the upstream does not execute a key twice
  bool operator==(const RetryPolicy&) const = default;
};

struct HedgePolicy {
  bool hedge_on_per_try_timeout = false;
  // Damper's own: a second attempt if no head has come by then.
  std::optional<Duration> hedge_after;
  bool hedge_after_p95 = false;  // … of the last 30 s
  bool operator==(const HedgePolicy&) const = default;
};

struct BudgetWindow {
  Duration interval = 10s;
  double ratio_percent = 10;
  std::uint32_t min_retries = 3;
  enum class Credit { kSuccesses, kRequests };
  Credit credit = Credit::kSuccesses;
  std::uint32_t timeout_cost = 3;
  std::uint32_t unprocessed_cost = 0;
  bool operator==(const BudgetWindow&) const = default;
};

struct BudgetThrottle {  // gRPC's token bucket (gRFC A6)
  std::uint32_t max_tokens = 10;
  double token_ratio = 0.1;  // tokens per success, in thousandths
  bool operator==(const BudgetThrottle&) const = default;
};

struct BudgetConcurrency {  // budget_percent and min_retry_concurrency
  double percent = 20;
  std::uint32_t min_retry_concurrency = 3;
  bool operator==(const BudgetConcurrency&) const = default;
};

// All parts that are present must agree (semantics.md §4).
struct RetryBudget {
  bool disabled = false;
  std::optional<BudgetConcurrency> concurrency;
  std::optional<BudgetWindow> window;
  std::optional<std::uint32_t> max_retries_per_second;
  std::optional<BudgetThrottle> throttle;
  enum class Scope { kCluster, kRoute, kOperation };
  Scope scope = Scope::kCluster;  // who has a ratio of its own
  enum class Mode { kEnforce, kShadow };
  Mode mode = Mode::kEnforce;
  std::vector<RetryBudget> candidate;  // at most one: tried out in shadow beside this one

  bool has_parts() const { return concurrency || window || max_retries_per_second || throttle; }
  bool operator==(const RetryBudget&) const = default;

  static RetryBudget standard() {
    return {.concurrency = BudgetConcurrency{}, .window = BudgetWindow{}};
  }
};

}  // namespace damper::config
