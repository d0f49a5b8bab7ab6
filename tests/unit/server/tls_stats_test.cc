#include "server/tls_stats.h"

#include <gtest/gtest.h>

#include "server/snapshot.h"
#include "tests/support/tls.h"

namespace damper::server {
namespace {

using net::TlsCounts;

std::shared_ptr<config::Bootstrap> with_tls() {
  auto out = std::make_shared<config::Bootstrap>();
  config::Listener listener;
  listener.name = listener.http.stat_prefix = "in";
  listener.address = {.host = "127.0.0.1", .port = 8443};
  listener.tls.emplace().common.certificates = {
      tests::inline_certificate(tests::self_signed({.alt_names = {"DNS:a.test"}}))};
  out->listeners.push_back(listener);
  config::Cluster cluster{.name = "app"};
  cluster.tls.emplace();
  out->clusters.push_back(cluster);
  return out;
}

struct Bench {
  Bench() : snapshot(*build_snapshot(bootstrap, registries)) {}
  std::string text() {
    stats.publish(*snapshot);
    return registries.stats().text("", false);
  }
  bool says(const std::string& line) { return text().find(line + "\n") != std::string::npos; }
  TlsCounts& counts(std::size_t party) { return *tls_parties(*snapshot)[party].rotation->counts(); }

  std::shared_ptr<config::Bootstrap> bootstrap = with_tls();
  Registries registries{1};
  stats::Cells& cells = registries.stats().new_cells();
  TlsStats stats{registries.stats(), cells};
  std::shared_ptr<const Snapshot> snapshot;
};

TEST(TlsStats, StandUnderTheAddressOfTheListenerAndTheNameOfTheCluster) {
  Bench bench;
  bench.counts(0).add(TlsCounts::kHandshake);
  bench.counts(1).add(TlsCounts::kFailVerifySan);
  bench.counts(0).add(TlsCounts::kContextUpdate);
  EXPECT_TRUE(bench.says("listener.127.0.0.1_8443.ssl.handshake: 1"));
  EXPECT_TRUE(
      bench.says("listener.127.0.0.1_8443.server_ssl_socket_factory.ssl_context_update_by_sds: 1"));
  EXPECT_TRUE(bench.says("cluster.app.ssl.fail_verify_san: 1"));
  EXPECT_NE(bench.text().find(
                "listener.127.0.0.1_8443.ssl.certificate.a.test.expiration_unix_time_seconds: "),
            std::string::npos);
  bench.counts(0).add(TlsCounts::kHandshake);
  EXPECT_TRUE(bench.says("listener.127.0.0.1_8443.ssl.handshake: 2"));
}

TEST(TlsStats, AreResetAsOthersAre) {
  Bench bench;
  bench.counts(0).add(TlsCounts::kHandshake);
  EXPECT_TRUE(bench.says("listener.127.0.0.1_8443.ssl.handshake: 1"));
  bench.registries.stats().reset_counters();
  EXPECT_TRUE(bench.says("listener.127.0.0.1_8443.ssl.handshake: 0"));
}

TEST(TlsStats, CountOnWhereSettingsHaveBeenReplaced) {
  Bench bench;
  const auto old = tls_parties(*bench.snapshot)[0].rotation->counts();
  EXPECT_TRUE(bench.says("listener.127.0.0.1_8443.ssl.handshake: 0"));
  bench.bootstrap = std::make_shared<config::Bootstrap>(*bench.bootstrap);
  bench.bootstrap->listeners[0].tls->prefer_client_ciphers = true;
  bench.snapshot = *build_snapshot(bench.bootstrap, bench.registries);
  bench.counts(0).add(TlsCounts::kHandshake);
  old->add(TlsCounts::kHandshake);
  EXPECT_TRUE(bench.says("listener.127.0.0.1_8443.ssl.handshake: 2"));
}

}  // namespace
}  // namespace damper::server
