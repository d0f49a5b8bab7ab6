// The access log: one line for each request, whatever ended it, with the flag of its cause.
#include <gtest/gtest.h>

#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

using Lines = std::vector<std::string>;

constexpr const char* kFormat =
    "format: \"%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% "
    "%UPSTREAM_REQUEST_ATTEMPT_COUNT%\\n\"";
constexpr const char* kGet = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";

TEST(AccessLog, AClientThatLeavesIsDC) {
  LogFile log;
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx,reset"), "", log.setting(kFormat)));
  WireConnection client = proxy.connect();
  client.send(kGet);
  ASSERT_TRUE(upstream.wait_for_requests(1));
  client.close();
  EXPECT_EQ(log.lines(1), Lines{"0 DC downstream_remote_disconnect 1"});
  EXPECT_TRUE(upstream.wait_for_scripts_to_end());  // its attempt was cancelled
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_5xx"), 0);
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_5xx"), 0);
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_retry"), 0);
}

TEST(AccessLog, AClientThatLeavesDuringAWaitIsDCToo) {
  LogFile log;
  ScriptedUpstream upstream(always(http_response(503, "", "retry-after: 10\r\n")));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx"), "", log.setting(kFormat)));
  WireConnection client = proxy.connect();
  client.send(kGet);
  ASSERT_TRUE(proxy.stat_becomes("cluster.app.retries_waiting", 1));
  client.reset();
  EXPECT_EQ(log.lines(1), Lines{"0 DC downstream_remote_disconnect 1"});
  EXPECT_EQ(proxy.stat("cluster.app.retries_waiting"), 0);
}

TEST(AccessLog, AHalfClosedClientHasLeft) {
  LogFile log;
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(upstream.endpoint(), "", "", log.setting(kFormat)));
  WireConnection client = proxy.connect();
  client.send(kGet);
  ASSERT_TRUE(upstream.wait_for_requests(1));
  client.half_close();
  EXPECT_TRUE(client.wait_for_close());
  EXPECT_EQ(log.lines(1), Lines{"0 DC downstream_remote_disconnect 1"});
}

TEST(AccessLog, AMalformedRequestIsDPE) {
  LogFile log;
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "",
                               log.setting("format: \"%RESPONSE_CODE% %RESPONSE_FLAGS% "
                                           "%UPSTREAM_REQUEST_ATTEMPT_COUNT%\\n\"")));
  EXPECT_EQ(proxy.ask("BAD\r\n\r\n").status(), 400);
  EXPECT_EQ(log.lines(1), Lines{"400 DPE 0"});
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_4xx"), 1);
}

TEST(AccessLog, AnUpstreamThatDiesTwiceIsURXAndUC) {
  LogFile log;
  ScriptedUpstream upstream(in_turn({""}));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx,reset"), "", log.setting(kFormat)));
  proxy.get();
  EXPECT_EQ(log.lines(1),
            Lines{"503 URX,UC upstream_reset_before_response_started{connection_termination} 2"});
}

TEST(AccessLog, OtherCausesHaveTheirFlags) {
  struct Row {
    ScriptedUpstream::Script script;
    std::string route;
    std::string line;
  };
  const ScriptedUpstream::Script cut = [](ScriptedUpstream& self, WireConnection& connection, int) {
    self.receive(connection);
    connection.send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf");
  };
  const ScriptedUpstream::Script stalls = [](ScriptedUpstream& self, WireConnection& connection,
                                             int) {
    self.receive(connection);
    connection.send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf");
    connection.wait_for_close();
  };
  const Row rows[] = {
      {always(http_response(200, "")), "", "200 - via_upstream 1"},
      {always(http_response(503, "")), "", "503 - via_upstream 1"},
      {silent(), "timeout: 50ms", "504 UT response_timeout 1"},
      {stalls, "timeout: 50ms", "200 UT response_timeout 1"},
      {cut, "", "200 UC upstream_reset_after_response_started{connection_termination} 1"},
  };
  for (const Row& row : rows) {
    LogFile log;
    ScriptedUpstream upstream(row.script);
    RunningProxy proxy(one_route(upstream.endpoint(), row.route, "", log.setting(kFormat)));
    proxy.get();
    EXPECT_EQ(log.lines(1), Lines{row.line});
  }
}

