// Request bodies and retries: what is kept is sent again, what is too large is not, nothing is
// lost.
#include <gtest/gtest.h>

#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

std::string put(const std::string& body) {
  return "PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

// With a limit of ten bytes for replay copies.
std::string small_copies(const std::string& endpoints, const std::string& policy) {
  return "listeners:\n- { name: in, address: \"127.0.0.1:0\", routes: [ { match: { prefix: / }, "
         "request_body_buffer_limit: 10, route: { cluster: app, " +
         policy + " } } ] }\nclusters:\n- { name: app, endpoints: [" + endpoints + "] }\n";
}

TEST(Replay, TheBodyIsSentAgain) {
  for (const std::string& request :
       {put("hello"), std::string("PUT / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
                                  "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n")}) {
    ScriptedUpstream upstream(in_turn({http_response(503, ""), http_response(200, "fine")}));
    RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx")));
    EXPECT_EQ(proxy.ask(request).status(), 200);
    ASSERT_EQ(upstream.requests().size(), 2u);
    EXPECT_EQ(upstream.requests()[0].body, "hello");
    EXPECT_EQ(upstream.requests()[1].body, "hello");
  }
}

TEST(Replay, ABodyAsLargeAsTheLimitIsStillKept) {
  for (const auto& [body, status, requests] :
       {std::tuple{"0123456789", 200, 2u}, std::tuple{"0123456789a", 503, 1u}}) {
    SCOPED_TRACE(body);
    ScriptedUpstream upstream(in_turn({http_response(503, ""), http_response(200, "")}));
    RunningProxy proxy(small_copies(upstream.endpoint(), retry("5xx")));
    EXPECT_EQ(proxy.ask(put(body)).status(), status);
    EXPECT_EQ(upstream.requests().size(), requests);
    EXPECT_EQ(upstream.requests()[0].body, body);
  }
}

TEST(Replay, ALostCopyIsTheVerdictAndIsCounted) {
  ScriptedUpstream upstream(always(http_response(503, "busy")));
  RunningProxy proxy(small_copies(upstream.endpoint(), retry("5xx")));
  const WireMessage answer = proxy.ask(put(std::string(1000, 'x')));
  EXPECT_EQ(answer.body, "busy");
  EXPECT_EQ(answer.field("x-damper-retry"), std::nullopt);  // the layer above may still have it
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.body_lost"), 1);
  EXPECT_EQ(proxy.stat("cluster.app.retry_or_shadow_abandoned"), 1);
}

TEST(Replay, ALargeBodyWaitsForAConnectionAndIsNotLost) {
  RefusingPort dead;
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(
      one_route(dead.endpoint() + ", " + upstream.endpoint(), retry("connect-failure")));
  const std::string body(3'000'000, 'x');
  for (int i = 0; i < 2; ++i) {  // one of them meets the dead host first
    EXPECT_EQ(proxy.ask(put(body)).status(), 200);
  }
  EXPECT_GE(proxy.stat("cluster.app.upstream_rq_retry"), 1);
  for (const WireMessage& request : upstream.requests()) EXPECT_EQ(request.body, body);
}

TEST(Replay, WithoutRetriesALargeBodyIsStreamed) {
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(one_route(upstream.endpoint()));
  const std::string body(3'000'000, 'x');
  EXPECT_EQ(proxy.ask(put(body)).status(), 200);
  EXPECT_EQ(upstream.requests()[0].body, body);
}

TEST(Replay, WhatComesDuringTheWaitBelongsToTheNextAttempt) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int number) {
    if (number == 0) {
      connection.read_some();
      connection.send(http_response(503, "", "grpc-retry-pushback-ms: 200\r\n"));
      connection.wait_for_close();
      return;
    }
    self.receive(connection);
    connection.send(http_response(200, "fine"));
  });
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx")));
  WireConnection client = proxy.connect();
  client.send("PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhello");
  ASSERT_TRUE(proxy.stat_becomes("cluster.app.retries_waiting", 1));
  client.send("world");
  EXPECT_EQ(client.read_response()->status(), 200);
  EXPECT_EQ(upstream.requests()[0].body, "helloworld");
}

}  // namespace
}  // namespace damper::tests
