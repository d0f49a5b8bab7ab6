#include "server/tls_setup.h"

#include <algorithm>

#include "base/log.h"
#include "config/load/secrets.h"
#include "route/matchers.h"
#include "server/snapshot.h"

namespace damper::server {
namespace {

Result<net::TextMatch> compile_text_match(const config::StringMatch& rule) {
  TRY_ASSIGN(auto matcher, route::StringMatcher::compile(rule));
  return net::TextMatch(
      [matcher = std::move(matcher)](std::string_view text) { return matcher.matches(text); });
}

template <class Tls>
config::TlsFindings findings_of(Result<std::shared_ptr<Tls>> made) {
  if (!made) return {.error = made.error().detail, .warnings = {}};
  return {.error = {}, .warnings = (*made)->rotation().expired(std::chrono::system_clock::now())};
}

std::string stat_name(const config::Listener& listener) {
  std::string name =
      listener.stat_prefix.empty() ? listener.address.to_string() : listener.stat_prefix;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

}  // namespace

net::TlsTools make_tls_tools() {
  return {.text_match = compile_text_match,
          .certificate_secret = config::load_certificate_secret,
          .validation_secret = config::load_validation_secret,
          .system_roots = net::make_system_roots()};
}

config::TlsChecks tls_checks() {
  return {.cipher = net::check_cipher,
          .curve = net::check_curve,
          .server =
              [](const config::DownstreamTls& tls) {
                return findings_of(net::TlsServer::create(tls, make_tls_tools(), "check"));
              },
          .client =
              [](config::UpstreamTls tls) {
                tls.common.validation.system_roots = false;  // they cost 41 ms, and are not ours
                return findings_of(net::TlsClient::create(tls, make_tls_tools(), "check"));
              }};
}

std::vector<TlsParty> tls_parties(const Snapshot& snapshot) {
  std::vector<TlsParty> out;
  for (const auto& frontend : snapshot.frontends) {
    const stream::FrontendConfig& config = *frontend->config;
    if (config.tls) out.push_back({true, stat_name(*config.listener), &config.tls->rotation()});
  }
  for (const auto& cluster : snapshot.clusters) {
    if (const auto tls = cluster->tls()) out.push_back({false, cluster->name, &tls->rotation()});
  }
  return out;
}

void refresh_certificates(const Snapshot& snapshot) {
  for (const TlsParty& party : tls_parties(snapshot)) {
    const auto taken = party.rotation->refresh();
    const std::string& who = party.rotation->log_name();
    if (!taken) {
      log::warn("certificates_kept {} why=\"{}\"", who, taken.error().detail);
      continue;
    }
    if (!*taken) continue;
    log::info("certificates_taken {}", who);
    for (const std::string& line : party.rotation->expired(std::chrono::system_clock::now())) {
      log::warn("certificate_expired {} why=\"{}\"", who, line);
    }
  }
}

}  // namespace damper::server