TEST(AccessLog, NonsenseFromTheUpstreamIsUPE) {
  LogFile log;
  ScriptedUpstream upstream(always("nonsense\r\n\r\n"));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "",
                               log.setting("format: \"%RESPONSE_CODE% %RESPONSE_FLAGS%\\n\"")));
  EXPECT_EQ(proxy.get().status(), 502);
  EXPECT_EQ(log.lines(1), Lines{"502 UPE"});
}

TEST(AccessLog, ARefusedConnectionIsUF) {
  LogFile log;
  RefusingPort dead;
  RunningProxy proxy(one_route(dead.endpoint(), "", "",
                               log.setting("format: \"%RESPONSE_CODE% %RESPONSE_FLAGS%\\n\"")));
  EXPECT_EQ(proxy.get().status(), 503);
  EXPECT_EQ(log.lines(1), Lines{"503 UF"});
}

TEST(AccessLog, RequestsWithoutARouteAreLoggedToo) {
  LogFile log;
  RunningProxy proxy("listeners:\n- { name: in, address: \"127.0.0.1:0\", " + log.setting(kFormat) +
                     ", routes: [ { match: { path: /a }, direct_response: { status: 200 } } ] }\n");
  proxy.get("/");
  proxy.get("/a");
  EXPECT_EQ(log.lines(2), (Lines{"404 NR route_not_found 0", "200 - direct_response 0"}));
}

TEST(AccessLog, HasOneLineForEachRequestOfEveryKind) {
  LogFile log;
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int number) {
    while (self.receive(connection)) {
      if (number % 3 == 2) return;
      connection.send(http_response(number % 3 == 0 ? 200 : 503, "x"));
    }
  });
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx,reset"), "",
                               log.setting("format: \"%STREAM_ID%\\n\"")),
                     {.concurrency = 2, .drain_time = Duration::zero()});
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&proxy, i] {
      for (int k = 0; k < 25; ++k) {
        WireConnection client = proxy.connect();
        client.send(kGet);
        if ((i + k) % 4 != 0) client.read_response();
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_TRUE(proxy.stat_becomes("http.in.downstream_rq_active", 0));
  const long counted = proxy.stat("http.in.downstream_rq_total");
  Lines lines = log.lines(static_cast<std::size_t>(counted));
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(counted));
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(std::unique(lines.begin(), lines.end()), lines.end());
}

TEST(AccessLog, MayBeJson) {
  LogFile log;
  ScriptedUpstream upstream(always(http_response(200, "body")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "",
                               log.setting("json: { code: \"%RESPONSE_CODE%\", sent: "
                                           "\"%BYTES_SENT%\", path: \"%REQ(:PATH)%\", none: "
                                           "\"%RETRY_VERDICT%\" }")));
  proxy.get("/a\"b");
  const Lines lines = log.lines(1);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], R"({"code":200,"sent":4,"path":"/a\"b","none":null})");
}

TEST(AccessLog, FiltersChooseTheirRequests) {
  LogFile log;
  ScriptedUpstream upstream(in_turn({http_response(200, ""), http_response(500, "")}));
  RunningProxy proxy(one_route(
      upstream.endpoint(), "", "",
      log.setting("format: \"%RESPONSE_CODE%\\n\", filter: { status_code_filter: { comparison: { "
                  "op: GE, value: { default_value: 500 } } } }")));
  for (int i = 0; i < 3; ++i) proxy.get();
  EXPECT_EQ(log.lines(2), (Lines{"500", "500"}));
}

TEST(AccessLog, IsOpenedAnewOnRequest) {
  LogFile log;
  TemporaryPath moved;
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "", log.setting("format: \"x\\n\"")));
  proxy.get();
  EXPECT_EQ(log.lines(1).size(), 1u);
  ASSERT_EQ(std::rename(log.path().c_str(), moved.text().c_str()), 0);
  EXPECT_EQ(proxy.admin("POST", "/reopen_logs").status(), 200);
  proxy.get();
  EXPECT_EQ(log.lines(1).size(), 1u);
}

}  // namespace
}  // namespace damper::tests
