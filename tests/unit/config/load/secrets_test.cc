#include "config/load/secrets.h"

#include <gtest/gtest.h>

#include "tests/support/certificates.h"
#include "tests/support/config_text.h"

namespace damper::config {
namespace {

const std::string kType = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.";

// A cluster whose context is written in terms of secrets, and the secrets.
std::string file_with(const std::string& context, const std::string& secrets) {
  return "static_resources:\n  secrets: [ " + secrets +
         " ]\n  clusters:\n  - name: app\n    load_assignment: { cluster_name: app, endpoints: [] "
         "}\n"
         "    transport_socket: { name: tls, typed_config: { \"@type\": " +
         kType + "UpstreamTlsContext, common_tls_context: { " + context + " } } }\n";
}

TlsSettings load_with(const std::string& context, const std::string& secrets) {
  const Bootstrap b = load(file_with(context, secrets));
  return b.clusters.empty() || !b.clusters[0].tls ? TlsSettings{} : b.clusters[0].tls->common;
}

std::string said_of(const std::string& context, const std::string& secrets) {
  const Loaded loaded = load_text("test.yaml", file_with(context, secrets));
  return loaded.diagnostics.ok() ? "" : loaded.diagnostics.render_all();
}

const std::string kPair =
    "{ name: pair, tls_certificate: { certificate_chain: { inline_string: C }, private_key: { "
    "inline_bytes: Sw== } } }";
const std::string kRoots =
    "{ name: roots, validation_context: { trusted_ca: { filename: ca.pem } } }";

std::string in_file(const std::string& name, const std::string& path) {
  return "{ name: " + name +
         ", sds_config: { resource_api_version: V3, path_config_source: { path: \"" + path +
         "\" } } }";
}

TEST(Secrets, AreFoundByTheirNames) {
  const TlsSettings tls = load_with(
      "tls_certificate_sds_secret_configs: [ { name: pair } ], "
      "validation_context_sds_secret_config: { name: roots }",
      kPair + ", " + kRoots);
  ASSERT_EQ(tls.certificates.size(), 1u);
  EXPECT_EQ(tls.certificates[0].chain.text, "C");
  EXPECT_EQ(tls.certificates[0].key.text, "K");
  EXPECT_FALSE(tls.certificates[0].secret);
  EXPECT_EQ(tls.validation.trusted_ca->file, "ca.pem");
}

TEST(Secrets, AreLaidOverDefaults) {
  const TlsSettings tls = load_with(
      "combined_validation_context: { default_validation_context: { match_subject_alt_names: [ { "
      "exact: a.test } ] }, validation_context_sds_secret_config: { name: roots } }",
      kRoots);
  EXPECT_EQ(tls.validation.trusted_ca->file, "ca.pem");
  ASSERT_EQ(tls.validation.names.size(), 1u);
  EXPECT_EQ(tls.validation.names[0].name.text, "a.test");
  EXPECT_TRUE(tls.validation_defaults);
}

TEST(Secrets, MayStandInAFile) {
  const tests::Folder folder;
  const std::string path = folder.write(
      "sds.yaml", "resources:\n- { \"@type\": " + kType + "Secret, " + kPair.substr(1) +
                      "\n- { \"@type\": " + kType + "Secret, " + kRoots.substr(1) + "\n");
  const TlsSettings tls =
      load_with("tls_certificate_sds_secret_configs: [ " + in_file("pair", path) +
                    " ], validation_context_sds_secret_config: " + in_file("roots", path),
                "");
  ASSERT_EQ(tls.certificates.size(), 1u);
  const SecretFile pair{.file = path, .name = "pair"};
  EXPECT_EQ(tls.certificates[0].secret, pair);
  EXPECT_EQ(tls.validation.secret->name, "roots");
  const auto again = load_certificate_secret(pair);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, tls.certificates[0]);
  EXPECT_EQ(load_validation_secret({.file = path, .name = "roots"})->trusted_ca->file, "ca.pem");
  EXPECT_FALSE(load_certificate_secret({.file = path, .name = "roots"}));
  EXPECT_FALSE(load_validation_secret({.file = path, .name = "pair"}));
  folder.write("sds.yaml", "resources: [ { name: 5 } ]");
  const auto broken = load_certificate_secret(pair);
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().detail.find("\"@type\" is missing"), std::string::npos);
}

TEST(Secrets, SayWhatIsWrong) {
  const tests::Folder folder;
  const std::string empty = folder.write("empty.yaml", "resources: []");
  const std::string ref = "tls_certificate_sds_secret_configs: [ ";
  const std::tuple<std::string, std::string, std::string> cases[] = {
      {ref + "{ name: paar } ]", kPair, "unknown secret \"paar\""},
      {ref + "{ name: paar } ]", kPair, "did you mean \"pair\"?"},
      {ref + "{ name: roots } ]", kRoots, "secret \"roots\" is no tls_certificate"},
      {"validation_context_sds_secret_config: { name: pair }", kPair, "is no validation_context"},
      {"", kPair + ", " + kPair, "a second secret named \"pair\""},
      {"", "{ name: x }", "one of tls_certificate, validation_context is missing"},
      {"", "{ name: x, generic_secret: {} }", "secrets of this kind"},
      {ref + in_file("pair", "/no/such/file") + " ]", "", "cannot be read: No such file"},
      {ref + in_file("pair", empty) + " ]", "", "holds no secret \"pair\""},
      {ref + "{ name: a, sds_config: { ads: {} } } ]", "", "secrets from a control plane"},
      {ref + "{ name: a, sds_config: { path_config_source: {} } } ]", "", "\"path\" is missing"},
  };
  for (const auto& [context, secrets, says] : cases) {
    const std::string said = said_of(context, secrets);
    EXPECT_NE(said.find(says), std::string::npos) << said << "\n  instead of: " << says;
  }
}

}  // namespace
}  // namespace damper::config
