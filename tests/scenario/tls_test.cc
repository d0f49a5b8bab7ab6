// TLS between a client, the proxy and an upstream, over real sockets.
#include <atomic>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <thread>

#include "tests/support/certificates.h"
#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

// A CA with a server's pair in files.
struct Authorities {
  Authority ca;
  Folder folder;
  Pair server = ca.issue({.name = "server", .alt_names = {"DNS:a.test", "IP:127.0.0.1"}});
  std::string ca_file = folder.write("ca.pem", ca.pem());
  std::string cert = folder.write("server.pem", server.certificate);
  std::string key = folder.write("server.key", server.key);

  std::string listener(const std::string& more = "") const {
    return "tls: { cert: \"" + cert + "\", key: \"" + key + "\"" + more + " }";
  }
  std::string cluster(const std::string& more = "") const {
    return "tls: { ca: \"" + ca_file + "\"" + more + " }";
  }
};

// An upstream that speaks TLS with the pair, and then what the script says.
ScriptedUpstream::Script over_tls(const Pair& pair, ScriptedUpstream::Script script) {
  return [pair, script = std::move(script)](ScriptedUpstream& self, WireConnection& connection,
                                            int number) {
    if (connection.accept_tls(pair)) script(self, connection, number);
  };
}

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nhost: a.test\r\n\r\n";

WireMessage get(WireConnection& client) {
  client.send(kGet);
  return client.read_response().value_or(WireMessage{});
}

const std::string kListener = "listener.127.0.0.1_0.ssl.";  // the address as it is written

TEST(DownstreamTls, IsHttpsForTheUpstream) {
  const Authorities tls;
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "", tls.listener()));
  WireConnection client = proxy.connect();
  ASSERT_TRUE(client.connect_tls("a.test"));
  EXPECT_EQ(client.peer_name(), "server");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(get(client).body, "fine");
  EXPECT_EQ(upstream.requests()[0].field("x-forwarded-proto"), "https");
  EXPECT_EQ(proxy.stat(kListener + "handshake"), 1);
  EXPECT_GT(proxy.stat(kListener + "certificate.a.test.expiration_unix_time_seconds"),
            1'700'000'000);
}

// The line is written when the client has gone already.
TEST(DownstreamTls, TheAccessLogKnowsTheClient) {
  constexpr const char* kOperators[] = {
      "DOWNSTREAM_TLS_VERSION",   "DOWNSTREAM_TLS_CIPHER",    "REQUESTED_SERVER_NAME",
      "DOWNSTREAM_PEER_SUBJECT",  "DOWNSTREAM_PEER_URI_SAN",  "DOWNSTREAM_PEER_DNS_SAN",
      "DOWNSTREAM_LOCAL_SUBJECT", "DOWNSTREAM_LOCAL_DNS_SAN", "DOWNSTREAM_LOCAL_URI_SAN"};
  std::string text, json;
  for (const std::string name : kOperators) {
    text += "%" + name + "% ";
    json += (json.empty() ? "" : ", ") + name + ": \"%" + name + "%\"";
  }
  const Authorities tls;
  const Pair known =
      tls.ca.issue({.name = "client",
                    .alt_names = {"URI:spiffe://test/a", "URI:spiffe://test/b", "DNS:c.test"}});
  for (const bool as_json : {false, true}) {
    const LogFile log;
    ScriptedUpstream upstream(silent());
    RunningProxy proxy(one_route(
        upstream.endpoint(), "", "",
        tls.listener(", ca: \"" + tls.ca_file + "\", verify_client: optional, min_version: 1.3") +
            ", " +
            log.setting(as_json ? "json: { " + json + " }" : "format: \"" + text + "\\n\"")));
    WireConnection client = proxy.connect();
    ASSERT_TRUE(client.connect_tls("a.test", &known));
    client.send(kGet);
    ASSERT_TRUE(upstream.wait_for_requests(1));
    client.reset();
    const std::vector<std::string> expected = {"TLSv1.3",
                                               "TLS_AES_128_GCM_SHA256",
                                               "a.test",
                                               "CN=client",
                                               "spiffe://test/a,spiffe://test/b",
                                               "c.test",
                                               "CN=server",
                                               "a.test",
                                               "-"};
    std::string line;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::string& value = expected[i];
      if (as_json) {
        const std::string shown = value == "-" ? "null" : "\"" + value + "\"";
        line += (line.empty() ? "{\"" : ",\"") + std::string(kOperators[i]) + "\":" + shown;
      } else {
        line += value + " ";
      }
    }
    if (as_json) line += "}";
    EXPECT_EQ(log.lines(1), std::vector<std::string>{line});

    WireConnection anonymous = proxy.connect();
    ASSERT_TRUE(anonymous.connect_tls());
    anonymous.send(kGet);
    ASSERT_TRUE(upstream.wait_for_requests(2));
    anonymous.reset();
    const std::string none =
        as_json ? "null,\"DOWNSTREAM_PEER_URI_SAN\":null" : " - - - - CN=server ";
    EXPECT_NE(log.lines(2).at(1).find(none), std::string::npos) << log.lines(2).at(1);
  }
}

