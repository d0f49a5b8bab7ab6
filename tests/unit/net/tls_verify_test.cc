#include "net/tls_verify.h"

#include <gtest/gtest.h>

#include "tests/support/tls.h"

namespace damper::net {
namespace {

using config::SanMatch;
using config::StringMatch;
using tests::Pair;
using tests::TlsPair;

config::PemSource inline_pem(const std::string& text) { return {.file = {}, .text = text}; }

// A server that asks for certificates of `authority`, and a client with one, or without.
struct MutualTls : TlsPair {
  MutualTls(const tests::Authority& authority, const Pair* client_certificate) {
    server_settings.require_client_certificate = true;
    server_settings.common.validation.trusted_ca = inline_pem(authority.pem());
    if (client_certificate)
      client_settings.common.certificates = {tests::inline_certificate(*client_certificate)};
  }
};

TEST(ClientCertificates, AreAcceptedFromTheAuthorityThatIsTrusted) {
  const tests::Authority authority;
  const Pair good =
      authority.issue({.name = "client", .alt_names = {"URI:spiffe://test/a", "DNS:client.test"}});
  MutualTls tls(authority, &good);
  ASSERT_TRUE(tls.connect());
  EXPECT_EQ(tls.server->tls()->peer_subject, "CN=client");
  EXPECT_EQ(tls.server->tls()->peer_uri_sans, std::vector<std::string>{"spiffe://test/a"});
  EXPECT_EQ(tls.server->tls()->peer_dns_sans, std::vector<std::string>{"client.test"});
  EXPECT_EQ(tls.server_count(TlsCounts::kNoCertificate), 0u);
}

TEST(ClientCertificates, OfAnotherAuthorityOrExpiredAreRefused) {
  const tests::Authority authority;
  for (const Pair& bad : {tests::Authority("other").issue({.name = "client"}),
                          tests::Authority().issue({.name = "client"}),
                          authority.issue({.name = "client", .days = -1})}) {
    MutualTls tls(authority, &bad);
    EXPECT_FALSE(tls.connect());
    EXPECT_NE(tls.server_error().detail.find("CERTIFICATE_VERIFY_FAILED"), std::string::npos)
        << tls.server_error().detail;
    EXPECT_EQ(tls.server_count(TlsCounts::kFailVerifyError), 1u);
    EXPECT_EQ(tls.server_count(TlsCounts::kConnectionError), 1u);
    EXPECT_EQ(tls.server_count(TlsCounts::kHandshake), 0u);
  }
}

TEST(ClientCertificates, AreMissedOnlyWhereOneIsRequired) {
  const tests::Authority authority;
  MutualTls strict(authority, nullptr);
  EXPECT_FALSE(strict.connect());
  EXPECT_EQ(strict.server_count(TlsCounts::kFailVerifyNoCert), 1u);
  MutualTls lax(authority, nullptr);
  lax.server_settings.require_client_certificate = false;
  EXPECT_TRUE(lax.connect());
  EXPECT_EQ(lax.server_count(TlsCounts::kNoCertificate), 1u);
}

TEST(ClientCertificates, MayBeExpiredWhereThatIsAllowed) {
  const tests::Authority authority;
  const Pair expired = authority.issue({.name = "client", .days = -1});
  MutualTls tls(authority, &expired);
  tls.server_settings.common.validation.allow_expired = true;
  EXPECT_TRUE(tls.connect());
}

TEST(ClientCertificates, AreRequiredWithoutAnyRulesToo) {
  const tests::Authority authority;
  const Pair any = tests::self_signed({.name = "whoever"});
  MutualTls tls(authority, &any);
  tls.server_settings.common.validation = {};
  EXPECT_TRUE(tls.connect());
  MutualTls none(authority, nullptr);
  none.server_settings.common.validation = {};
  EXPECT_FALSE(none.connect());
}

TEST(SubjectAltNames, AreMatchedByKind) {
  const tests::Authority authority;
  const Pair client =
      authority.issue({.name = "client",
                       .alt_names = {"DNS:*.wild.test", "DNS:a.test", "URI:spiffe://test/ns/a",
                                     "email:ops@a.test", "IP:10.1.2.3"}});
  using Kind = StringMatch::Kind;
  using Type = SanMatch::Type;
  struct Case {
    Type type;
    Kind kind;
    std::string text;
    bool accepted;
  };
  for (const Case& c : {Case{Type::kDns, Kind::kExact, "a.test", true},
                        Case{Type::kDns, Kind::kExact, "b.wild.test", true},
                        Case{Type::kDns, Kind::kExact, "b.c.wild.test", false},
                        Case{Type::kDns, Kind::kExact, "wild.test", false},
                        Case{Type::kDns, Kind::kSuffix, ".test", true},
                        Case{Type::kDns, Kind::kExact, "client", false},
                        Case{Type::kUri, Kind::kPrefix, "spiffe://test/", true},
                        Case{Type::kUri, Kind::kExact, "a.test", false},
                        Case{Type::kEmail, Kind::kContains, "@a", true},
                        Case{Type::kIpAddress, Kind::kExact, "10.1.2.3", true},
                        Case{Type::kIpAddress, Kind::kExact, "10.1.2.4", false},
                        Case{Type::kAny, Kind::kExact, "spiffe://test/ns/a", true},
                        Case{Type::kAny, Kind::kExact, "10.1.2.3", true},
                        Case{Type::kAny, Kind::kExact, "nobody", false}}) {
    MutualTls tls(authority, &client);
    tls.server_settings.common.validation.names = {
        {.type = Type::kDns, .name = {.text = "somebody.else"}},
        {.type = c.type, .name = {.kind = c.kind, .text = c.text}}};
    EXPECT_EQ(tls.connect(), c.accepted) << c.text;
    EXPECT_EQ(tls.server_count(TlsCounts::kFailVerifySan), c.accepted ? 0u : 1u) << c.text;
  }
}

TEST(Digests, PinCertificatesAndKeysWithAndWithoutAnAuthority) {
  const tests::Authority authority;
  const Pair client = authority.issue({.name = "client"});
  const Pair other = authority.issue({.name = "client"});
  for (const bool with_ca : {true, false}) {
    for (const Pair& pinned : {client, other}) {
      for (const bool by_key : {true, false}) {
        MutualTls tls(authority, &client);
        config::TlsValidation& rules = tls.server_settings.common.validation;
        if (!with_ca) rules.trusted_ca.reset();
        if (by_key) {
          rules.spki_sha256 = {tests::spki_of(pinned.certificate)};
        } else {
          rules.certificate_sha256 = {tests::sha256_of(pinned.certificate)};
        }
        const bool good = pinned.key == client.key;
        EXPECT_EQ(tls.connect(), good);
        EXPECT_EQ(tls.server_count(TlsCounts::kFailVerifyCertHash), good ? 0u : 1u);
      }
    }
  }
}

TEST(ServerNames, AreCheckedWhereThatIsWanted) {
  const tests::Authority authority;
  const Pair server = authority.issue(
      {.name = "cn.test", .alt_names = {"DNS:a.test", "DNS:*.wild.test", "IP:10.0.0.1"}});
  for (const auto& [name, good] :
       {std::pair("a.test", true), std::pair("x.wild.test", true), std::pair("10.0.0.1", true),
        std::pair("b.test", false), std::pair("cn.test", false), std::pair("10.0.0.2", false),
        std::pair("x.y.wild.test", false)}) {
    TlsPair tls;
    tls.server_settings.common.certificates = {tests::inline_certificate(server)};
    tls.client_settings.common.validation.trusted_ca = inline_pem(authority.pem());
    tls.client_settings.sni_from_endpoint = true;
    tls.client_settings.verify_server_name = true;
    EXPECT_EQ(tls.connect(name), good) << name;
    EXPECT_EQ(tls.client_count(TlsCounts::kFailVerifySan), good ? 0u : 1u) << name;
    if (!good) {
      EXPECT_NE(tls.client_error().detail.find("it_is_not_for_" + std::string(name)),
                std::string::npos)
          << tls.client_error().detail;
    }
  }
}

TEST(ServerNames, AndChainsAreNotAskedForWithoutRules) {
  TlsPair tls;
  EXPECT_TRUE(tls.connect("somebody.else"));
}

// The name is what a session is kept under: one that was accepted for one address must not open
// another.
TEST(ServerNames, AreCheckedAgainWhereASessionWouldSkipIt) {
  const tests::Authority authority;
  TlsPair tls;
  tls.server_settings.common.certificates = {
      tests::inline_certificate(authority.issue({.name = "server", .alt_names = {"IP:10.0.0.1"}}))};
  tls.client_settings.common.validation.trusted_ca = inline_pem(authority.pem());
  tls.client_settings.sni_from_endpoint = tls.client_settings.verify_server_name = true;
  ASSERT_TRUE(tls.connect("10.0.0.1"));
  tls.exchange();
  EXPECT_FALSE(tls.reconnect("10.0.0.2"));
}

TEST(TrustedRoots, MayBeAnIntermediateOrTheCertificateItself) {
  const Pair server = tests::self_signed({.name = "server", .alt_names = {"DNS:a.test"}});
  TlsPair tls;
  tls.server_settings.common.certificates = {tests::inline_certificate(server)};
  tls.client_settings.common.validation.trusted_ca = inline_pem(server.certificate);
  EXPECT_TRUE(tls.connect());
}

}  // namespace
}  // namespace damper::net
