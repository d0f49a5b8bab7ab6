#include "net/tls_profile.h"

#include <gtest/gtest.h>

#include "tests/support/tls.h"

namespace damper::net {
namespace {

using tests::TlsPair;
using tests::Wanted;

config::TlsCertificate certificate(const Wanted& wanted) {
  return tests::inline_certificate(tests::self_signed(wanted));
}

// Whose certificate a client gets that asks for this name.
std::string shown_for(TlsPair& pair, const std::string& name) {
  pair.client_settings.sni_from_endpoint = true;
  return pair.reconnect(name) ? pair.client->tls()->peer_subject : "";
}

TEST(TlsProfile, ShowsTheCertificateOfTheNameThatIsAskedFor) {
  TlsPair pair;
  pair.server_settings.common.certificates = {
      certificate({.name = "first", .alt_names = {"DNS:first.test"}}),
      certificate({.name = "exact", .alt_names = {"DNS:a.wild.test", "DNS:Other.Test"}}),
      certificate({.name = "wild", .alt_names = {"DNS:*.wild.test", "DNS:wild.test"}}),
      certificate({.name = "only-a-cn.test"}),
      certificate({.name = "late", .alt_names = {"DNS:wild.test"}}),
  };
  const std::pair<std::string, std::string> cases[] = {{"first.test", "CN=first"},
                                                       {"a.wild.test", "CN=exact"},
                                                       {"other.test", "CN=exact"},
                                                       {"b.wild.test", "CN=wild"},
                                                       {"B.WILD.TEST", "CN=wild"},
                                                       {"wild.test", "CN=wild"},
                                                       {"a.b.wild.test", "CN=first"},
                                                       {"unknown", "CN=first"},
                                                       {"", "CN=first"},
                                                       {"only-a-cn.test", "CN=only-a-cn.test"}};
  for (const auto& [asked, shown] : cases) EXPECT_EQ(shown_for(pair, asked), shown) << asked;
}

TEST(TlsProfile, AnRsaAndAnEcCertificateOfTheSameNamesStandSideBySide) {
  TlsPair pair;
  pair.server_settings.common.certificates = {
      certificate({.name = "rsa", .alt_names = {"DNS:a.test"}, .key = Wanted::Key::kRsa}),
      certificate({.name = "ec", .alt_names = {"DNS:a.test"}})};
  pair.client_settings.common.max_version = config::TlsVersion::kTls12;
  pair.client_settings.common.ciphers = {"ECDHE-RSA-AES128-GCM-SHA256"};
  EXPECT_EQ(shown_for(pair, "a.test"), "CN=rsa");
  TlsPair other;
  other.server_settings = pair.server_settings;
  other.client_settings.common.max_version = config::TlsVersion::kTls12;
  other.client_settings.common.ciphers = {"ECDHE-ECDSA-AES128-GCM-SHA256"};
  EXPECT_EQ(shown_for(other, "a.test"), "CN=ec");
}

TEST(TlsProfile, ASessionGoesOnUnderASecondCertificate) {
  TlsPair pair;
  pair.server_settings.common.certificates = {certificate({.name = "first"}),
                                              certificate({.name = "second.test"})};
  ASSERT_EQ(shown_for(pair, "second.test"), "CN=second.test");
  pair.exchange();
  ASSERT_EQ(shown_for(pair, "second.test"), "CN=second.test");
  EXPECT_TRUE(pair.client->tls()->resumed);
}

TEST(TlsProfile, AnIpAddressIsNotSentAsAName) {
  TlsPair pair;
  pair.client_settings.sni_from_endpoint = true;
  ASSERT_TRUE(pair.connect("127.0.0.1"));
  EXPECT_EQ(pair.server->tls()->server_name, "");
}

TEST(TlsProfile, HoldsToTheCiphersAndCurvesThatAreWritten) {
  TlsPair pair;
  pair.server_settings.common.max_version = config::TlsVersion::kTls12;
  pair.server_settings.common.ciphers = {"ECDHE-ECDSA-AES256-GCM-SHA384"};
  pair.server_settings.common.curves = {"P-384"};
  ASSERT_TRUE(pair.connect());
  EXPECT_EQ(pair.client->tls()->cipher, "ECDHE-ECDSA-AES256-GCM-SHA384");
  TlsPair refused;
  refused.server_settings.common.curves = {"P-384"};
  refused.client_settings.common.curves = {"P-521"};
  EXPECT_FALSE(refused.connect());
}

TEST(TlsProfile, TheServersOrderOfCiphersHoldsUnlessTheClientsIsPreferred) {
  for (const bool clients : {false, true}) {
    TlsPair pair;
    pair.server_settings.prefer_client_ciphers = clients;
    pair.server_settings.common.max_version = config::TlsVersion::kTls12;
    pair.server_settings.common.ciphers = {"ECDHE-ECDSA-AES256-GCM-SHA384",
                                           "ECDHE-ECDSA-AES128-GCM-SHA256"};
    pair.client_settings.common.ciphers = {"ECDHE-ECDSA-AES128-GCM-SHA256",
                                           "ECDHE-ECDSA-AES256-GCM-SHA384"};
    ASSERT_TRUE(pair.connect());
    EXPECT_EQ(pair.client->tls()->cipher,
              clients ? "ECDHE-ECDSA-AES128-GCM-SHA256" : "ECDHE-ECDSA-AES256-GCM-SHA384");
  }
}

TEST(TlsNames, KnowCiphersAndCurvesOneByOne) {
  EXPECT_FALSE(check_cipher("ECDHE-RSA-AES128-GCM-SHA256"));
  for (const char* wrong : {"", "ECDHE-RSA-AES129-GCM-SHA256", "HIGH:!aNULL", "-ALL", "@STRENGTH"})
    EXPECT_TRUE(check_cipher(wrong)) << wrong;
  for (const char* known : {"X25519", "P-256"}) EXPECT_FALSE(check_curve(known)) << known;
  for (const char* wrong : {"P-257", "X25519:P-256"}) EXPECT_TRUE(check_curve(wrong)) << wrong;
}

}  // namespace
}  // namespace damper::net
