// Expect: 100-continue, interim responses, and answers that come before the request has ended.
#include <gtest/gtest.h>

#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

constexpr const char* kExpecting =
    "PUT / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n";

TEST(Expect, IsAnsweredByUsOnceAConnectionStandsAndGoesNoFurther) {
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(one_route(upstream.endpoint()));
  WireConnection client = proxy.connect();
  client.send(kExpecting);
  EXPECT_TRUE(client.read_some().starts_with("HTTP/1.1 100 "));
  client.send("hello");
  EXPECT_EQ(client.read_response()->status(), 200);
  EXPECT_EQ(upstream.requests()[0].body, "hello");
  EXPECT_EQ(upstream.requests()[0].field("expect"), std::nullopt);
}

TEST(Expect, GetsTheFailureWithoutContinueWhereNoConnectionCanBeMade) {
  RefusingPort dead;
  RunningProxy proxy(one_route(dead.endpoint()));
  WireConnection client = proxy.connect();
  client.send(kExpecting);
  std::vector<int> interim;
  EXPECT_EQ(client.read_response(false, &interim)->status(), 503);
  EXPECT_TRUE(interim.empty());
}

TEST(Expect, IsAnsweredOnceForAllAttempts) {
  ScriptedUpstream upstream(in_turn({http_response(503, ""), http_response(200, "fine")}));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx")));
  WireConnection client = proxy.connect();
  client.send(std::string(kExpecting) + "hello");
  std::vector<int> interim;
  EXPECT_EQ(client.read_response(false, &interim)->status(), 200);
  EXPECT_EQ(interim, std::vector<int>{100});
  EXPECT_EQ(upstream.requests()[1].body, "hello");
}

TEST(Expect, MayBePassedThrough) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int) {
    const std::string head = connection.read_some();
    EXPECT_NE(head.find("xpect: 100-continue"), std::string::npos) << head;
    connection.send("HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_EQ(connection.read_some(), "hello");
    connection.send(http_response(200, "fine"));
    self.receive(connection);
  });
  RunningProxy proxy(one_route(upstream.endpoint(), "", "", "proxy_100_continue: true"));
  WireConnection client = proxy.connect();
  client.send(kExpecting);
  EXPECT_TRUE(client.read_some().starts_with("HTTP/1.1 100 "));
  client.send("hello");
  EXPECT_EQ(client.read_response()->status(), 200);
}

TEST(Interim, OtherResponsesPassAndDoNotStopARetry) {
  ScriptedUpstream upstream(
      in_turn({"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" + http_response(503, ""),
               http_response(200, "fine")}));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx")));
  WireConnection client = proxy.connect();
  client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  std::vector<int> interim;
  EXPECT_EQ(client.read_response(false, &interim)->status(), 200);
  EXPECT_EQ(interim, std::vector<int>{103});
}

TEST(EarlyResponse, IsDeliveredWhileTheUploadRuns) {
  ScriptedUpstream upstream([](ScriptedUpstream&, WireConnection& connection, int) {
    connection.read_some();
    connection.send(http_response(413, "too much"));
    connection.wait_for_close();
  });
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx")));
  WireConnection client = proxy.connect();
  client.send("PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\nbegin");
  const auto answer = client.read_response();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status(), 413);
  EXPECT_EQ(answer->body, "too much");
  EXPECT_TRUE(client.wait_for_close());
  EXPECT_TRUE(proxy.stat_becomes("cluster.app.upstream_cx_active", 0));
}

TEST(EarlyResponse, SurvivesAnUpstreamThatThenResets) {
  ScriptedUpstream upstream([](ScriptedUpstream&, WireConnection& connection, int) {
    connection.read_some();
    connection.send(http_response(403, "no"));
  });
  RunningProxy proxy(one_route(upstream.endpoint()));
  WireConnection client = proxy.connect();
  client.send("PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000000\r\n\r\n");
  const std::string chunk(100'000, 'x');
  for (int i = 0; i < 50 && client.send(chunk); ++i) {
  }
  const auto answer = client.read_response();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status(), 403);
}

TEST(EarlyResponse, ThatStreamsMayBeCutByAFilterThatRefusesTheRestOfTheRequest) {
  ScriptedUpstream upstream([](ScriptedUpstream&, WireConnection& connection, int) {
    connection.read_some();
    connection.send("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nearly");
    connection.wait_for_close();
  });
  RunningProxy proxy(
      one_route(upstream.endpoint(), "", "", "filters: [ buffer: { max_request_bytes: 8 } ]"));
  WireConnection client = proxy.connect();
  client.send("PUT / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n");
  EXPECT_NE(client.read_some().find(" 200 "), std::string::npos);
  client.send("a\r\n0123456789\r\n");
  EXPECT_TRUE(client.wait_for_close());
  EXPECT_EQ(proxy.admin("GET", "/ready").status(), 200);
}

}  // namespace
}  // namespace damper::tests