TEST(DownstreamTls, RefusesPlainTextAndServesOn) {
  const Authorities tls;
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "", tls.listener()));
  WireConnection plain = proxy.connect();
  plain.send(kGet);
  EXPECT_TRUE(plain.wait_for_close());
  EXPECT_TRUE(proxy.stat_becomes(kListener + "connection_error", 1));
  WireConnection client = proxy.connect();
  ASSERT_TRUE(client.connect_tls());
  EXPECT_EQ(get(client).status(), 200);
}

TEST(DownstreamTls, AnAnswerThatEndsWithTheConnectionEndsWithCloseNotify) {
  const Authorities tls;
  ScriptedUpstream upstream(
      always("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nfine\r\n0\r\n\r\n"));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "",
                               tls.listener() + ", http_protocol_options: { accept_http_10: true, "
                                                "default_host_for_http_10: a.test }"));
  WireConnection client = proxy.connect();
  ASSERT_TRUE(client.connect_tls());
  client.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(client.read_response()->body, "fine");
  EXPECT_NE(SSL_get_shutdown(client.ssl()) & SSL_RECEIVED_SHUTDOWN, 0);
}

TEST(BothSides, CarryBodiesOfAnySize) {
  const Authorities tls;
  const std::string big(3'000'000, 'x');
  ScriptedUpstream upstream(over_tls(tls.server, always(http_response(200, big))));
  RunningProxy proxy(one_route(upstream.endpoint(), "", tls.cluster(), tls.listener()));
  WireConnection client = proxy.connect();
  ASSERT_TRUE(client.connect_tls());
  client.send("POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: " + std::to_string(big.size()) +
              "\r\n\r\n" + big);
  const auto answer = client.read_response();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, big);
  EXPECT_EQ(upstream.requests()[0].body, big);
  EXPECT_EQ(proxy.stat("cluster.app.ssl.handshake"), 1);
}

TEST(UpstreamTls, AServerThatNobodyTrustsIsAFailedConnectionWithItsReason) {
  const Authorities tls;
  const Authorities others;
  const LogFile log;
  ScriptedUpstream upstream(over_tls(others.server, always(http_response(200, "no"))));
  RunningProxy proxy(one_route(upstream.endpoint(), "", tls.cluster(),
                               log.setting("format: \"%RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% "
                                           "%UPSTREAM_TRANSPORT_FAILURE_REASON%\\n\"")));
  EXPECT_EQ(proxy.get().status(), 503);
  const std::string line = log.lines(1)[0];
  EXPECT_TRUE(line.starts_with(
      "UF upstream_reset_before_response_started{remote_connection_failure|TLS_error:|"))
      << line;
  EXPECT_TRUE(line.ends_with("} " + line.substr(line.rfind("TLS_error:|")))) << line;
  EXPECT_NE(line.rfind("CERTIFICATE_VERIFY_FAILED"), std::string::npos) << line;
  EXPECT_EQ(proxy.stat("cluster.app.ssl.fail_verify_error"), 1);
  EXPECT_TRUE(upstream.requests().empty());
}

