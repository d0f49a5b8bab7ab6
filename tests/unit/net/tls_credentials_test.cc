#include "net/tls_credentials.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "tests/support/certificates.h"

namespace damper::net {
namespace {

using tests::Pair;

// What is wrong; empty: nothing.
std::string why_not(const std::string& chain, const std::string& key) {
  const auto loaded = load_credentials(
      {.chain = {.file = chain, .text = {}}, .key = {.file = key, .text = {}}, .secret = {}});
  return loaded ? "" : loaded.error().detail;
}

TEST(Credentials, AreReadWithWhatTheySay) {
  const tests::Folder folder;
  const tests::Authority authority;
  const Pair pair = authority.issue(
      {.name = "server", .alt_names = {"DNS:a.test", "URI:spiffe://x", "IP:::1"}, .days = 10});
  const std::string chain = folder.write("chain.pem", pair.certificate + authority.pem());
  const auto loaded =
      load_credentials({.chain = {.file = chain, .text = {}},
                        .key = {.file = folder.write("key.pem", pair.key), .text = {}},
                        .secret = config::SecretFile{.file = {}, .name = "pair"}});
  ASSERT_TRUE(loaded) << loaded.error().detail;
  EXPECT_EQ(sk_X509_num(loaded->chain.get()), 1);
  const CertificateFacts& facts = loaded->facts;
  EXPECT_EQ(facts.source, chain);
  EXPECT_EQ(facts.secret, "pair");
  EXPECT_EQ(facts.subject, "CN=server");
  EXPECT_EQ(facts.names, std::vector<std::string>{"a.test"});
  EXPECT_EQ(facts.uri_sans, std::vector<std::string>{"spiffe://x"});
  EXPECT_EQ(facts.ip_sans, std::vector<std::string>{"::1"});
  EXPECT_FALSE(facts.serial.empty());
  const auto left = facts.not_after - std::chrono::system_clock::now();
  EXPECT_GT(left, std::chrono::hours(24 * 9));
  EXPECT_LT(left, std::chrono::hours(24 * 11));
}

TEST(Credentials, MayStandInOneFile) {
  const tests::Folder folder;
  const Pair pair = tests::self_signed({});
  const std::string both = folder.write("both.pem", pair.key + pair.certificate);
  EXPECT_EQ(why_not(both, both), "");
}

TEST(Credentials, AreRefusedWithTheNameOfTheFile) {
  const tests::Folder folder;
  const Pair pair = tests::self_signed({});
  const Pair other = tests::self_signed({});
  const std::string chain = folder.write("chain.pem", pair.certificate);
  const std::string key = folder.write("key.pem", pair.key);
  const std::string half_text = pair.certificate.substr(0, pair.certificate.size() / 2);
  struct Case {
    std::string chain, key, says;
  };
  for (const Case& c :
       {Case{folder.path("none.pem"), key, "none.pem\" cannot be read: No such file"},
        Case{chain, folder.path("none.key"), "none.key\" cannot be read: No such file"},
        Case{folder.path(""), key, "cannot be read: Is a directory"},
        Case{folder.write("empty", ""), key, "empty\" holds no certificate"},
        Case{folder.write("half", half_text), key, "half\" ends in the middle"},
        Case{folder.write("half2", pair.certificate + half_text), key,
             "half2\" ends in the middle"},
        Case{folder.write("junk", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
             key, "junk\" is not readable PEM"},
        Case{key, key, "key.pem\" holds no certificate"},
        Case{chain, chain, "chain.pem\" holds no private key"},
        Case{chain, folder.write("locked", tests::encrypted_key()), "locked\" is encrypted"},
        Case{chain, folder.write("other.key", other.key),
             "other.key\" does not belong to certificate \"" + chain}}) {
    const std::string said = why_not(c.chain, c.key);
    EXPECT_NE(said.find(c.says), std::string::npos) << said << "\n  instead of: " << c.says;
  }
}

TEST(Credentials, WithoutAFileAreCalledInline) {
  const auto loaded = load_credentials(
      {.chain = {.file = {}, .text = "x"}, .key = {.file = {}, .text = "x"}, .secret = {}});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().detail, "the inline text holds no certificate (PEM)");
}

TEST(Roots, AreAllThatTheFileHolds) {
  const auto roots =
      load_roots({.file = {}, .text = tests::Authority("a").pem() + tests::Authority("b").pem()});
  ASSERT_TRUE(roots);
  EXPECT_EQ(sk_X509_num(roots->certificates.get()), 2);
  EXPECT_FALSE(load_roots({.file = "/no/such/file", .text = {}}));
}

TEST(Roots, OfTheSystemAreReadOnceAndShared) {
  SystemRoots roots;
  const auto first = roots.get();
  const auto second = roots.get();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->get(), second->get());
}

}  // namespace
}  // namespace damper::net
