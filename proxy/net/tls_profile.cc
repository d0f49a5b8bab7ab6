#include "net/tls_profile.h"

#include <algorithm>

#include "base/text.h"

namespace damper::net {
namespace {

// With a fresh key for each connection and authenticated encryption: what Envoy has by default.
constexpr const char* kCiphers12 =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
// OpenSSL would prefer AES-256, which costs more and protects nobody better.
constexpr const char* kCiphers13 =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr std::string_view kSessionDomain = "damper";

Error bad(std::string what) { return {Errc::kInvalid, Side::kLocal, std::move(what)}; }

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ":") + word;
  return out;
}

std::string alpn_wire(const std::vector<std::string>& protocols) {
  std::string out;
  for (const std::string& protocol : protocols) {
    out += static_cast<char>(protocol.size());
    out += protocol;
  }
  return out;
}

const unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

int version_number(config::TlsVersion version, int otherwise) {
  switch (version) {
    case config::TlsVersion::kAuto: return otherwise;
    case config::TlsVersion::kTls12: return TLS1_2_VERSION;
    case config::TlsVersion::kTls13: return TLS1_3_VERSION;
  }
  return otherwise;
}

SslCtxPtr new_context(TlsProfile::Role role) {
  SslCtxPtr out(
      SSL_CTX_new(role == TlsProfile::Role::kServer ? TLS_server_method() : TLS_client_method()));
  SSL_CTX_set_mode(out.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(out.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_read_ahead(out.get(), 1);  // a record's header and its body in one system call
  return out;
}

// OpenSSL only says whether a part of a list was known.
SslCtxPtr scratch_context() { return SslCtxPtr(SSL_CTX_new(TLS_method())); }

}  // namespace

std::optional<std::string> check_cipher(const std::string& name) {
  const SslCtxPtr context = scratch_context();
  const bool one_name = name.find_first_of(":!+@, ") == std::string::npos && !name.starts_with('-');
  const bool known = one_name && SSL_CTX_set_cipher_list(context.get(), name.c_str()) == 1;
  forget_errors();
  if (known) return std::nullopt;
  return "unknown cipher suite \"" + name + "\"";
}

std::optional<std::string> check_curve(const std::string& name) {
  const SslCtxPtr context = scratch_context();
  const bool one_name = name.find(':') == std::string::npos;
  const bool known = one_name && SSL_CTX_set1_groups_list(context.get(), name.c_str()) == 1;
  forget_errors();
  if (known) return std::nullopt;
  return "unknown curve \"" + name + "\"";
}

TlsProfile::TlsProfile(Role role, Identity identity)
    : role_(role), identity_(std::move(identity)) {}
TlsProfile::~TlsProfile() = default;

Result<std::shared_ptr<const TlsProfile>> TlsProfile::server(const config::DownstreamTls& settings,
                                                             const TlsTools& tools,
                                                             Identity identity) {
  std::shared_ptr<TlsProfile> out(new TlsProfile(Role::kServer, std::move(identity)));
  out->handshake_timeout_ = settings.handshake_timeout;
  TRY(out->compile(settings.common, tools));
  const int ask = out->verifier_.empty() && !settings.require_client_certificate ? SSL_VERIFY_NONE
                                                                                 : SSL_VERIFY_PEER;
  const int insist = settings.require_client_certificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
  for (const SslCtxPtr& context : out->contexts_) {
    SSL_CTX_set_verify(context.get(), ask | insist, nullptr);
    out->set_server_options(context.get(), settings);
  }
  SSL_CTX_set_tlsext_servername_callback(out->contexts_.front().get(), &on_server_name);
  SSL_CTX_set_tlsext_servername_arg(out->contexts_.front().get(), out.get());
  return std::shared_ptr<const TlsProfile>(std::move(out));
}

Result<std::shared_ptr<const TlsProfile>> TlsProfile::client(const config::UpstreamTls& settings,
                                                             const TlsTools& tools,
                                                             Identity identity) {
  std::shared_ptr<TlsProfile> out(new TlsProfile(Role::kClient, std::move(identity)));
  out->sessions_ = std::make_unique<SessionStore>(settings.max_session_keys);
  TRY(out->compile(settings.common, tools));
  SSL_CTX* context = out->contexts_.front().get();
  const bool ask = !out->verifier_.empty() || settings.verify_server_name;
  SSL_CTX_set_verify(context, ask ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  out->set_client_options(context);
  return std::shared_ptr<const TlsProfile>(std::move(out));
}

Status TlsProfile::compile(const config::TlsSettings& settings, const TlsTools& tools) {
  alpn_ = alpn_wire(settings.alpn);
  for (const config::TlsCertificate& source : settings.certificates) TRY(add_certificate(source));
  if (contexts_.empty()) contexts_.push_back(new_context(role_));
  for (const SslCtxPtr& context : contexts_) TRY(set_parameters(context.get(), settings));
  return set_verification(settings, tools);
}

Status TlsProfile::add_certificate(const config::TlsCertificate& source) {
  TRY_ASSIGN(Credentials credentials, load_credentials(source));
  SSL_CTX* context = context_for(credentials);
  constexpr int kReplace = 1;
  if (SSL_CTX_use_cert_and_key(context, credentials.certificate.get(), credentials.key.get(),
                               credentials.chain.get(), kReplace) != 1) {
    return bad("certificate " + source.chain.name() + " cannot be used: " + take_openssl_reason());
  }
  certificates_.push_back(std::move(credentials.facts));
  return Ok{};
}

// A client has one context. A server has one for each set of names: an RSA and an ECDSA certificate
// for the same names share it, and OpenSSL picks the one that the client can check.
SSL_CTX* TlsProfile::context_for(const Credentials& credentials) {
  const auto& names = credentials.facts.names;
  const int type = EVP_PKEY_get_base_id(credentials.key.get());
  for (std::size_t i = 0; i < contexts_.size(); ++i) {
    const EVP_PKEY* other = SSL_CTX_get0_privatekey(contexts_[i].get());
    if (role_ == Role::kClient) return contexts_[i].get();
    if (names_of_[i] == names && EVP_PKEY_get_base_id(other) != type) return contexts_[i].get();
  }
  contexts_.push_back(new_context(role_));
  names_of_.push_back(names);
  for (const std::string& name : names) {
    auto& table = name.starts_with("*.") ? wildcards_ : exact_names_;
    const std::string key = lower(name.starts_with("*.") ? name.substr(1) : name);
    table.emplace(key, contexts_.size() - 1);
  }
  return contexts_.back().get();
}

Status TlsProfile::set_parameters(SSL_CTX* context, const config::TlsSettings& settings) const {
  SSL_CTX_set_min_proto_version(context, version_number(settings.min_version, TLS1_2_VERSION));
  SSL_CTX_set_max_proto_version(context, version_number(settings.max_version, TLS1_3_VERSION));
  const std::string ciphers = settings.ciphers.empty() ? kCiphers12 : join(settings.ciphers);
  const std::string curves = join(settings.curves);
  const bool good = SSL_CTX_set_ciphersuites(context, kCiphers13) == 1 &&
                    SSL_CTX_set_cipher_list(context, ciphers.c_str()) == 1 &&
                    (curves.empty() || SSL_CTX_set1_groups_list(context, curves.c_str()) == 1);
  if (!good) return bad("tls_params: " + take_openssl_reason());
  return Ok{};
}

Status TlsProfile::set_verification(const config::TlsSettings& settings, const TlsTools& tools) {
  const config::TlsValidation& rules = settings.validation;
  TRY_ASSIGN(verifier_, TlsVerifier::create(rules, tools));
  Roots roots;
  if (rules.trusted_ca) {
    TRY_ASSIGN(roots, load_roots(*rules.trusted_ca));
  } else if (rules.system_roots) {
    TRY_ASSIGN(roots.store, tools.system_roots->get());
  }
  for (int i = 0; i < sk_X509_num(roots.certificates.get()); ++i) {
    roots_.push_back(facts_of(sk_X509_value(roots.certificates.get(), i), rules.trusted_ca->file));
  }
  // An intermediate, or the certificate itself, may be what is trusted.
  const unsigned long flags =
      X509_V_FLAG_PARTIAL_CHAIN | (rules.allow_expired ? X509_V_FLAG_NO_CHECK_TIME : 0UL);
  for (const SslCtxPtr& context : contexts_) {
    if (roots.store) SSL_CTX_set1_cert_store(context.get(), roots.store.get());
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context.get()), flags);
    if (rules.max_depth)
      SSL_CTX_set_verify_depth(context.get(), static_cast<int>(*rules.max_depth));
    SSL_CTX_set_cert_verify_callback(context.get(), &TlsVerifier::on_verify, &verifier_);
    for (int i = 0; role_ == Role::kServer && i < sk_X509_num(roots.certificates.get()); ++i) {
      SSL_CTX_add_client_CA(context.get(), sk_X509_value(roots.certificates.get(), i));
    }
  }
  return Ok{};
}

