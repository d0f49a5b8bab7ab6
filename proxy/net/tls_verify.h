// Whether a peer's certificate is accepted: its chain, its names, its digests. Envoy's
// CertificateValidationContext.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/model/tls.h"
#include "net/tls_facts.h"
#include "net/tls_openssl.h"
#include "net/tls_tools.h"

namespace damper::net {

// The judgement of one connection's peer.
struct PeerCheck {
  std::string name;  // of the server that was asked for; empty: none in particular
  bool name_must_match = false;
  std::string why;  // it was refused
  TlsCounts::Count failure = TlsCounts::kConnectionError;
};

class TlsVerifier {
 public:
  static Result<TlsVerifier> create(const config::TlsValidation& rules, const TlsTools& tools);

  bool empty() const { return rules_.empty(); }
  // As SSL_CTX_set_cert_verify_callback has it; the connection's PeerCheck is its app data. `self`
  // may be empty: then whoever comes is accepted.
  static int on_verify(X509_STORE_CTX* chain, void* self);

 private:
  struct Name {
    config::SanMatch rule;
    TextMatch matches;
  };

  bool verify(X509_STORE_CTX* chain, PeerCheck& check) const;
  bool verify_names(const X509* certificate, PeerCheck& check) const;
  bool verify_digests(const X509* certificate) const;
  static bool matches(const Name& name, const X509* certificate);

  config::TlsValidation rules_;
  std::vector<Name> names_;
};

// Is the certificate for this name or IP address? Its common name does not count.
bool is_for(const X509* certificate, const std::string& name);

std::string sha256_hex(const X509* certificate);
std::string spki_sha256_base64(const X509* certificate);

}  // namespace damper::net