TEST(UpstreamTls, AServerOfAnotherNameIsRefusedUnlessNamesDoNotMatter) {
  const Authorities tls;
  for (const auto& [more, status] :
       {std::pair(", sni: b.test", 503), std::pair(", sni: a.test", 200),
        std::pair(", sni: b.test, verify: chain", 200)}) {
    ScriptedUpstream upstream(over_tls(tls.server, always(http_response(200, "fine"))));
    RunningProxy proxy(one_route(upstream.endpoint(), "", tls.cluster(more)));
    EXPECT_EQ(proxy.get().status(), status) << more;
    EXPECT_EQ(proxy.stat("cluster.app.ssl.fail_verify_san"), status == 503 ? 1 : 0);
  }
}

TEST(UpstreamTls, ACutBodyIsNotTakenForAWholeOne) {
  const Authorities tls;
  for (const bool orderly : {true, false}) {
    ScriptedUpstream upstream(
        over_tls(tls.server, [orderly](ScriptedUpstream& self, WireConnection& connection, int) {
          self.receive(connection);
          connection.send("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhello");
          if (orderly) connection.finish_tls();
        }));
    RunningProxy proxy(one_route(upstream.endpoint(), "", tls.cluster()));
    WireConnection client = proxy.connect();
    client.send(kGet);
    const auto answer = client.read_response();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "hello");
    EXPECT_EQ(answer->complete, orderly);
  }
}

TEST(UpstreamTls, ConnectionsAreReused) {
  const Authorities tls;
  ScriptedUpstream upstream(over_tls(
      tls.server,
      in_turn({http_response(200, "one"), http_response(200, "two"),
               http_response(200, "three", "connection: close\r\n"), http_response(200, "four")})));
  RunningProxy proxy(one_route(upstream.endpoint(), "", tls.cluster()));
  for (const char* body : {"one", "two", "three", "four"}) EXPECT_EQ(proxy.get().body, body);
  EXPECT_EQ(upstream.connections(), 2u);
  EXPECT_EQ(proxy.stat("cluster.app.ssl.handshake"), 2);
}

TEST(AutoSni, AsksForTheHostOfTheRequestAndSharesNoConnectionBetweenHosts) {
  const Authorities tls;
  std::mutex mu;
  std::vector<std::string> names;
  ScriptedUpstream upstream(
      over_tls(tls.server, [&](ScriptedUpstream& self, WireConnection& connection, int number) {
        {
          const std::lock_guard lock(mu);
          const char* name = SSL_get_servername(connection.ssl(), TLSEXT_NAMETYPE_host_name);
          names.emplace_back(name ? name : "");
        }
        always(http_response(200, "fine"))(self, connection, number);
      }));
  const std::string options =
      ", upstream_http_protocol_options: { auto_sni: true }, http_protocol_options: {}";
  RunningProxy proxy(one_route(upstream.endpoint(), "", tls.cluster(", verify: chain") + options));
  for (const char* host : {"a.test:8443", "b.test", "a.test:8443", "127.0.0.1"}) {
    EXPECT_EQ(proxy.ask("GET / HTTP/1.1\r\nhost: " + std::string(host) + "\r\n\r\n").status(), 200);
  }
  const std::lock_guard lock(mu);
  EXPECT_EQ(names, (std::vector<std::string>{"a.test", "b.test", ""}));
}

TEST(MutualTls, LetsInWhomTheAuthorityKnows) {
  const Authorities tls;
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(
      one_route(upstream.endpoint(), "", "", tls.listener(", ca: \"" + tls.ca_file + "\"")));
  const Pair known = tls.ca.issue({.name = "client"});
  const Pair stranger = self_signed({.name = "client"});
  for (const auto& [pair, status] : {std::pair(&known, 200), std::pair(&stranger, 0),
                                     std::pair(static_cast<const Pair*>(nullptr), 0)}) {
    WireConnection client = proxy.connect();
    (void)client.connect_tls("a.test", pair);  // with TLS 1.3 the refusal comes afterwards
    EXPECT_EQ(get(client).status(), status);
  }
  EXPECT_EQ(proxy.stat(kListener + "handshake"), 1);
  EXPECT_EQ(proxy.stat(kListener + "fail_verify_error"), 1);
  EXPECT_EQ(proxy.stat(kListener + "fail_verify_no_cert"), 1);
}

