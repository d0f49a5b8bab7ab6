#include "filters/router/failure_reply.h"

#include <algorithm>

#include "filters/retry/marks.h"
#include "filters/retry/retry_after.h"
#include "http/grpc_timeout.h"

namespace damper::router {
namespace {

using retry::Failure;
using stream::Flag;

std::string without_spaces(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), ' ', '_');
  return out;
}

}  // namespace

FailureReply failure_reply(const AttemptFailure& failure) {
  switch (failure.failure) {
    case Failure::kNone: break;
    case Failure::kConnectFailure:
      return {503, Flag::kUpstreamFailure, "remote connection failure"};
    case Failure::kConnectTimeout: return {503, Flag::kUpstreamFailure, "connection timeout"};
    case Failure::kReset:
      if (failure.stream_only) return {503, Flag::kUpstreamReset, "remote reset"};
      return {503, Flag::kUpstreamTermination, "connection termination"};
    case Failure::kRefusedStream: return {503, Flag::kUpstreamReset, "remote refused stream reset"};
    case Failure::kPerTryTimeout: return {504, Flag::kUpstreamTimeout, "upstream_per_try_timeout"};
    case Failure::kPerTryIdleTimeout:
      return {504, Flag::kUpstreamTimeout, "upstream_per_try_idle_timeout"};
    case Failure::kProtocolError: return {502, Flag::kUpstreamProtocol, "protocol error"};
    case Failure::kOverflow: return {503, Flag::kUpstreamOverflow, "overflow"};
    case Failure::kNoHealthyHost: return {503, Flag::kNoHealthyHost, "no_healthy_upstream"};
    case Failure::kBreakerOpen: return {503, Flag::kUpstreamOverflow, "circuit_breaker_open"};
    case Failure::kRouteTimeout: return {504, Flag::kUpstreamTimeout, "response_timeout"};
  }
  return {500, Flag::kLocalReset, "internal error"};
}

std::string failure_details(const AttemptFailure& failure, bool response_started) {
  const FailureReply shape = failure_reply(failure);
  const bool never_started =
      failure.failure == Failure::kNoHealthyHost || failure.failure == Failure::kBreakerOpen;
  if (shape.status == 504 || never_started) {
    return std::string(shape.reason);
  }
  std::string out = response_started ? "upstream_reset_after_response_started{"
                                     : "upstream_reset_before_response_started{";
  out += without_spaces(shape.reason);
  const bool says_more = failure.failure == Failure::kConnectFailure ||
                         failure.failure == Failure::kProtocolError ||
                         failure.detail.starts_with("TLS_error:");
  if (says_more && !failure.detail.empty()) out += "|" + without_spaces(failure.detail);
  return out + "}";
}

std::string_view transport_failure_in(std::string_view details, retry::Failure failure) {
  const std::size_t bar = details.find('|');
  if (bar == std::string_view::npos || failure == Failure::kProtocolError) return {};
  return details.substr(bar + 1, details.size() - bar - 2);
}

std::string failure_body(const AttemptFailure& failure, bool retried) {
  const FailureReply shape = failure_reply(failure);
  if (shape.status == 504) return "upstream request timeout";
  if (failure.failure == Failure::kNoHealthyHost) return "no healthy upstream";
  if (failure.failure == Failure::kBreakerOpen) return "circuit breaker open: too much fails";
  std::string out = "upstream connect error or disconnect/reset before headers. ";
  if (retried) out += "retried and the latest ";
  return out.append("reset reason: ").append(shape.reason);
}

bool is_end_of_deadline(const AttemptFailure& failure, Duration left) {
  if (failure.failure != Failure::kReset && failure.failure != Failure::kRefusedStream)
    return false;
  return left <= Duration::zero() || (failure.cancelled && left < http::kGrpcTimeoutStep);
}

void append_failure_headers(stream::Reply& reply, const AttemptFailure& failure,
                            bool suppress_envoy_headers) {
  const bool overloaded =
      failure.failure == Failure::kOverflow || failure.failure == Failure::kBreakerOpen;
  if (overloaded && !suppress_envoy_headers) {
    reply.headers.emplace_back(http::HeaderId::kXEnvoyOverloaded, "true");
  }
  if (failure.retry_after > Duration::zero()) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(failure.retry_after);
    reply.headers.emplace_back(http::HeaderId::kRetryAfter, std::to_string(seconds.count()));
  }
}

AttemptFailure breaker_refusal(const upstream::Cluster& cluster, TimePoint now) {
  const Duration wait = cluster.state().failure_breaker.wait(now);
  return {.failure = Failure::kBreakerOpen,
          .detail = {},
          .retry_after = std::max<Duration>(wait, std::chrono::seconds(1))};
}

upstream::Evidence evidence_of(const retry::Outcome& outcome, Duration patience) {
  using upstream::Evidence;
  if (!outcome.response) return Evidence::kLocalOrigin;
  const int status = retry::effective_status(outcome);
  const bool spared = patience > Duration::zero() && may_ask_for_patience(outcome);
  if (spared || retry::forbids_retry(outcome)) return Evidence::kNone;
  if (status >= 502 && status <= 504) return Evidence::kGateway;
  return status >= 500 ? Evidence::kError : Evidence::kGood;
}

bool may_ask_for_patience(const retry::Outcome& outcome) {
  if (!outcome.response) return false;
  const int status = retry::effective_status(outcome);
  return status == 503 || status == 429;
}

Duration host_patience(const retry::Outcome& outcome, const config::RetryPolicy* policy,
                       WallTime now) {
  if (!may_ask_for_patience(outcome)) return {};
  const config::RetryAfter rules = policy ? policy->retry_after : config::RetryAfter{};
  return std::min(retry::read_server_wait(rules, outcome, now).wait, rules.max_wait);
}

}  // namespace damper::router
