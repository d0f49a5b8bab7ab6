// HTTP/1 as clients and upstreams speak it: versions, methods and statuses without a body,
// trailers, upgrades, pipelining.
#include <gtest/gtest.h>

#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

TEST(Http10, IsRefusedWith426UnlessAccepted) {
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(one_route(upstream.endpoint()));
  EXPECT_EQ(proxy.ask("GET / HTTP/1.0\r\nhost: a\r\n\r\n").status(), 426);
}

TEST(Http10, IsAnsweredWithoutChunksAndClosed) {
  ScriptedUpstream upstream(
      always("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nfine\r\n0\r\n\r\n"));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "",
                               "http_protocol_options: { accept_http_10: true, "
                               "default_host_for_http_10: old.example }"));
  WireConnection client = proxy.connect();
  client.send("GET / HTTP/1.0\r\n\r\n");
  const auto answer = client.read_response();
  EXPECT_EQ(answer->status(), 200);
  EXPECT_EQ(answer->body, "fine");
  EXPECT_EQ(answer->field("transfer-encoding"), std::nullopt);
  EXPECT_TRUE(client.wait_for_close());
  EXPECT_EQ(upstream.requests()[0].field("host"), "old.example");
  EXPECT_TRUE(upstream.requests()[0].start_line.ends_with("HTTP/1.1"));
}

TEST(Bodiless, HeadHasALengthAndNoBody) {
  ScriptedUpstream upstream(always("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n"));
  RunningProxy proxy(one_route(upstream.endpoint()));
  WireConnection client = proxy.connect();
  for (int i = 0; i < 2; ++i) {
    client.send("HEAD / HTTP/1.1\r\nhost: a\r\n\r\n");
    const auto answer = client.read_response(true);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->field("content-length"), "1000");
  }
  EXPECT_EQ(upstream.connections(), 1u);
}

TEST(Bodiless, NoContentAndNotModifiedLeaveTheConnectionUsable) {
  ScriptedUpstream upstream(
      in_turn({"HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Not Modified\r\netag: x\r\n\r\n",
               http_response(200, "fine")}));
  RunningProxy proxy(one_route(upstream.endpoint()));
  WireConnection client = proxy.connect();
  for (const int status : {204, 304, 200}) {
    client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    EXPECT_EQ(client.read_response()->status(), status);
  }
  EXPECT_EQ(upstream.connections(), 1u);
}

TEST(Bodiless, ARetriedHeadLeavesTheConnectionUsable) {
  ScriptedUpstream upstream(in_turn({"HTTP/1.1 503 X\r\ncontent-length: 9\r\n\r\n",
                                     "HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\n"}));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx")));
  EXPECT_EQ(proxy.ask("HEAD / HTTP/1.1\r\nhost: a\r\n\r\n").status(), 200);
  EXPECT_EQ(upstream.connections(), 1u);
}

TEST(Response, WithoutALengthEndsWithItsConnection) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int) {
    self.receive(connection);
    connection.send("HTTP/1.1 200 OK\r\n\r\nuntil the end");
  });
  RunningProxy proxy(one_route(upstream.endpoint()));
  const WireMessage answer = proxy.get();
  EXPECT_EQ(answer.body, "until the end");
  EXPECT_TRUE(answer.complete);
}

TEST(Response, ThatEndsShortIsCutForTheClientToo) {
  for (const std::string head : {"content-length: 10", "transfer-encoding: chunked"}) {
    ScriptedUpstream upstream([head](ScriptedUpstream& self, WireConnection& connection, int) {
      self.receive(connection);
      connection.send("HTTP/1.1 200 OK\r\n" + head + "\r\n\r\n5\r\n");
    });
    RunningProxy proxy(one_route(upstream.endpoint(), retry("reset,5xx")));
    EXPECT_FALSE(proxy.get().complete) << head;
    EXPECT_EQ(upstream.requests().size(), 1u);
  }
}

constexpr const char* kTrailers = "http_protocol_options: { enable_trailers: true }";
constexpr const char* kWithTrailers =
    "transfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nx-sum: 42\r\n\r\n";

TEST(Trailers, PassBothWaysWhereEnabled) {
  ScriptedUpstream upstream(always(std::string("HTTP/1.1 200 OK\r\n") + kWithTrailers));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx"), kTrailers, kTrailers));
  const WireMessage answer =
      proxy.ask(std::string("PUT / HTTP/1.1\r\nhost: a\r\n") + kWithTrailers);
  const std::vector<std::pair<std::string, std::string>> sum = {{"x-sum", "42"}};
  EXPECT_EQ(answer.trailers, sum);
  EXPECT_EQ(upstream.requests()[0].trailers, sum);
  EXPECT_EQ(upstream.requests()[0].body, "body");
}

