// Rotation: files change under a listener, in the ways in which files change.
#include "net/tls_context.h"

#include <gtest/gtest.h>

#include "tests/support/tls.h"

namespace damper::net {
namespace {

using tests::Pair;
using tests::TlsPair;

// The pair stands in <folder>/data, which is a link, as in a volume of Kubernetes.
struct Rotating {
  Rotating() {
    put("v1", tests::self_signed({.name = "one"}));
    folder.link("data", "v1");
    tls.server_settings.common.certificates = {
        {.chain = {.file = chain(), .text = {}}, .key = {.file = key(), .text = {}}, .secret = {}}};
    EXPECT_TRUE(tls.connect());
  }
  void put(const std::string& version, const Pair& pair) const {
    folder.make(version);
    folder.write(version + "/tls.crt", pair.certificate);
    folder.write(version + "/tls.key", pair.key);
  }
  std::string chain() const { return folder.path("data/tls.crt"); }
  std::string key() const { return folder.path("data/tls.key"); }
  Result<bool> refresh() { return tls.server_tls->rotation().refresh(); }
  bool taken() {
    const auto result = refresh();
    return result && *result;
  }
  std::string shown() { return tls.reconnect() ? tls.client->tls()->peer_subject : "nothing"; }

  tests::Folder folder;
  TlsPair tls;
};

TEST(TlsRotation, DoesNothingWhileNothingChanges) {
  Rotating files;
  EXPECT_FALSE(files.taken());
  EXPECT_EQ(files.tls.server_count(TlsCounts::kContextUpdate), 0u);
}

TEST(TlsRotation, TakesAPairThatIsSwappedInByALink) {
  Rotating files;
  files.put("v2", tests::self_signed({.name = "two"}));
  files.folder.link("data", "v2");
  EXPECT_TRUE(files.taken());
  EXPECT_EQ(files.shown(), "CN=two");
  EXPECT_EQ(files.tls.server_count(TlsCounts::kContextUpdate), 1u);
  EXPECT_EQ(files.tls.server_tls->rotation().certificates().front().subject, "CN=two");
}

TEST(TlsRotation, TakesAPairThatIsWrittenInPlaceOnceItIsWhole) {
  Rotating files;
  const Pair two = tests::self_signed({.name = "two"});
  const std::string half = two.certificate.substr(0, two.certificate.size() / 2);
  files.folder.write("data/tls.crt", half);
  EXPECT_FALSE(files.refresh());  // half a certificate
  EXPECT_EQ(files.shown(), "CN=one");
  files.folder.write("data/tls.crt", two.certificate);
  const auto mismatch = files.refresh();  // the key is of the old one
  ASSERT_FALSE(mismatch);
  EXPECT_NE(mismatch.error().detail.find("does not belong to"), std::string::npos);
  EXPECT_EQ(files.shown(), "CN=one");
  EXPECT_FALSE(files.taken());  // told once
  files.folder.write("data/tls.key", two.key);
  EXPECT_TRUE(files.taken());
  EXPECT_EQ(files.shown(), "CN=two");
  EXPECT_EQ(files.tls.server_count(TlsCounts::kKeyRotationFailed), 2u);
}

TEST(TlsRotation, KeepsWhatItHasWhenFilesVanish) {
  Rotating files;
  files.folder.link("data", "nowhere");
  EXPECT_FALSE(files.refresh());
  EXPECT_EQ(files.shown(), "CN=one");
  files.folder.link("data", "v1");
  EXPECT_TRUE(files.taken());
}

TEST(TlsRotation, LeavesConnectionsAsTheyAre) {
  Rotating files;
  files.put("v2", tests::self_signed({.name = "two"}));
  files.folder.link("data", "v2");
  ASSERT_TRUE(files.taken());
  files.tls.send("still here");
  EXPECT_EQ(files.tls.read_once(), "still here");
}

TEST(TlsRotation, TakesOtherRoots) {
  const tests::Folder folder;
  const tests::Authority first("first");
  const tests::Authority second("second");
  TlsPair tls;
  tls.server_settings.common.certificates = {
      tests::inline_certificate(second.issue({.name = "server"}))};
  tls.client_settings.common.validation.trusted_ca =
      config::PemSource{.file = folder.write("ca.pem", first.pem()), .text = {}};
  EXPECT_FALSE(tls.connect());
  folder.write("ca.pem", first.pem() + second.pem());
  const auto taken = tls.client_tls->rotation().refresh();
  ASSERT_TRUE(taken && *taken);
  EXPECT_EQ(tls.client_tls->rotation().roots().size(), 2u);
  TlsPair again;
  again.server_settings = tls.server_settings;
  again.client_settings = tls.client_settings;
  EXPECT_TRUE(again.connect());
}

TEST(TlsRotation, ReadsASecretAnewThatNamesOtherFiles) {
  const tests::Folder folder;
  const Pair one = tests::self_signed({.name = "one"});
  const Pair two = tests::self_signed({.name = "two"});
  const config::SecretFile secret{.file = folder.write("sds.yaml", "one"), .name = "pair"};
  Pair in_file = one;
  TlsTools tools = tests::tls_tools();
  tools.certificate_secret = [&](const config::SecretFile& asked) {
    EXPECT_EQ(asked, secret);
    config::TlsCertificate out = tests::inline_certificate(in_file);
    out.secret = asked;
    return Result<config::TlsCertificate>(out);
  };
  config::DownstreamTls settings;
  settings.common.certificates = {tests::inline_certificate(one)};
  settings.common.certificates[0].secret = secret;
  const auto server = TlsServer::create(settings, tools, "server");
  ASSERT_TRUE(server);
  in_file = two;
  EXPECT_FALSE(*(*server)->rotation().refresh());  // the file is as it was
  folder.write("sds.yaml", "number two");
  EXPECT_TRUE(*(*server)->rotation().refresh());
  EXPECT_EQ((*server)->rotation().certificates().front().subject, "CN=two");
  EXPECT_EQ((*server)->settings(), settings);
}

TEST(TlsRotation, TellsOfWhatHasExpired) {
  const Pair old = tests::self_signed({.name = "old", .days = -1});
  config::DownstreamTls settings;
  settings.common.certificates = {tests::inline_certificate(old)};
  const auto server = TlsServer::create(settings, tests::tls_tools(), "server");
  ASSERT_TRUE(server);
  const WallTime now = std::chrono::system_clock::now();
  EXPECT_EQ((*server)->rotation().expired(now),
            std::vector<std::string>{"the certificate of \"CN=old\" has expired"});
  EXPECT_TRUE((*server)->rotation().expired(now - std::chrono::hours(24 * 9)).empty());
}

TEST(TlsClient, AsksForTheNameThatItsSettingsSay) {
  struct Case {
    bool of_request, of_endpoint;
    std::string sni, expected;
  };
  for (const Case& c :
       {Case{false, false, "", ""}, Case{false, false, "sni.test", "sni.test"},
        Case{false, true, "sni.test", "host.test"}, Case{true, false, "sni.test", "request.test"},
        Case{true, true, "", "request.test"}}) {
    TlsPair tls;
    tls.client_settings.sni = c.sni;
    tls.client_settings.sni_from_endpoint = c.of_endpoint;
    tls.client_settings.sni_from_request = c.of_request;
    ASSERT_TRUE(tls.connect("host.test", "request.test"));
    EXPECT_EQ(tls.server->tls()->server_name, c.expected);
  }
}

TEST(TlsClient, OffersTheProtocolOfThePoolUnlessItsSettingsNameOthers) {
  using Http = config::UpstreamHttp;
  using Strings = std::vector<std::string>;
  struct Case {
    Http http;
    Strings own, server;
    std::string chosen;
    bool good;
  };
  const Strings both = {"h2", "http/1.1"};
  for (const Case& c :
       {Case{Http::kHttp1, {}, both, "http/1.1", true}, Case{Http::kHttp2, {}, both, "h2", true},
        Case{Http::kAuto, {}, both, "h2", true},
        Case{Http::kAuto, {}, {"http/1.1"}, "http/1.1", true}, Case{Http::kAuto, {}, {}, "", true},
        Case{Http::kHttp2, {}, {"http/1.1"}, "", false}, Case{Http::kHttp2, {}, {}, "", false},
        Case{Http::kHttp2, {"x"}, {"x"}, "x", true}, Case{Http::kHttp1, {"x"}, both, "", true}}) {
    TlsPair tls;
    tls.client_settings.common.alpn = c.own;
    tls.server_settings.common.alpn = c.server;
    EXPECT_EQ(tls.connect("a.test", "", c.http), c.good);
    EXPECT_EQ(tls.client->alpn(), c.chosen);
    if (!c.good) {
      EXPECT_EQ(tls.client_error().code, Errc::kRefused);
      EXPECT_EQ(tls.client_error().detail, "ALPN: the server does not speak h2");
      EXPECT_EQ(tls.client_count(TlsCounts::kConnectionError), 0u);
    }
  }
}

}  // namespace
}  // namespace damper::net
