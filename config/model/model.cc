#include "config/model/common.h"
#include "config/model/retry.h"
#include "config/model/tls.h"

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

TlsValidation combine(TlsValidation over, const TlsValidation& defaults) {
  if (!over.has_roots()) {
    over.trusted_ca = defaults.trusted_ca;
    over.system_roots = defaults.system_roots;
  }
  if (over.names.empty()) over.names = defaults.names;
  if (over.certificate_sha256.empty()) over.certificate_sha256 = defaults.certificate_sha256;
  if (over.spki_sha256.empty()) over.spki_sha256 = defaults.spki_sha256;
  if (!over.max_depth) over.max_depth = defaults.max_depth;
  over.allow_expired = over.allow_expired || defaults.allow_expired;
  return over;
}

}  // namespace damper::config