TEST(Trailers, OfTheRequestAreSentWithEveryAttempt) {
  ScriptedUpstream upstream(in_turn({http_response(503, ""), http_response(200, "")}));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx"), kTrailers, kTrailers));
  EXPECT_EQ(proxy.ask(std::string("PUT / HTTP/1.1\r\nhost: a\r\n") + kWithTrailers).status(), 200);
  for (const WireMessage& attempt : upstream.requests()) {
    EXPECT_EQ(attempt.body, "body");
    EXPECT_EQ(attempt.trailers.size(), 1u);
  }
}

TEST(Trailers, AreDroppedWhereNot) {
  ScriptedUpstream upstream(always(std::string("HTTP/1.1 200 OK\r\n") + kWithTrailers));
  RunningProxy proxy(one_route(upstream.endpoint()));
  const WireMessage answer =
      proxy.ask(std::string("PUT / HTTP/1.1\r\nhost: a\r\n") + kWithTrailers);
  EXPECT_TRUE(answer.complete);
  EXPECT_TRUE(answer.trailers.empty());
  EXPECT_TRUE(upstream.requests()[0].trailers.empty());
}

constexpr const char* kUpgrade =
    "GET /chat HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
constexpr const char* kSwitch =
    "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";

TEST(Upgrade, CarriesBytesBothWaysUntilOneSideEnds) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int) {
    const auto request = self.receive(connection);
    EXPECT_EQ(request->field("upgrade"), "websocket");
    connection.send(kSwitch);
    connection.send("greeting");
    EXPECT_EQ(connection.read_some(), "ping");
    connection.send("pong");
    connection.wait_for_close();
  });
  RunningProxy proxy(
      one_route(upstream.endpoint(), "", "", "upgrade_configs: [ { upgrade_type: websocket } ]"));
  WireConnection client = proxy.connect();
  client.send(kUpgrade);
  const auto answer = client.read_response();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status(), 101);
  EXPECT_EQ(answer->field("upgrade"), "websocket");
  EXPECT_EQ(client.read_some(), "greeting");
  client.send("ping");
  EXPECT_EQ(client.read_some(), "pong");
  client.close();
  EXPECT_TRUE(upstream.wait_for_scripts_to_end());
  EXPECT_TRUE(proxy.stat_becomes("http.in.downstream_rq_active", 0));
}

TEST(Upgrade, ARefusalOfTheUpstreamIsDelivered) {
  ScriptedUpstream upstream(always(http_response(403, "no")));
  RunningProxy proxy(
      one_route(upstream.endpoint(), "", "", "upgrade_configs: [ { upgrade_type: websocket } ]"));
  const WireMessage answer = proxy.ask(kUpgrade);
  EXPECT_EQ(answer.status(), 403);
  EXPECT_EQ(answer.body, "no");
}

TEST(Upgrade, IsRefusedWhereItIsNotAllowed) {
  ScriptedUpstream upstream(always(kSwitch));
  RunningProxy proxy(one_route(upstream.endpoint()));
  EXPECT_EQ(proxy.ask(kUpgrade).status(), 403);
  EXPECT_EQ(upstream.requests().size(), 0u);
}

TEST(Pipelining, AnswersComeInTheOrderOfTheRequests) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int) {
    while (const auto request = self.receive(connection)) {
      connection.send(http_response(200, request->target()));
    }
  });
  RunningProxy proxy(one_route(upstream.endpoint()));
  WireConnection client = proxy.connect();
  std::string requests;
  for (int i = 0; i < 20; ++i) {
    requests += "GET /" + std::to_string(i) + " HTTP/1.1\r\nhost: a\r\n\r\n";
  }
  client.send(requests);
  for (int i = 0; i < 20; ++i) {
    const auto answer = client.read_response();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "/" + std::to_string(i));
  }
}

TEST(Pipelining, AfterABodyWorksToo) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int) {
    while (const auto request = self.receive(connection)) {
      connection.send(http_response(200, request->body));
    }
  });
  RunningProxy proxy(one_route(upstream.endpoint()));
  WireConnection client = proxy.connect();
  client.send(
      "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\none"
      "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n");
  EXPECT_EQ(client.read_response()->body, "one");
  EXPECT_EQ(client.read_response()->body, "two");
}

TEST(Request, ThatCannotBeReadIsAnsweredAndTheConnectionClosed) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint()));
  for (const std::string request :
       {"BAD\r\n\r\n", "GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n"}) {
    WireConnection client = proxy.connect();
    client.send(request);
    EXPECT_EQ(client.read_response()->status(), 400) << request;
    EXPECT_TRUE(client.wait_for_close());
  }
  EXPECT_EQ(upstream.requests().size(), 0u);
}

TEST(Request, WithAHeadThatIsTooLargeGets431) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "", "max_request_headers_kb: 1"));
  EXPECT_EQ(proxy.get("/", "x-large: " + std::string(2000, 'x') + "\r\n").status(), 431);
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_too_large"), 1);
}

TEST(Request, ConnectIsRefused) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint()));
  EXPECT_EQ(proxy.ask("CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n").status(), 405);
}

}  // namespace
}  // namespace damper::tests
