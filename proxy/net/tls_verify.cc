#include "net/tls_verify.h"

#include <algorithm>

#include "base/text.h"
#include "net/address.h"
#include "net/tls_digest.h"

namespace damper::net {
namespace {

using Type = config::SanMatch::Type;

struct Kind {
  Type type;
  int general_name;
};
constexpr Kind kKinds[] = {{Type::kDns, GEN_DNS},
                           {Type::kUri, GEN_URI},
                           {Type::kEmail, GEN_EMAIL},
                           {Type::kIpAddress, GEN_IPADD}};

// `*.example.com` stands for one label, as in Envoy.
bool covers(std::string_view pattern, std::string_view name) {
  if (equals_ignoring_case(pattern, name)) return true;
  if (!pattern.starts_with("*.")) return false;
  const std::size_t dot = name.find('.');
  return dot != std::string_view::npos && dot > 0 &&
         equals_ignoring_case(pattern.substr(1), name.substr(dot));
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool refuse(PeerCheck& check, TlsCounts::Count failure, std::string why) {
  check.failure = failure;
  check.why = std::move(why);
  return false;
}

}  // namespace

Result<TlsVerifier> TlsVerifier::create(const config::TlsValidation& rules, const TlsTools& tools) {
  TlsVerifier out;
  out.rules_ = rules;
  for (const config::SanMatch& rule : rules.names) {
    TRY_ASSIGN(auto matches, tools.text_match(rule.name));
    out.names_.push_back({rule, std::move(matches)});
  }
  return out;
}

int TlsVerifier::on_verify(X509_STORE_CTX* chain, void* self) {
  const auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto& check = *static_cast<PeerCheck*>(SSL_get_app_data(ssl));
  const auto& verifier = *static_cast<const TlsVerifier*>(self);
  const bool asked = !verifier.empty() || check.name_must_match;
  const bool good = !asked || verifier.verify(chain, check);
  forget_errors();  // of the parts; what they come to is said in `check`
  if (good) {
    X509_STORE_CTX_set_error(chain, X509_V_OK);
  } else if (X509_STORE_CTX_get_error(chain) == X509_V_OK) {
    X509_STORE_CTX_set_error(chain, X509_V_ERR_CERT_REJECTED);
  }
  return good ? 1 : 0;
}

bool TlsVerifier::verify(X509_STORE_CTX* chain, PeerCheck& check) const {
  const X509* certificate = X509_STORE_CTX_get0_cert(chain);
  if (rules_.has_roots() && X509_verify_cert(chain) != 1) {
    const int error = X509_STORE_CTX_get_error(chain);
    return refuse(check, TlsCounts::kFailVerifyError,
                  "verify cert failed: " + std::string(X509_verify_cert_error_string(error)));
  }
  if (!verify_digests(certificate)) {
    return refuse(check, TlsCounts::kFailVerifyCertHash, "verify cert failed: cert hash and spki");
  }
  return verify_names(certificate, check);
}

bool TlsVerifier::verify_digests(const X509* certificate) const {
  if (rules_.certificate_sha256.empty() && rules_.spki_sha256.empty()) return true;
  return contains(rules_.certificate_sha256, sha256_hex(certificate)) ||
         contains(rules_.spki_sha256, spki_sha256_base64(certificate));
}

bool TlsVerifier::verify_names(const X509* certificate, PeerCheck& check) const {
  if (check.name_must_match && !is_for(certificate, check.name)) {
    return refuse(check, TlsCounts::kFailVerifySan,
                  "verify cert failed: it is not for " + check.name);
  }
  const auto any = [&](const Name& name) { return matches(name, certificate); };
  if (names_.empty() || std::any_of(names_.begin(), names_.end(), any)) return true;
  return refuse(check, TlsCounts::kFailVerifySan, "verify cert failed: verify SAN list");
}

bool TlsVerifier::matches(const Name& name, const X509* certificate) {
  for (const Kind& kind : kKinds) {
    if (name.rule.type != Type::kAny && name.rule.type != kind.type) continue;
    const bool exact_dns =
        kind.type == Type::kDns && name.rule.name.kind == config::StringMatch::Kind::kExact;
    for (const std::string& san : subject_alt_names(certificate, kind.general_name)) {
      if (exact_dns ? covers(san, name.rule.name.text) : name.matches(san)) return true;
    }
  }
  return false;
}

bool is_for(const X509* certificate, const std::string& name) {
  // OpenSSL does not change it.
  auto* any = const_cast<X509*>(certificate);
  if (Address::from_ip(name, 0)) return X509_check_ip_asc(any, name.c_str(), 0) == 1;
  constexpr unsigned kFlags =
      X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS;
  return X509_check_host(any, name.data(), name.size(), kFlags, nullptr) == 1;
}

std::string sha256_hex(const X509* certificate) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  X509_digest(certificate, EVP_sha256(), digest, &length);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (unsigned i = 0; i < length; ++i) {
    out += kDigits[digest[i] >> 4];
    out += kDigits[digest[i] & 15];
  }
  return out;
}

std::string spki_sha256_base64(const X509* certificate) {
  unsigned char* der = nullptr;
  const int der_bytes = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);
  std::string out =
      sha256_base64({reinterpret_cast<const char*>(der), static_cast<std::size_t>(der_bytes)});
  OPENSSL_free(der);
  return out;
}

}  // namespace damper::net
