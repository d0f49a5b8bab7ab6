#include "server/tls_stats.h"

#include <set>

namespace damper::server {
namespace {

using net::TlsCounts;

stats::Scope scope_of(const TlsParty& party, stats::Registry& registry) {
  const std::string family = party.is_listener ? "listener." : "cluster.";
  return {registry,
          family + party.name + ".",
          family,
          {party.is_listener ? "envoy_listener_address" : "envoy_cluster_name", party.name}};
}

std::string name_of(TlsCounts::Count count, bool of_listener) {
  const std::string name(TlsCounts::name(count));
  if (count != TlsCounts::kContextUpdate) return "ssl." + name;
  return (of_listener ? "server_ssl_socket_factory." : "client_ssl_socket_factory.") + name;
}

std::int64_t seconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

void TlsStats::publish(const Snapshot& snapshot) {
  std::set<std::shared_ptr<TlsCounts>> in_force;
  for (const TlsParty& party : tls_parties(snapshot)) {
    const stats::Scope scope = scope_of(party, registry_);
    publish_counts(*party.rotation->counts(), published(party, scope));
    publish_expiry(*party.rotation, scope);
    in_force.insert(party.rotation->counts());
  }
  // What a reload replaced counts as long as it has connections; then only we know it.
  for (auto at = published_.begin(); at != published_.end();) {
    const bool replaced = in_force.count(at->first) == 0;
    if (replaced) publish_counts(*at->first, at->second);
    at = replaced && at->first.use_count() == 1 ? published_.erase(at) : std::next(at);
  }
}

TlsStats::Published& TlsStats::published(const TlsParty& party, const stats::Scope& scope) {
  const auto [at, is_new] = published_.try_emplace(party.rotation->counts());
  for (std::size_t i = 0; is_new && i < TlsCounts::kCounts; ++i) {
    const auto count = static_cast<TlsCounts::Count>(i);
    at->second.counters[i] = scope.counter(name_of(count, party.is_listener));
  }
  return at->second;
}

void TlsStats::publish_counts(const TlsCounts& counts, Published& published) {
  for (std::size_t i = 0; i < TlsCounts::kCounts; ++i) {
    const std::uint64_t now = counts.get(static_cast<TlsCounts::Count>(i));
    if (now == published.told[i]) continue;
    cells_.add(published.counters[i], now - published.told[i]);
    published.told[i] = now;
  }
}

// A certificate is named by its secret, else by the first of its names.
void TlsStats::publish_expiry(const net::TlsRotation& rotation, const stats::Scope& scope) {
  for (const net::CertificateFacts& facts : rotation.certificates()) {
    const std::string name = !facts.secret.empty() ? facts.secret
                             : facts.names.empty() ? "unnamed"
                                                   : facts.names.front();
    const stats::Gauge gauge =
        scope.gauge("ssl.certificate." + name + ".expiration_unix_time_seconds");
    cells_.add(gauge, seconds(facts.not_after) - registry_.value(gauge));
  }
}

}  // namespace damper::server
