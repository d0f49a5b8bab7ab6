// TLS settings compiled, with the files that they name as they were read: immutable, shared by the
// connections that began with them.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/model/tls.h"
#include "net/tls_credentials.h"
#include "net/tls_sessions.h"
#include "net/tls_verify.h"

namespace damper::net {

class TlsProfile {
 public:
  enum class Role { kServer, kClient };
  // What is in the log and the statistics: "listener=in", and the counts that outlive a rotation.
  struct Identity {
    std::string log_name;
    std::shared_ptr<TlsCounts> counts;
  };

  static Result<std::shared_ptr<const TlsProfile>> server(const config::DownstreamTls& settings,
                                                          const TlsTools& tools, Identity identity);
  static Result<std::shared_ptr<const TlsProfile>> client(const config::UpstreamTls& settings,
                                                          const TlsTools& tools, Identity identity);
  TlsProfile(const TlsProfile&) = delete;
  TlsProfile& operator=(const TlsProfile&) = delete;
  ~TlsProfile();

  SSL* new_ssl() const { return SSL_new(contexts_.front().get()); }
  Role role() const { return role_; }
  const std::string& log_name() const { return identity_.log_name; }
  TlsCounts& counts() const { return *identity_.counts; }
  SessionStore& sessions() const { return *sessions_; }  // of a client
  Duration handshake_timeout() const { return handshake_timeout_; }
  const std::vector<CertificateFacts>& certificates() const { return certificates_; }
  const std::vector<CertificateFacts>& roots() const { return roots_; }

  // The place of the certificate that a server shows for a name: the one with exactly this name,
  // else the one whose wildcard covers it, else the first.
  std::size_t certificate_for(std::string_view server_name) const;

 private:
  TlsProfile(Role role, Identity identity);

  Status compile(const config::TlsSettings& settings, const TlsTools& tools);
  Status add_certificate(const config::TlsCertificate& source);
  SSL_CTX* context_for(const Credentials& credentials);
  Status set_parameters(SSL_CTX* context, const config::TlsSettings& settings) const;
  Status set_verification(const config::TlsSettings& settings, const TlsTools& tools);
  void set_server_options(SSL_CTX* context, const config::DownstreamTls& settings) const;
  void set_client_options(SSL_CTX* context) const;

  static int on_server_name(SSL* ssl, int* alert, void* self);
  static int on_alpn(SSL* ssl, const unsigned char** chosen, unsigned char* length,
                     const unsigned char* offered, unsigned offered_length, void* self);
  static int on_new_session(SSL* ssl, SSL_SESSION* session);

  const Role role_;
  const Identity identity_;
  Duration handshake_timeout_{};
  TlsVerifier verifier_;
  std::string alpn_;  // in the form of the wire, in order of preference
  // One context for each set of names; those of one set differ in the kind of their keys.
  std::vector<SslCtxPtr> contexts_;
  std::map<std::string, std::size_t, std::less<>> exact_names_;
  std::map<std::string, std::size_t, std::less<>> wildcards_;  // ".example.com"
  std::vector<std::vector<std::string>> names_of_;             // by context
  std::vector<CertificateFacts> certificates_;
  std::vector<CertificateFacts> roots_;
  std::unique_ptr<SessionStore> sessions_;
};

// Nothing if OpenSSL knows them; else what is wrong.
std::optional<std::string> check_cipher(const std::string& name);
std::optional<std::string> check_curve(const std::string& name);

}  // namespace damper::net