void TlsProfile::set_server_options(SSL_CTX* context, const config::DownstreamTls& settings) const {
  if (!settings.prefer_client_ciphers)
    SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
  if (!settings.tickets) SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  if (!settings.tickets && !settings.session_cache) SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(
      context, settings.session_cache ? SSL_SESS_CACHE_SERVER : SSL_SESS_CACHE_OFF);
  if (settings.session_timeout) {
    SSL_CTX_set_timeout(
        context,
        std::chrono::duration_cast<std::chrono::seconds>(*settings.session_timeout).count());
  }
  SSL_CTX_set_session_id_context(context,
                                 reinterpret_cast<const unsigned char*>(kSessionDomain.data()),
                                 static_cast<unsigned>(kSessionDomain.size()));
  if (!alpn_.empty()) {
    SSL_CTX_set_alpn_select_cb(context, &on_alpn, const_cast<TlsProfile*>(this));
  }
}

void TlsProfile::set_client_options(SSL_CTX* context) const {
  SSL_CTX_set_app_data(context, const_cast<TlsProfile*>(this));
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, &on_new_session);
  if (!alpn_.empty()) {
    SSL_CTX_set_alpn_protos(context, bytes_of(alpn_), static_cast<unsigned>(alpn_.size()));
  }
}

std::size_t TlsProfile::certificate_for(std::string_view server_name) const {
  const std::string name = lower(server_name);
  if (const auto at = exact_names_.find(name); at != exact_names_.end()) return at->second;
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos || dot == 0) return 0;
  const auto at = wildcards_.find(std::string_view(name).substr(dot));
  return at == wildcards_.end() ? 0 : at->second;
}

