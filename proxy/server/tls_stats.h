// The handshakes of listeners and clusters, and the ends of their certificates, as Envoy names
// them: listener.<address>.ssl.*, cluster.<name>.ssl.*. Counted where they happen
// (net/tls_facts.h), brought here when somebody asks.
#pragma once
#include <array>
#include <map>
#include <memory>

#include "net/tls_facts.h"
#include "server/tls_setup.h"
#include "stats/scope.h"

namespace damper::server {

class TlsStats {
 public:
  TlsStats(stats::Registry& registry, stats::Cells& cells) : registry_(registry), cells_(cells) {}

  void publish(const Snapshot& snapshot);

 private:
  struct Published {
    std::array<stats::Counter, net::TlsCounts::kCounts> counters;
    std::array<std::uint64_t, net::TlsCounts::kCounts> told{};
  };

  Published& published(const TlsParty& party, const stats::Scope& scope);
  void publish_counts(const net::TlsCounts& counts, Published& published);
  void publish_expiry(const net::TlsRotation& rotation, const stats::Scope& scope);

  stats::Registry& registry_;
  stats::Cells& cells_;
  std::map<std::shared_ptr<net::TlsCounts>, Published> published_;
};

}  // namespace damper::server
