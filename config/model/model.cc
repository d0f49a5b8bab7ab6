#include "config/model/common.h"
#include "config/model/retry.h"

namespace damper::config {

std::string Endpoint::to_string() const {
  if (is_unix()) return "unix:" + unix_path;
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

const std::vector<RetryOnToken>& retry_on_tokens() {
  static const std::vector<RetryOnToken> tokens = {
      {"5xx", RetryOn::k5xx},
      {"gateway-error", RetryOn::kGatewayError},
      {"reset", RetryOn::kReset},
      {"reset-before-request", RetryOn::kResetBeforeRequest},
      {"connect-failure", RetryOn::kConnectFailure},
      {"refused-stream", RetryOn::kRefusedStream},
      {"retriable-4xx", RetryOn::kRetriable4xx},
      {"retriable-status-codes", RetryOn::kRetriableStatusCodes},
      {"retriable-headers", RetryOn::kRetriableHeaders},
      {"envoy-ratelimited", RetryOn::kEnvoyRatelimited},
      {"http3-post-connect-failure", RetryOn::kHttp3PostConnectFailure},
      {"timeout", RetryOn::kTimeout},
      {"cancelled", RetryOn::kGrpcCancelled},
      {"deadline-exceeded", RetryOn::kGrpcDeadlineExceeded},
      {"internal", RetryOn::kGrpcInternal},
      {"resource-exhausted", RetryOn::kGrpcResourceExhausted},
      {"unavailable", RetryOn::kGrpcUnavailable},
  };
  return tokens;
}

std::optional<RetryOn> parse_retry_on(std::string_view token) {
  for (const RetryOnToken& t : retry_on_tokens()) {
    if (t.token == token) return t.condition;
  }
  return std::nullopt;
}

}  // namespace damper::config