int TlsProfile::on_server_name(SSL* ssl, int*, void* self) {
  const auto& profile = *static_cast<const TlsProfile*>(self);
  const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  if (!name || profile.contexts_.size() == 1) return SSL_TLSEXT_ERR_OK;
  SSL_set_SSL_CTX(ssl, profile.contexts_[profile.certificate_for(name)].get());
  return SSL_TLSEXT_ERR_OK;
}

// The first of ours that the client offers too. None: the connection goes on without, as in Envoy.
int TlsProfile::on_alpn(SSL*, const unsigned char** chosen, unsigned char* length,
                        const unsigned char* offered, unsigned offered_length, void* self) {
  const auto& ours = static_cast<const TlsProfile*>(self)->alpn_;
  const int found =
      SSL_select_next_proto(const_cast<unsigned char**>(chosen), length, bytes_of(ours),
                            static_cast<unsigned>(ours.size()), offered, offered_length);
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

int TlsProfile::on_new_session(SSL* ssl, SSL_SESSION* session) {
  const auto& profile = *static_cast<const TlsProfile*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  const auto& check = *static_cast<const PeerCheck*>(SSL_get_app_data(ssl));
  profile.sessions_->put(check.name, SessionPtr(session));
  return 1;  // it is ours now
}

}  // namespace damper::net
