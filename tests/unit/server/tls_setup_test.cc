#include "server/tls_setup.h"

#include <gtest/gtest.h>

#include "server/snapshot.h"
#include "tests/support/tls.h"

namespace damper::server {
namespace {

TEST(TlsTools, CompileNamesWithTheMatchersOfRoutes) {
  const auto compile = make_tls_tools().text_match;
  const auto regex =
      compile({.kind = config::StringMatch::Kind::kRegex, .text = "spiffe://[a-z]+"});
  ASSERT_TRUE(regex);
  EXPECT_TRUE((*regex)("spiffe://abc"));
  EXPECT_FALSE((*regex)("spiffe://123"));
  EXPECT_FALSE(compile({.kind = config::StringMatch::Kind::kRegex, .text = "["}));
}

std::shared_ptr<config::Bootstrap> with_tls(const std::string& chain, const std::string& key) {
  auto out = std::make_shared<config::Bootstrap>();
  config::Listener listener;
  listener.name = listener.http.stat_prefix = "in";
  listener.tls.emplace().common.certificates = {
      {.chain = {.file = chain, .text = {}}, .key = {.file = key, .text = {}}, .secret = {}}};
  out->listeners.push_back(listener);
  config::Cluster cluster{.name = "app"};
  cluster.tls.emplace();
  out->clusters.push_back(cluster);
  return out;
}

TEST(SnapshotTls, IsKeptWhereNothingIsWrittenOtherwise) {
  const tests::Folder folder;
  const tests::Pair pair = tests::self_signed({});
  const auto bootstrap = with_tls(folder.write("c", pair.certificate), folder.write("k", pair.key));
  Registries registries(1);
  const auto first = *build_snapshot(bootstrap, registries);
  const auto rotation = [](const auto& snapshot, std::size_t i) {
    return tls_parties(*snapshot)[i].rotation;
  };
  ASSERT_EQ(tls_parties(*first).size(), 2u);
  const auto server = rotation(first, 0);
  const auto client = rotation(first, 1);
  const auto second = *build_snapshot(bootstrap, registries);
  EXPECT_EQ(rotation(second, 0), server);
  EXPECT_EQ(rotation(second, 1), client);
  const auto changed = std::make_shared<config::Bootstrap>(*bootstrap);
  changed->listeners[0].tls->tickets = false;
  changed->clusters[0].tls->sni = "a.test";
  const auto third = *build_snapshot(changed, registries);
  EXPECT_NE(rotation(third, 0), server);
  EXPECT_NE(rotation(third, 1), client);
  const auto plain = std::make_shared<config::Bootstrap>(*bootstrap);
  plain->listeners[0].tls.reset();
  plain->clusters[0].tls.reset();
  EXPECT_TRUE(tls_parties(**build_snapshot(plain, registries)).empty());
}

TEST(SnapshotTls, SaysWhoseCertificateIsMissing) {
  Registries registries(1);
  const auto snapshot = build_snapshot(with_tls("/no/such/file", "/no/such/key"), registries);
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(snapshot.error().detail,
            "listener \"in\": certificate \"/no/such/file\" cannot be read: No such file or "
            "directory");
}

TEST(RefreshCertificates, TakesWhatHasChanged) {
  const tests::Folder folder;
  const tests::Pair one = tests::self_signed({.name = "one"});
  const tests::Pair two = tests::self_signed({.name = "two"});
  const auto bootstrap = with_tls(folder.write("c", one.certificate), folder.write("k", one.key));
  Registries registries(1);
  const auto snapshot = *build_snapshot(bootstrap, registries);
  const auto shown = [&] {
    refresh_certificates(*snapshot);
    return tls_parties(*snapshot)[0].rotation->certificates().front().subject;
  };
  EXPECT_EQ(shown(), "CN=one");
  folder.write("c", two.certificate);
  EXPECT_EQ(shown(), "CN=one");
  folder.write("k", two.key);
  EXPECT_EQ(shown(), "CN=two");
}

}  // namespace
}  // namespace damper::server