TEST(MutualTls, ShowsOurCertificateUpstream) {
  const Authorities tls;
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  const std::string pair = ", cert: \"" + tls.cert + "\", key: \"" + tls.key + "\"";
  for (const auto& [more, status] : {std::pair(pair, 200), std::pair(std::string(), 503)}) {
    const std::string yaml =
        "listeners:\n"
        "- { name: behind, address: \"127.0.0.1:0\", " +
        tls.listener(", ca: \"" + tls.ca_file + "\"") +
        ", routes: [ { match: { prefix: / }, direct_response: { status: 200 } } ] }\n";
    RunningProxy behind(yaml);
    RunningProxy front(
        one_route("\"127.0.0.1:" + std::to_string(behind.port()) + "\"", "", tls.cluster(more)));
    EXPECT_EQ(front.get().status(), status) << more;
  }
}

TEST(Rotation, TakesNewCertificatesUnderLoadWithoutAFailedRequest) {
  const Authorities tls;
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "", tls.listener()));
  WireConnection steady = proxy.connect();
  ASSERT_TRUE(steady.connect_tls());
  std::atomic<bool> stop{false};
  std::atomic<int> good{0};
  std::atomic<int> bad{0};
  std::thread load([&] {
    while (!stop) {
      WireConnection client = proxy.connect();
      const bool fine = client.connect_tls() && get(client).status() == 200;
      ++(fine ? good : bad);
    }
  });
  const std::string updates =
      "listener.127.0.0.1_0.server_ssl_socket_factory.ssl_context_update_by_sds";
  const Pair next = tls.ca.issue({.name = "next"});
  tls.folder.write("server.pem", next.certificate);  // the key follows
  EXPECT_TRUE(proxy.stat_becomes(kListener + "key_rotation_failed", 1));
  tls.folder.write("server.key", next.key);
  EXPECT_TRUE(proxy.stat_becomes(updates, 1));
  stop = true;
  load.join();
  EXPECT_EQ(bad, 0);
  EXPECT_GT(good, 0);
  EXPECT_EQ(get(steady).status(), 200);
  WireConnection client = proxy.connect();
  ASSERT_TRUE(client.connect_tls());
  EXPECT_EQ(client.peer_name(), "next");
}

TEST(HandshakeTimeout, EndsWhoNeverFinishesIt) {
  const Authorities tls;
  const std::string chain =
      "static_resources: { listeners: [ { name: in, address: { socket_address: { address: "
      "127.0.0.1, port_value: 0 } }, filter_chains: [ { transport_socket_connect_timeout: 0.05s, "
      "transport_socket: { name: tls, typed_config: { \"@type\": "
      "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext, "
      "common_tls_context: { tls_certificates: [ { certificate_chain: { filename: \"" +
      tls.cert + "\" }, private_key: { filename: \"" + tls.key +
      "\" } } ] } } }, filters: [ { name: http, typed_config: { \"@type\": "
      "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3."
      "HttpConnectionManager, stat_prefix: in, route_config: { virtual_hosts: [] } } } ] } ] } ] }";
  RunningProxy proxy(chain);
  WireConnection client = proxy.connect();
  EXPECT_TRUE(client.wait_for_close());
}

TEST(Drain, DoesNotWaitForHandshakes) {
  const Authorities tls;
  RunningProxy proxy(one_route("\"127.0.0.1:1\"", "", "", tls.listener()),
                     {.drain_time = std::chrono::seconds(30)});
  WireConnection silent = proxy.connect();
  EXPECT_TRUE(proxy.stat_becomes("http.in.downstream_cx_active", 1));
  proxy.stop();
  EXPECT_TRUE(silent.wait_for_close());
  proxy.wait();
}

}  // namespace
}  // namespace damper::tests
