#include "server/certs_page.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/snapshot.h"
#include "tests/support/tls.h"

namespace damper::server {
namespace {

TEST(CertsPage, HasCertificatesAndRootsOfEachListenerAndCluster) {
  const tests::Authority authority;
  const tests::Folder folder;
  auto bootstrap = std::make_shared<config::Bootstrap>();
  config::Listener listener;
  listener.name = listener.http.stat_prefix = "in";
  listener.tls.emplace().common.certificates = {tests::inline_certificate(authority.issue(
      {.alt_names = {"DNS:a.test", "DNS:b.test", "URI:spiffe://x", "IP:127.0.0.1"}, .days = 3}))};
  bootstrap->listeners.push_back(listener);
  config::Cluster cluster{.name = "app"};
  const std::string ca = folder.write("ca.pem", authority.pem());
  cluster.tls.emplace().common.validation.trusted_ca = config::PemSource{.file = ca, .text = {}};
  bootstrap->clusters.push_back(cluster);
  Registries registries(1);
  const auto page = nlohmann::json::parse(
      certs_json(**build_snapshot(bootstrap, registries), std::chrono::system_clock::now()));
  ASSERT_EQ(page["certificates"].size(), 2u);
  const auto& shown = page["certificates"][0];
  EXPECT_TRUE(shown["ca_cert"].empty());
  const auto& certificate = shown["cert_chain"][0];
  EXPECT_EQ(certificate["path"], "<inline>");
  EXPECT_EQ(certificate["days_until_expiration"], "2");
  EXPECT_EQ(certificate["subject_alt_names"].dump(),
            "[{\"dns\":\"a.test\"},{\"dns\":\"b.test\"},{\"uri\":\"spiffe://x\"},"
            "{\"ip_address\":\"127.0.0.1\"}]");
  EXPECT_FALSE(certificate["serial_number"].get<std::string>().empty());
  EXPECT_LT(certificate["valid_from"], certificate["expiration_time"]);
  EXPECT_EQ(page["certificates"][1]["ca_cert"][0]["path"], ca);
  const auto later = nlohmann::json::parse(
      certs_json(**build_snapshot(bootstrap, registries),
                 std::chrono::system_clock::now() + std::chrono::hours(24 * 10)));
  EXPECT_EQ(later["certificates"][0]["cert_chain"][0]["days_until_expiration"], "0");
}

}  // namespace
}  // namespace damper::server
