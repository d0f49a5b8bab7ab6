// TLS on either side. Envoy extensions.transport_sockets.tls.v3, of which the short forms are a
// part.
#pragma once
#include "config/model/common.h"

namespace damper::config {

// PEM from a file, which is watched, or as it stands in the configuration.
struct PemSource {
  std::string file;
  std::string text;

  bool empty() const { return file.empty() && text.empty(); }
  std::string name() const { return file.empty() ? "the inline text" : "\"" + file + "\""; }
  bool operator==(const PemSource&) const = default;
};

// A secret that stands in a file of its own (Envoy's path_config_source).
struct SecretFile {
  std::string file;
  std::string name;
  bool operator==(const SecretFile&) const = default;
};

struct TlsCertificate {
  PemSource chain;  // the certificate first, then what leads to the root
  PemSource key;
  std::optional<SecretFile> secret;  // where the two above are written
  bool operator==(const TlsCertificate&) const = default;
};

// One of the names for which a peer's certificate is accepted.
struct SanMatch {
  enum class Type { kAny, kDns, kUri, kEmail, kIpAddress };
  Type type = Type::kAny;
  StringMatch name;
  bool operator==(const SanMatch&) const = default;
};

// How a peer's certificate is judged. Empty: it is not.
struct TlsValidation {
  std::optional<PemSource> trusted_ca;
  bool system_roots = false;
  std::vector<SanMatch> names;                  // one of them must match; none: any
  std::vector<std::string> certificate_sha256;  // lower-case hexadecimal, one of them
  std::vector<std::string> spki_sha256;         // base64, one of them
  bool allow_expired = false;
  std::optional<std::uint32_t> max_depth;
  std::optional<SecretFile> secret;

  bool has_roots() const { return trusted_ca || system_roots; }
  bool empty() const {
    return !has_roots() && names.empty() && certificate_sha256.empty() && spki_sha256.empty();
  }
  bool operator==(const TlsValidation&) const = default;
};

// A secret laid over what holds by default (Envoy's combined_validation_context).
TlsValidation combine(TlsValidation over, const TlsValidation& defaults);

enum class TlsVersion { kAuto, kTls12, kTls13 };

// Envoy CommonTlsContext.
struct TlsSettings {
  std::vector<TlsCertificate> certificates;
  TlsValidation validation;
  std::optional<TlsValidation> validation_defaults;  // which a secret is laid over
  std::vector<std::string> alpn;                     // in order of preference
  TlsVersion min_version = TlsVersion::kAuto;
  TlsVersion max_version = TlsVersion::kAuto;
  std::vector<std::string> ciphers;  // of TLS 1.2; empty: OpenSSL's
  std::vector<std::string> curves;   // empty: OpenSSL's
  bool operator==(const TlsSettings&) const = default;
};

struct DownstreamTls {  // Envoy DownstreamTlsContext
  TlsSettings common;
  bool require_client_certificate = false;
  bool tickets = true;        // not disable_stateless_session_resumption
  bool session_cache = true;  // not disable_stateful_session_resumption
  bool prefer_client_ciphers = false;
  std::optional<Duration> session_timeout;
  // Envoy's transport_socket_connect_timeout, which has no default there. Ours is that of Envoy's
  // listener filters: for as long the TLS inspector would have waited.
  Duration handshake_timeout = 15s;
  bool operator==(const DownstreamTls&) const = default;
};

struct UpstreamTls {  // Envoy UpstreamTlsContext
  TlsSettings common;
  std::string sni;
  bool sni_from_endpoint = false;  // auto_host_sni: the endpoint's hostname
  bool sni_from_request = false;   // auto_sni: the request's host
  bool verify_server_name =
      false;  // auto_san_validation: the certificate is for the name asked for
  std::size_t max_session_keys = 1;  // sessions kept for each name; 0: none
  bool operator==(const UpstreamTls&) const = default;
};

}  // namespace damper::config
