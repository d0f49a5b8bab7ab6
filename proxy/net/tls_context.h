// TLS of a listener and of a cluster: what makes transports for new connections. The files that the
// settings name may change; what is new is taken when it is whole and fits together, and until then
// what was there before stays. Connections keep what they began with.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/model/cluster.h"
#include "net/tls_facts.h"
#include "net/tls_tools.h"
#include "net/transport.h"

namespace damper::net {

class TlsProfile;

std::shared_ptr<SystemRoots> make_system_roots();  // reads nothing yet

// The profile in force, and how it changes. current() is for any thread, the rest for one (main).
class TlsRotation {
 public:
  using Profile = std::shared_ptr<const TlsProfile>;
  using Compile = std::function<Result<Profile>()>;

  // `settings` is the owner's; secrets that are read anew are put there.
  TlsRotation(config::TlsSettings& settings, const TlsTools& tools, std::string log_name);

  Status start(Compile compile);
  Profile current() const;
  std::shared_ptr<TlsCounts> counts() const { return counts_; }
  const std::string& log_name() const { return log_name_; }

  // Looks whether a file has changed, and takes it. An Error: it was not taken, and the old stays;
  // it is told once for each change.
  Result<bool> refresh();

  std::vector<CertificateFacts> certificates() const;
  std::vector<CertificateFacts> roots() const;
  // A line for each certificate whose time is over.
  std::vector<std::string> expired(WallTime now) const;

 private:
  std::string signature() const;
  Status read_secrets();
  Status take_changes();

  config::TlsSettings& settings_;
  const TlsTools tools_;
  const std::string log_name_;
  const std::shared_ptr<TlsCounts> counts_ = std::make_shared<TlsCounts>();
  Compile compile_;
  std::string seen_;  // the files as they were when they were last read
  mutable std::mutex mu_;
  Profile profile_;  // guarded by mu_
};

class TlsServer {
 public:
  static Result<std::shared_ptr<TlsServer>> create(const config::DownstreamTls& settings,
                                                   const TlsTools& tools, std::string log_name);
  std::unique_ptr<Transport> make_transport() const;

  const config::DownstreamTls& settings() const { return written_; }  // as they were written
  TlsRotation& rotation() { return rotation_; }

 private:
  TlsServer(const config::DownstreamTls& settings, const TlsTools& tools, std::string log_name);

  const config::DownstreamTls written_;
  config::DownstreamTls settings_;
  TlsRotation rotation_;
};

class TlsClient {
 public:
  static Result<std::shared_ptr<TlsClient>> create(const config::UpstreamTls& settings,
                                                   const TlsTools& tools, std::string log_name);
  // `host`: the hostname of the endpoint; `request_host`: where the request goes, for auto_sni.
  // `http`: what is offered by ALPN unless the settings say it; kHttp2 fails without h2.
  std::unique_ptr<Transport> make_transport(
      const std::string& host, const std::string& request_host = {},
      config::UpstreamHttp http = config::UpstreamHttp::kHttp1) const;

  const config::UpstreamTls& settings() const { return written_; }
  TlsRotation& rotation() { return rotation_; }

 private:
  TlsClient(const config::UpstreamTls& settings, const TlsTools& tools, std::string log_name);

  const config::UpstreamTls written_;
  config::UpstreamTls settings_;
  TlsRotation rotation_;
};

// For the loader: what OpenSSL thinks of a name; nothing: it knows it.
std::optional<std::string> check_cipher(const std::string& name);
std::optional<std::string> check_curve(const std::string& name);

}  // namespace damper::net
