// HTTP/2 with upstreams: what a RST_STREAM and a GOAWAY say about a request, and how many streams a
// connection takes.
#include <gtest/gtest.h>

#include "tests/support/gauges.h"
#include "tests/support/h2_peer.h"
#include "tests/support/h2_wire.h"
#include "tests/support/log_file.h"

namespace damper::tests {
namespace {

constexpr std::uint32_t kNoError = NGHTTP2_NO_ERROR;
constexpr std::uint32_t kInternal = NGHTTP2_INTERNAL_ERROR;

std::string http2_route(const ScriptedUpstream& upstream, const std::string& route = "",
                        const std::string& listener = "") {
  return one_route(upstream.endpoint(), route, "http: 2", listener);
}

// The first request gets what `fail` does, every other "fine".
ScriptedUpstream::Script fails_first(
    std::function<void(ScriptedUpstream&, H2Server&, const H2Message&)> fail) {
  return [fail](ScriptedUpstream& self, WireConnection& connection, int) {
    H2Server server(self, connection);
    while (const auto request = server.receive()) {
      if (self.requests().size() == 1) {
        fail(self, server, *request);
      } else {
        server.answer(request->id, response(200, "fine"));
      }
    }
  };
}

std::string ask(const std::string& method) {
  return method + " / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nhi";
}

TEST(Http2Refusal, IsRepeatedWhateverTheMethodOnTheSameConnection) {
  ScriptedUpstream upstream(
      fails_first([](ScriptedUpstream&, H2Server& server, const H2Message& request) {
        server.reset(request.id, http::Reset::kRefused);
      }));
  RunningProxy proxy(http2_route(upstream, retry("refused-stream")));
  EXPECT_EQ(proxy.ask(ask("POST")).body, "fine");
  ASSERT_EQ(upstream.requests().size(), 2u);
  EXPECT_EQ(upstream.requests()[1].body, "hi");
  EXPECT_EQ(upstream.connections(), 1u);
  expect_no_requests_left(proxy);
}

TEST(Http2Refusal, WithoutAPolicyIsA503) {
  LogFile log;
  ScriptedUpstream upstream(
      fails_first([](ScriptedUpstream&, H2Server& server, const H2Message& request) {
        server.reset(request.id, http::Reset::kRefused);
      }));
  RunningProxy proxy(http2_route(upstream, "", log.setting("format: \"%RESPONSE_FLAGS%\\n\"")));
  EXPECT_EQ(proxy.ask(ask("POST")).status(), 503);
  EXPECT_EQ(proxy.get().body, "fine");
  EXPECT_EQ(log.lines(2), (std::vector<std::string>{"UR", "-"}));
}

TEST(Http2Reset, IsRepeatedForAMethodThatMayBe) {
  for (const http::Reset why :
       {http::Reset::kCancel, http::Reset::kInternal, http::Reset::kProtocol}) {
    const auto script =
        fails_first([why](ScriptedUpstream&, H2Server& server, const H2Message& request) {
          server.reset(request.id, why);
        });
    ScriptedUpstream upstream(script);
    RunningProxy proxy(http2_route(upstream, retry("reset")));
    EXPECT_EQ(proxy.get().body, "fine");
    EXPECT_EQ(upstream.connections(), 1u);
    ScriptedUpstream once(script);
    RunningProxy careful(http2_route(once, retry("reset")));
    EXPECT_EQ(careful.ask(ask("POST")).status(), 503);
    EXPECT_EQ(once.requests().size(), 1u);
  }
}

TEST(Http2Reset, OfAnAnswerThatHasBegunResetsTheClientsStream) {
  ScriptedUpstream upstream(
      fails_first([](ScriptedUpstream&, H2Server& server, const H2Message& request) {
        server.answer(request.id, response(200, "half"), false);
        server.reset(request.id, http::Reset::kInternal);
      }));
  RunningProxy proxy(http2_route(upstream, retry("reset")));
  H2Client client(proxy.connect());
  const http::StreamId id = client.get();
  EXPECT_TRUE(client.wait_for_reset(id));
  EXPECT_FALSE(client.wait(id).complete);
  EXPECT_EQ(client.wait(client.get()).body, "fine");
  expect_no_requests_left(proxy);
}

// --- GOAWAY --------------------------------------------------------------------------------------

// Refuses the first request by a GOAWAY with a last id below it.
ScriptedUpstream::Script goes_away_first(std::uint32_t error_code) {
  return fails_first([error_code](ScriptedUpstream&, H2Server& server, const H2Message&) {
    server.send_raw(h2::goaway(0, error_code));
  });
}

TEST(Http2GoAway, RequestsAboveItsLastIdAreRepeatedOnANewConnection) {
  for (const std::string policy : {"reset", "refused-stream"}) {
    for (const std::string method : {"GET", "POST"}) {
      for (const std::uint32_t code : {kNoError, kInternal}) {
        SCOPED_TRACE(policy + " " + method + " " + std::to_string(code));
        ScriptedUpstream upstream(goes_away_first(code));
        RunningProxy proxy(http2_route(upstream, retry(policy)));
        EXPECT_EQ(proxy.ask(ask(method)).body, "fine");
        EXPECT_EQ(upstream.requests().size(), 2u);
        EXPECT_EQ(upstream.connections(), 2u);
        expect_no_requests_left(proxy);
      }
    }
  }
}

TEST(Http2GoAway, WithoutAPolicyIsA503) {
  for (const std::uint32_t code : {kNoError, kInternal}) {
    LogFile log;
    ScriptedUpstream upstream(goes_away_first(code));
    RunningProxy proxy(http2_route(upstream, "", log.setting("format: \"%RESPONSE_FLAGS%\\n\"")));
    EXPECT_EQ(proxy.get().status(), 503);
    EXPECT_EQ(log.lines(1), std::vector<std::string>{"UR"});
    EXPECT_EQ(proxy.get().body, "fine");
  }
}

TEST(Http2GoAway, ThatIsGracefulLetsRunningStreamsEnd) {
  ScriptedUpstream upstream(
      fails_first([](ScriptedUpstream& self, H2Server& server, const H2Message& request) {
        server.send_raw(h2::goaway(request.id, kNoError));
        server.answer(request.id, response(200, "half "), false);
        EXPECT_TRUE(self.wait_for_requests(2));  // on another connection
        server.send_body(request.id, "and half", true);
      }));
  RunningProxy proxy(http2_route(upstream));
  H2Client client(proxy.connect());
  const http::StreamId first = client.get();
  EXPECT_EQ(client.read_some(first), "half ");
  EXPECT_TRUE(proxy.stat_becomes("cluster.app.upstream_cx_active", 1));
  EXPECT_EQ(client.wait(client.get()).body, "fine");
  EXPECT_EQ(client.wait(first).body, "and half");
  EXPECT_EQ(upstream.connections(), 2u);
  EXPECT_TRUE(proxy.stat_becomes("cluster.app.upstream_cx_active", 1));
}

// --- How many streams ----------------------------------------------------------------------------

TEST(Http2Limit, OfTheUpstreamOpensMoreConnectionsAndLosesNothing) {
  constexpr int kRequests = 50;
  ScriptedUpstream upstream(
      h2_script([](H2Server& server, const H2Message& request,
                   int) { server.answer(request.id, response(200, request.target())); },
                {.max_concurrent_streams = 1}));
  for (const std::string most : {"1024", "1"}) {
    RunningProxy proxy(one_route(
        upstream.endpoint(), "",
        "http: 2, circuit_breakers: { thresholds: [ { max_connections: " + most + " } ] }"));
    H2Client client(proxy.connect());
    std::vector<http::StreamId> ids;
    for (int i = 0; i < kRequests; ++i) ids.push_back(client.get("/" + std::to_string(i)));
    for (int i = 0; i < kRequests; ++i) {
      EXPECT_EQ(client.wait(ids[static_cast<std::size_t>(i)]).body, "/" + std::to_string(i));
    }
    if (most == "1") {
      EXPECT_EQ(proxy.stat("cluster.app.upstream_cx_total"), 1);
    }
    expect_no_requests_left(proxy);
  }
}

TEST(Http2Limit, OfRequestsPerConnectionRetiresIt) {
  ScriptedUpstream upstream(h2_script([](H2Server& server, const H2Message& request, int) {
    server.answer(request.id, response(200, "fine"));
  }));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "http: 2, max_requests_per_connection: 2"));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(proxy.get().body, "fine");
  EXPECT_EQ(upstream.connections(), 3u);
}

}  // namespace
}  // namespace damper::tests
