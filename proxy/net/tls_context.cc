#include "net/tls_context.h"

#include <algorithm>
#include <sys/stat.h>
#include <utility>

#include "base/log.h"
#include "net/tls_profile.h"
#include "net/tls_transport.h"

namespace damper::net {
namespace {

// Who and when, through all symbolic links; a file that is not there has no signature.
void append_signature(std::string& out, const std::string& file) {
  struct stat s {};
  if (file.empty() || ::stat(file.c_str(), &s) != 0) {
    out += "-;";
    return;
  }
  for (const long long part :
       {static_cast<long long>(s.st_dev), static_cast<long long>(s.st_ino),
        static_cast<long long>(s.st_size), static_cast<long long>(s.st_mtim.tv_sec),
        static_cast<long long>(s.st_mtim.tv_nsec), static_cast<long long>(s.st_ctim.tv_sec),
        static_cast<long long>(s.st_ctim.tv_nsec)}) {
    out += std::to_string(part) + ",";
  }
  out += ";";
}

// As it stands on the wire: each name behind its length.
std::string_view alpn_wire(config::UpstreamHttp http) {
  switch (http) {
    case config::UpstreamHttp::kHttp2: return "\x02h2";
    case config::UpstreamHttp::kAuto: return "\x02h2\x08http/1.1";
    case config::UpstreamHttp::kHttp1:
    case config::UpstreamHttp::kDownstream: break;
  }
  return "\x08http/1.1";
}

}  // namespace

std::shared_ptr<SystemRoots> make_system_roots() { return std::make_shared<SystemRoots>(); }

TlsRotation::TlsRotation(config::TlsSettings& settings, const TlsTools& tools, std::string log_name)
    : settings_(settings), tools_(tools), log_name_(std::move(log_name)) {}

Status TlsRotation::start(Compile compile) {
  compile_ = std::move(compile);
  seen_ = signature();
  TRY_ASSIGN(profile_, compile_());
  return Ok{};
}

TlsRotation::Profile TlsRotation::current() const {
  const std::lock_guard lock(mu_);
  return profile_;
}

std::string TlsRotation::signature() const {
  std::string out;
  const auto add_secret = [&out](const std::optional<config::SecretFile>& secret) {
    if (secret) append_signature(out, secret->file);
  };
  for (const config::TlsCertificate& certificate : settings_.certificates) {
    append_signature(out, certificate.chain.file);
    append_signature(out, certificate.key.file);
    add_secret(certificate.secret);
  }
  if (settings_.validation.trusted_ca) append_signature(out, settings_.validation.trusted_ca->file);
  add_secret(settings_.validation.secret);
  return out;
}

Status TlsRotation::read_secrets() {
  for (config::TlsCertificate& certificate : settings_.certificates) {
    if (!certificate.secret) continue;
    TRY_ASSIGN(certificate, tools_.certificate_secret(*certificate.secret));
  }
  if (!settings_.validation.secret) return Ok{};
  TRY_ASSIGN(settings_.validation, tools_.validation_secret(*settings_.validation.secret));
  if (settings_.validation_defaults) {
    settings_.validation =
        config::combine(std::move(settings_.validation), *settings_.validation_defaults);
  }
  return Ok{};
}

Status TlsRotation::take_changes() {
  TRY(read_secrets());
  seen_ = signature();  // they may name other files
  TRY_ASSIGN(Profile fresh, compile_());
  const std::lock_guard lock(mu_);
  profile_ = std::move(fresh);
  return Ok{};
}

Result<bool> TlsRotation::refresh() {
  // Taken before the files are read: what is written meanwhile is seen the next time.
  std::string now = signature();
  if (now == seen_) return false;
  seen_ = std::move(now);
  config::TlsSettings before = settings_;
  if (Status taken = take_changes(); !taken) {
    settings_ = std::move(before);
    counts_->add(TlsCounts::kKeyRotationFailed);
    return std::move(taken).error();
  }
  counts_->add(TlsCounts::kContextUpdate);
  return true;
}

std::vector<CertificateFacts> TlsRotation::certificates() const {
  return current()->certificates();
}
std::vector<CertificateFacts> TlsRotation::roots() const { return current()->roots(); }

std::vector<std::string> TlsRotation::expired(WallTime now) const {
  std::vector<std::string> out;
  const Profile profile = current();
  for (const auto* list : {&profile->certificates(), &profile->roots()}) {
    for (const CertificateFacts& facts : *list) {
      if (facts.not_after > now) continue;
      out.push_back("the certificate of \"" + facts.subject + "\" has expired" +
                    (facts.source.empty() ? "" : " (\"" + facts.source + "\")"));
    }
  }
  return out;
}

// --- A listener's --------------------------------------------------------------------------------

TlsServer::TlsServer(const config::DownstreamTls& settings, const TlsTools& tools,
                     std::string log_name)
    : written_(settings),
      settings_(settings),
      rotation_(settings_.common, tools, std::move(log_name)) {}

Result<std::shared_ptr<TlsServer>> TlsServer::create(const config::DownstreamTls& settings,
                                                     const TlsTools& tools, std::string log_name) {
  std::shared_ptr<TlsServer> out(new TlsServer(settings, tools, std::move(log_name)));
  TlsServer& self = *out;
  TRY(self.rotation_.start([&self, tools] {
    return TlsProfile::server(self.settings_, tools,
                              {self.rotation_.log_name(), self.rotation_.counts()});
  }));
  return out;
}

std::unique_ptr<Transport> TlsServer::make_transport() const {
  return std::make_unique<TlsTransport>(rotation_.current());
}

// --- A cluster's ---------------------------------------------------------------------------------

TlsClient::TlsClient(const config::UpstreamTls& settings, const TlsTools& tools,
                     std::string log_name)
    : written_(settings),
      settings_(settings),
      rotation_(settings_.common, tools, std::move(log_name)) {}

Result<std::shared_ptr<TlsClient>> TlsClient::create(const config::UpstreamTls& settings,
                                                     const TlsTools& tools, std::string log_name) {
  std::shared_ptr<TlsClient> out(new TlsClient(settings, tools, std::move(log_name)));
  TlsClient& self = *out;
  TRY(self.rotation_.start([&self, tools] {
    return TlsProfile::client(self.settings_, tools,
                              {self.rotation_.log_name(), self.rotation_.counts()});
  }));
  return out;
}

std::unique_ptr<Transport> TlsClient::make_transport(const std::string& host,
                                                     const std::string& request_host,
                                                     config::UpstreamHttp http) const {
  const std::string& name = settings_.sni_from_request && !request_host.empty() ? request_host
                            : settings_.sni_from_endpoint && !host.empty()      ? host
                                                                                : settings_.sni;
  const auto& alpn = written_.common.alpn;
  const bool own = !alpn.empty();
  const bool offers_h2 = !own || std::find(alpn.begin(), alpn.end(), "h2") != alpn.end();
  const bool needs_h2 = http == config::UpstreamHttp::kHttp2 && offers_h2;
  return std::make_unique<TlsTransport>(
      rotation_.current(), TlsTransport::Wishes{.name = name,
                                                .name_must_match = settings_.verify_server_name,
                                                .alpn = own ? std::string_view() : alpn_wire(http),
                                                .needs_h2 = needs_h2});
}

}  // namespace damper::net
