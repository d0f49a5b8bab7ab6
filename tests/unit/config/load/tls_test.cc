#include "config/load/tls.h"

#include <gtest/gtest.h>

#include "server/tls_setup.h"
#include "tests/support/certificates.h"
#include "tests/support/config_text.h"

namespace damper::config {
namespace {

using Strings = std::vector<std::string>;

const std::string kContext = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.";

std::string upstream_socket(const std::string& fields) {
  return "transport_socket: { name: envoy.transport_sockets.tls, typed_config: { \"@type\": " +
         kContext + "UpstreamTlsContext, " + fields + " } }";
}

// A whole file: the listener's transport socket, in flow form, and more at the top of
// static_resources.
std::string with_chain(const std::string& socket, const std::string& resources = "") {
  return "static_resources:\n  " + resources +
         "\n  listeners:\n  - name: in\n    address: { socket_address: { address: 127.0.0.1, "
         "port_value: 80 } }\n    filter_chains:\n    - transport_socket_connect_timeout: 3s\n"
         "      transport_socket: " +
         socket +
         "\n      filters:\n      - name: http\n        typed_config:\n          \"@type\": "
         "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3."
         "HttpConnectionManager\n          stat_prefix: in\n          route_config: { "
         "virtual_hosts: [] }\n";
}

std::string downstream_socket(const std::string& fields) {
  return "{ name: envoy.transport_sockets.tls, typed_config: { \"@type\": " + kContext +
         "DownstreamTlsContext, " + fields + " } }";
}

std::string common(const std::string& fields) {
  return "common_tls_context: { tls_certificates: [ { certificate_chain: { filename: c.pem }, "
         "private_key: { filename: k.pem } } ], " +
         fields + " }";
}

DownstreamTls load_downstream(const std::string& fields) {
  const Bootstrap b = load(with_chain(downstream_socket(fields)));
  return b.listeners.empty() ? DownstreamTls{} : b.listeners[0].tls.value_or(DownstreamTls{});
}

UpstreamTls load_upstream(const std::string& fields) {
  return load_cluster(upstream_socket(fields)).tls.value_or(UpstreamTls{});
}

// Its mistakes; without any, its warnings.
std::string said_of(const std::string& text, const LoadOptions& options = {}) {
  const Loaded loaded = load_text("test.yaml", text, options);
  const Diagnostics& said = loaded.diagnostics;
  std::string out;
  for (const Diagnostic& d : said.ok() ? said.warnings() : said.errors()) {
    out += d.path + ": " + d.message + (d.hint.empty() ? "" : " (" + d.hint + ")") + "\n";
  }
  return out;
}

std::string cluster_with(const std::string& fields) {
  return "clusters:\n- name: app\n  endpoints: [ \"127.0.0.1:80\" ]\n  " + fields + "\n";
}

std::string listener_with(const std::string& fields) {
  return "listeners:\n- name: in\n  address: 127.0.0.1:80\n  routes: []\n  " + fields + "\n";
}

TEST(ShortListenerTls, HasAPairOrSeveral) {
  const Listener one = load_listener("tls: { cert: c.pem, key: k.pem }");
  ASSERT_TRUE(one.tls);
  EXPECT_EQ(one.tls->common.certificates.size(), 1u);
  EXPECT_EQ(one.tls->common.certificates[0].chain.file, "c.pem");
  EXPECT_EQ(one.tls->common.certificates[0].key.file, "k.pem");
  EXPECT_TRUE(one.tls->common.validation.empty());
  EXPECT_FALSE(one.tls->require_client_certificate);
  EXPECT_EQ(one.tls->handshake_timeout, 15s);
  const Listener two = load_listener(
      "tls: { certificates: [ { cert: a, key: b }, { cert: c, key: d } ], min_version: 1.3 }");
  EXPECT_EQ(two.tls->common.certificates.size(), 2u);
  EXPECT_EQ(two.tls->common.min_version, TlsVersion::kTls13);
}

TEST(ShortListenerTls, OffersTheProtocolsOfItsCodec) {
  for (const auto& [fields, alpn] : {std::pair("", Strings{"h2", "http/1.1"}),
                                     std::pair("\n  codec_type: HTTP1", Strings{"http/1.1"})}) {
    const std::string text = "tls: { cert: c, key: k }" + std::string(fields);
    EXPECT_EQ(load_listener(text).tls->common.alpn, alpn);
  }
  EXPECT_EQ(load_listener("tls: { cert: c, key: k, alpn: [ x ] }").tls->common.alpn, Strings{"x"});
}

TEST(ShortListenerTls, AsksClientsForCertificatesWhereAnAuthorityIsNamed) {
  for (const auto& [words, required] :
       {std::pair("", true), std::pair(", verify_client: true", true),
        std::pair(", verify_client: optional", false)}) {
    const auto tls =
        load_listener("tls: { cert: c, key: k, ca: ca.pem" + std::string(words) + " }").tls;
    EXPECT_EQ(tls->common.validation.trusted_ca->file, "ca.pem");
    EXPECT_EQ(tls->require_client_certificate, required) << words;
  }
}

TEST(ShortClusterTls, VerifiesTheNameAgainstTheSystemsRootsUnlessToldOtherwise) {
  struct Case {
    std::string fields;
    bool system, own, name, of_endpoint;
  };
  for (const Case& c :
       {Case{"{}", true, false, true, true}, Case{"{ ca: ca.pem }", false, true, true, true},
        Case{"{ sni: a.test }", true, false, true, false},
        Case{"{ verify: chain }", true, false, false, true},
        Case{"{ verify: none }", false, false, false, true}}) {
    const auto tls = load_cluster("tls: " + c.fields).tls;
    ASSERT_TRUE(tls) << c.fields;
    EXPECT_EQ(tls->common.validation.system_roots, c.system) << c.fields;
    EXPECT_EQ(tls->common.validation.trusted_ca.has_value(), c.own) << c.fields;
    EXPECT_EQ(tls->verify_server_name, c.name) << c.fields;
    EXPECT_EQ(tls->sni_from_endpoint, c.of_endpoint) << c.fields;
  }
}

TEST(ClusterTls, MayNameItsProtocols) {
  EXPECT_TRUE(load_cluster("tls: {}").tls->common.alpn.empty());
  EXPECT_EQ(load_cluster("tls: { alpn: [ x ] }").tls->common.alpn, Strings{"x"});
  EXPECT_EQ(load_upstream("common_tls_context: { alpn_protocols: [ h2 ] }").common.alpn,
            Strings{"h2"});
}

TEST(DownstreamTlsContext, HasEnvoysFields) {
  const DownstreamTls tls = load_downstream(
      common("alpn_protocols: [ h2 ], tls_params: { tls_minimum_protocol_version: TLSv1_2, "
             "tls_maximum_protocol_version: TLSv1_3, cipher_suites: [ \"[A|B]\", C ], "
             "ecdh_curves: [ X25519 ] }, validation_context: { trusted_ca: { filename: ca.pem }, "
             "max_verify_depth: 3, allow_expired_certificate: true }") +
      ", require_client_certificate: true, session_timeout: 60s, prefer_client_ciphers: true, "
      "disable_stateless_session_resumption: true, disable_stateful_session_resumption: true");
  EXPECT_EQ(tls.common.certificates.size(), 1u);
  EXPECT_EQ(tls.common.alpn, Strings{"h2"});
  EXPECT_EQ(tls.common.min_version, TlsVersion::kTls12);
  EXPECT_EQ(tls.common.max_version, TlsVersion::kTls13);
  EXPECT_EQ(tls.common.ciphers, (Strings{"A", "B", "C"}));
  EXPECT_EQ(tls.common.curves, Strings{"X25519"});
  EXPECT_EQ(tls.common.validation.trusted_ca->file, "ca.pem");
  EXPECT_EQ(tls.common.validation.max_depth, 3u);
  EXPECT_TRUE(tls.common.validation.allow_expired);
  EXPECT_TRUE(tls.require_client_certificate);
  EXPECT_EQ(tls.session_timeout, 60s);
  EXPECT_TRUE(tls.prefer_client_ciphers);
  EXPECT_FALSE(tls.tickets || tls.session_cache);
  EXPECT_EQ(tls.handshake_timeout, 3s);
  EXPECT_TRUE(load_downstream(common("")).common.alpn.empty());
}

TEST(UpstreamTlsContext, HasEnvoysFields) {
  const UpstreamTls tls = load_upstream(
      "sni: a.test, auto_host_sni: true, auto_sni_san_validation: true, max_session_keys: 7, "
      "common_tls_context: { validation_context: { system_root_certs: {} } }");
  EXPECT_EQ(tls.sni, "a.test");
  EXPECT_TRUE(tls.sni_from_endpoint && tls.verify_server_name);
  EXPECT_FALSE(tls.sni_from_request);
  EXPECT_EQ(tls.max_session_keys, 7u);
  EXPECT_TRUE(tls.common.validation.system_roots);
  EXPECT_TRUE(load_upstream("sni: a").common.validation.empty());  // as Envoy: nothing is verified
}

TEST(UpstreamTlsContext, TakesTheNameOfTheRequestFromHttpProtocolOptions) {
  const std::string options =
      "\n  typed_extension_protocol_options: { "
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions: { \"@type\": "
      "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, "
      "upstream_http_protocol_options: { auto_sni: true, auto_san_validation: true }, "
      "explicit_http_config: { http_protocol_options: {} } } }";
  const auto tls = load_cluster("tls: { verify: chain }" + options).tls;
  EXPECT_TRUE(tls->sni_from_request && tls->verify_server_name);
  EXPECT_FALSE(load_cluster("connect_timeout: 1s" + options).tls);
  EXPECT_NE(
      said_of(cluster_with("tls: { verify: none }" + options)).find("auto_san_validation needs"),
      std::string::npos);
}

TEST(TransportSocket, MayBeRaw) {
  const std::string raw =
      "{ name: envoy.transport_sockets.raw_buffer, typed_config: { \"@type\": "
      "type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer } }";
  EXPECT_FALSE(load_cluster("transport_socket: " + raw).tls);
  EXPECT_FALSE(load_cluster("transport_socket: { name: envoy.transport_sockets.raw_buffer }").tls);
  EXPECT_FALSE(load(with_chain(raw)).listeners[0].tls);
}

TEST(Tls, SaysWhatIsWrong) {
  const LoadOptions options{.tls = {.cipher = server::tls_checks().cipher,
                                    .curve = server::tls_checks().curve,
                                    .server = {},
                                    .client = {}}};
  const auto up = [](const std::string& fields) { return cluster_with(upstream_socket(fields)); };
  const auto down = [](const std::string& fields) { return with_chain(downstream_socket(fields)); };
  const std::string roots = "common_tls_context: { validation_context: { ";
  const std::pair<std::string, std::string> cases[] = {
      {listener_with("tls: {}"), "\"cert\" is missing"},
      {listener_with("tls: { cert: a }"), "\"key\" is missing"},
      {listener_with("tls: { key: a }"), "\"cert\" is missing"},
      {listener_with("tls: { cert: a, key: b, verify_client: true }"), "\"ca\" is missing"},
      {listener_with("tls: { cert: a, key: b, ca: c, verify_client: false }"), "does not use ca"},
      {listener_with("tls: { cert: a, key: b, verify_client: maybe }"), "expected one of"},
      {listener_with("tls: { cert: a, key: b, min_version: 1.1 }"), "expected one of 1.2, 1.3"},
      {listener_with("tls: { cert: a, key: b, alpn: [ \"\" ] }"), "1 to 255 bytes"},
      {listener_with("tls: { certs: [] , cert: a, key: b }"), "unknown key \"certs\""},
      {listener_with("tls: 5"), "expected"},
      {cluster_with("tls: { sny: a }"), "unknown key \"sny\" (did you mean \"sni\"?)"},
      {cluster_with("tls: { verify: all }"), "expected one of full, chain, none"},
      {cluster_with("tls: { verify: none, ca: x }"), "verify: none does not use ca"},
      {cluster_with("tls: {}\n  transport_socket: { name: x }"),
       "only one of tls, transport_socket"},
      {cluster_with("tls: { sni: \"" + std::string(256, 'a') + "\" }"), "at most 255 bytes"},
      {cluster_with("transport_socket: { name: tls }"), "\"typed_config\" is missing"},
      {cluster_with("transport_socket: { name: tls, typed_config: { \"@type\": x.Alts } }"),
       "transport socket x.Alts"},
      {up("allow_renegotiation: true"), "\"allow_renegotiation\" is not supported"},
      {up("auto_sni_san_validation: true"), "nothing says who may certify it"},
      {up("common_tls_context: { tls_params: { tls_minimum_protocol_version: TLSv1_1 } }"),
       "TLS before 1.2"},
      {up("common_tls_context: { tls_params: { tls_minimum_protocol_version: TLSv1_3, "
          "tls_maximum_protocol_version: TLSv1_2 } }"),
       "the least version is above the greatest"},
      {up("common_tls_context: { tls_params: { cipher_suites: [ ROT13 ] } }"),
       "unknown cipher suite \"ROT13\""},
      {up("common_tls_context: { tls_params: { ecdh_curves: [ P-1 ] } }"), "unknown curve \"P-1\""},
      {up("common_tls_context: { key_log: { path: x } }"), "extensions of TLS"},
      {up(roots +
          "match_typed_subject_alt_names: [ { san_type: DNS, matcher: { exact: a } } ] } }"),
       "nothing says who may certify them"},
      {up(roots + "match_typed_subject_alt_names: [ { matcher: { exact: a } } ] } }"),
       "\"san_type\" is missing"},
      {up(roots + "match_typed_subject_alt_names: [ { san_type: DNS } ] } }"),
       "\"matcher\" is missing"},
      {up(roots + "match_typed_subject_alt_names: [ { san_type: OTHER_NAME, matcher: {} } ] } }"),
       "names of this kind"},
      {up(roots + "verify_certificate_hash: [ abc ] } }"), "64 hexadecimal digits"},
      {up(roots + "verify_certificate_spki: [ abc ] } }"), "base64 of a SHA-256"},
      {up(roots + "crl: { filename: x } } }"), "revocation lists"},
      {up(roots + "trusted_ca: {} } }"), "one of filename, inline_string, inline_bytes is missing"},
      {up(roots + "trusted_ca: { inline_bytes: \"*\" } } }"), "expected base64"},
      {up(roots + "trusted_ca: { environment_variable: X } } }"), "text from the environment"},
      {up(roots + "trusted_ca: { filename: a }, system_root_certs: {} } }"), "only one of"},
      {down("require_client_certificate: false"), "\"common_tls_context\" is missing"},
      {down("common_tls_context: {}"), "\"tls_certificates\" is missing"},
      {down(common("") + ", require_sni: true"), "refusing clients without SNI"},
      {down(common("") + ", session_ticket_keys: {}"), "keys of session tickets"},
      {down(common("combined_validation_context: {}")),
       "\"default_validation_context\" is missing"},
      {down("common_tls_context: { tls_certificates: [ { certificate_chain: { filename: a } } ] }"),
       "\"private_key\" is missing"},
      {down("common_tls_context: { tls_certificates: [ { private_key: { filename: a } } ] }"),
       "\"certificate_chain\" is missing"},
      {down("common_tls_context: { tls_certificates: [ { certificate_chain: { filename: a }, "
            "private_key: { filename: b }, password: { inline_string: x } } ] }"),
       "protected by a passphrase"},
  };
  for (const auto& [text, says] : cases) {
    const std::string said = said_of(text, options);
    EXPECT_NE(said.find(says), std::string::npos) << said << "\n  instead of: " << says;
  }
}

TEST(Tls, WarnsOfClientCertificatesThatNobodyVouchesFor) {
  EXPECT_NE(
      said_of(with_chain(downstream_socket(common("") + ", require_client_certificate: true")))
          .find("every client certificate is accepted"),
      std::string::npos);
}

TEST(TlsFiles, AreReadAndChecked) {
  const tests::Folder folder;
  const tests::Pair pair = tests::self_signed({});
  const tests::Pair old = tests::self_signed({.name = "old", .days = -1});
  const std::string cert = folder.write("c.pem", pair.certificate);
  const std::string key = folder.write("k.pem", pair.key);
  const std::string old_cert = folder.write("old.pem", old.certificate);
  const std::string old_key = folder.write("old.key", old.key);
  const LoadOptions options{.tls = server::tls_checks()};
  const auto server = [](const std::string& c, const std::string& k) {
    return listener_with("tls: { cert: \"" + c + "\", key: \"" + k + "\" }");
  };
  EXPECT_EQ(said_of(server(cert, key), options), "");
  EXPECT_EQ(said_of(server(cert, old_key), options), "listeners[0].tls: private key \"" + old_key +
                                                         "\" does not belong to certificate \"" +
                                                         cert + "\"\n");
  EXPECT_EQ(said_of(server(cert + "x", key), options),
            "listeners[0].tls: certificate \"" + cert +
                "x\" cannot be read: No such file or directory\n");
  EXPECT_EQ(said_of(server(old_cert, old_key), options),
            "listeners[0].tls: the certificate of \"CN=old\" has expired (\"" + old_cert + "\")\n");
  EXPECT_EQ(said_of(cluster_with("tls: { ca: \"" + key + "\" }"), options),
            "clusters[0].tls: \"" + key + "\" holds no certificate (PEM)\n");
  EXPECT_EQ(said_of(cluster_with("tls: {}"), options), "");
}

}  // namespace
}  // namespace damper::config
