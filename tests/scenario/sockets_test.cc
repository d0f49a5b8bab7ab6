// Addresses of every kind, several workers, and names.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

WireConnection connect_to_path(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return WireConnection(fd);
}

bool has_ipv6() {
  const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const bool bound = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return bound;
}

std::string serving(const std::string& address, const std::string& endpoint) {
  return "listeners:\n- { name: in, address: \"" + address +
         "\", routes: [ { match: { prefix: / }, route: { cluster: app } } ] }\nclusters:\n- { "
         "name: "
         "app, endpoints: [ \"" +
         endpoint + "\" ] }\n";
}

TEST(Sockets, AUnixSocketMayBeListenedOnAndCalled) {
  TemporaryPath path;
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy inner(serving("unix:" + path.text(), upstream.endpoint()));
  RunningProxy outer(serving("127.0.0.1:0", "unix:" + path.text()));
  EXPECT_EQ(outer.get().body, "fine");

  WireConnection direct = connect_to_path(path.text());
  direct.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  EXPECT_EQ(direct.read_response()->body, "fine");
}

TEST(Sockets, AUnixPeerIsTrusted) {
  TemporaryPath path;
  ScriptedUpstream upstream(in_turn({http_response(503, ""), http_response(200, "fine")}));
  RunningProxy proxy(serving("unix:" + path.text(), upstream.endpoint()));
  WireConnection client = connect_to_path(path.text());
  client.send("GET / HTTP/1.1\r\nhost: a\r\nx-envoy-retry-on: 5xx\r\n\r\n");
  EXPECT_EQ(client.read_response()->status(), 200);
}

TEST(Sockets, Ipv6MayBeListenedOnAndCalled) {
  if (!has_ipv6()) GTEST_SKIP() << "no IPv6 here";
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy inner(serving("[::1]:0", upstream.endpoint()));
  RunningProxy outer(serving("127.0.0.1:0", "[::1]:" + std::to_string(inner.port())));
  EXPECT_EQ(outer.get().body, "fine");
}

TEST(Sockets, AListenerMayHaveSeveralAddresses) {
  TemporaryPath path;
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "",
                               "additional_addresses: [ \"unix:" + path.text() + "\" ]"));
  EXPECT_EQ(proxy.get().status(), 200);
  WireConnection client = connect_to_path(path.text());
  client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  EXPECT_EQ(client.read_response()->status(), 200);
}

TEST(Sockets, AnAddressThatIsTakenIsAnError) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  auto bootstrap = std::make_shared<config::Bootstrap>();
  config::Listener listener;
  listener.name = "in";
  listener.address.host = "127.0.0.1";
  listener.address.port = upstream.port();
  bootstrap->listeners.push_back(listener);
  server::Server server({}, bootstrap);
  const Status started = server.start();
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().detail.find("listener \"in\""), std::string::npos)
      << started.error().detail;
}

TEST(Workers, ShareAListener) {
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  TemporaryPath path;
  RunningProxy proxy(one_route(upstream.endpoint(), "", "",
                               "additional_addresses: [ \"unix:" + path.text() + "\" ]"),
                     {.concurrency = 2, .drain_time = Duration::zero()});
  std::vector<WireConnection> clients;
  for (int i = 0; i < 40; ++i) {
    clients.push_back(i % 2 == 0 ? proxy.connect() : connect_to_path(path.text()));
    clients.back().send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  }
  for (WireConnection& client : clients) {
    const auto answer = client.read_response();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "fine");
  }
  EXPECT_EQ(proxy.stat("http.in.downstream_cx_active"), 40);
}

TEST(Workers, ShareTheLimitsOfAClusterAndAListener) {
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(
      one_route(upstream.endpoint(), "",
                "circuit_breakers: { thresholds: [ { max_requests: 3 } ] }", "max_connections: 10"),
      {.concurrency = 2, .drain_time = Duration::zero()});
  std::vector<WireConnection> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(proxy.connect());
    clients.back().send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  }
  EXPECT_TRUE(proxy.stat_becomes("cluster.app.upstream_rq_503", 7));
  EXPECT_TRUE(upstream.wait_for_requests(3));
  EXPECT_TRUE(proxy.connect().wait_for_close());
}

TEST(Names, AreResolvedBeforeAnythingIsAccepted) {
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  const std::string name = "\"localhost:" + std::to_string(upstream.port()) + "\"";
  RunningProxy proxy(one_route(name, "", "type: STRICT_DNS, dns_lookup_family: V4_ONLY"),
                     {.concurrency = 2, .drain_time = Duration::zero()});
  for (int i = 0; i < 10; ++i) EXPECT_EQ(proxy.get().status(), 200);
  EXPECT_EQ(proxy.stat("cluster.app.membership_total"), 1);
}

}  // namespace
}  // namespace damper::tests
