// HTTP/2 with clients: how a connection begins and ends, and that its streams leave each other
// alone.
#include <future>
#include <gtest/gtest.h>

#include "tests/support/gauges.h"
#include "tests/support/h2_peer.h"
#include "tests/support/h2_wire.h"
#include "tests/support/log_file.h"

namespace damper::tests {
namespace {

// --- The protocol of a connection ----------------------------------------------------------------

TEST(Http2Preface, MayComeInAnyTwoParts) {
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(one_route(upstream.endpoint()));
  // SETTINGS, then HEADERS of GET / in indexed fields (RFC 7541 appendix A), authority "a".
  const std::string rest =
      h2::frame(NGHTTP2_SETTINGS, 0, 0) +
      h2::frame(NGHTTP2_HEADERS, 5, 1, std::string("\x82\x86\x84\x41\x01\x61"));
  for (std::size_t n = 1; n <= h2::kPreface.size(); ++n) {
    WireConnection client = proxy.connect();
    client.send(h2::kPreface.substr(0, n));
    ASSERT_TRUE(proxy.stat_becomes("http.in.downstream_cx_active", 1));
    client.send(std::string(h2::kPreface.substr(n)) + rest);
    std::string came;
    while (came.find("fine") == came.npos) {
      const std::string more = client.read_some();
      ASSERT_NE(more, "") << n;
      came += more;
    }
    EXPECT_EQ(came[3], NGHTTP2_SETTINGS);
    client.close();
    ASSERT_TRUE(proxy.stat_becomes("http.in.downstream_cx_active", 0));
  }
}

TEST(Http2Preface, MethodsThatBeginLikeItAreHttp1) {
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(one_route(upstream.endpoint()));
  for (const std::string method : {"P", "PR", "PRI", "PRIX", "POST", "PROPFIND"}) {
    const std::string request = method + " / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n";
    for (std::size_t n = 1; n <= method.size() + 1; ++n) {
      WireConnection client = proxy.connect();
      client.send(request.substr(0, n));
      ASSERT_TRUE(proxy.stat_becomes("http.in.downstream_cx_active", 1));
      client.send(request.substr(n));
      const auto answer = client.read_response();
      ASSERT_TRUE(answer) << method << n;
      EXPECT_EQ(answer->body, "fine") << method;
      client.close();
      ASSERT_TRUE(proxy.stat_becomes("http.in.downstream_cx_active", 0));
    }
  }
}

TEST(Http2Codec, AListenerMaySpeakOneProtocolOnly) {
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy http1(one_route(upstream.endpoint(), "", "", "codec_type: HTTP1"));
  RunningProxy http2(one_route(upstream.endpoint(), "", "", "codec_type: HTTP2"));
  EXPECT_EQ(http1.get().body, "fine");
  H2Client fits(http2.connect());
  EXPECT_EQ(fits.wait(fits.get()).body, "fine");

  WireConnection preface = http1.connect();
  preface.send(h2::kPreface);
  const auto refusal = preface.read_response();
  ASSERT_TRUE(refusal);
  EXPECT_GE(refusal->status(), 400);
  EXPECT_TRUE(preface.wait_for_close());
  WireConnection text = http2.connect();
  text.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  EXPECT_TRUE(text.wait_for_close());
  EXPECT_EQ(upstream.requests().size(), 2u);
}

// --- Streams among others ------------------------------------------------------------------------

TEST(Http2Stream, ResetByTheClientIsCancelledUpstreamAtOnce) {
  LogFile log;
  ScriptedUpstream upstream(h2_script([](H2Server& server, const H2Message& request, int) {
    if (request.target() == "/slow") {
      EXPECT_EQ(server.wait_for_reset(request.id), http::Reset::kCancel);
    } else {
      server.answer(request.id, response(200, "fine"));
    }
  }));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "http: 2",
                               log.setting("format: \"%PROTOCOL% %RESPONSE_FLAGS%\\n\"")));
  H2Client client(proxy.connect());
  const http::StreamId slow = client.get("/slow");
  ASSERT_TRUE(upstream.wait_for_requests(1));
  client.reset(slow);
  EXPECT_EQ(client.wait(client.get()).body, "fine");
  EXPECT_EQ(log.lines(2), (std::vector<std::string>{"HTTP/2 DR", "HTTP/2 -"}));
  EXPECT_EQ(upstream.connections(), 1u);
  expect_no_requests_left(proxy);
}

TEST(Http2Stream, ThatIsNotReadDoesNotHoldUpOthers) {
  const std::string large(4 * 1024 * 1024, 'x');
  for (const bool upstream2 : {false, true}) {
    SCOPED_TRACE(upstream2);
    ScriptedUpstream upstream(
        upstream2 ? h2_script([&](H2Server& server, const H2Message& request, int) {
          server.answer(request.id, response(200, request.target() == "/large" ? large : "fine"));
        })
                  : [&](ScriptedUpstream& self, WireConnection& connection, int) {
                      while (const auto request = self.receive(connection)) {
                        const bool wants_large = request->target() == "/large";
                        if (!connection.send(http_response(200, wants_large ? large : "fine")))
                          return;
                      }
                    });
    RunningProxy proxy(one_route(upstream.endpoint(), "", upstream2 ? "http: 2" : ""));
    H2Client client(proxy.connect());
    const http::StreamId slow = client.get("/large");
    client.keep_shut(slow);
    ASSERT_TRUE(client.wait_for_head(slow));
    for (int i = 0; i < 50; ++i) EXPECT_EQ(client.wait(client.get()).body, "fine");
    client.open_again(slow);
    EXPECT_EQ(client.wait(slow).body.size(), large.size());
    expect_no_requests_left(proxy);
  }
}

TEST(Http2Stream, ThousandsOpenedAndResetLeaveNothing) {
  constexpr int kConnections = 10;
  constexpr int kStreams = 200;
  LogFile log;
  auto upstream = std::make_unique<ScriptedUpstream>(
      h2_script([](H2Server& server, const H2Message& request, int) {
        if (request.id % 3 == 0) server.answer(request.id, response(200, "fine"));
      }));
  RunningProxy proxy(one_route(upstream->endpoint(), retry("5xx,reset"), "http: 2",
                               log.setting("format: \"x\\n\"")));
  for (int i = 0; i < kConnections; ++i) {
    H2Client client(proxy.connect());
    std::vector<http::StreamId> ids;
    for (int n = 0; n < kStreams; ++n) {
      ids.push_back(client.get());
      if (n % 2 == 1) client.reset(ids[static_cast<std::size_t>(n / 2)]);
    }
    for (const http::StreamId id : ids) client.reset(id);
  }
  ASSERT_TRUE(proxy.stat_becomes("http.in.downstream_cx_active", 0));
  upstream.reset();
  expect_nothing_left(proxy, log);
}

// --- The end of a connection ---------------------------------------------------------------------

TEST(Http2Drain, AnnouncesItAndFinishesWhatRuns) {
  std::promise<void> release;
  ScriptedUpstream upstream([&](ScriptedUpstream& self, WireConnection& connection, int) {
    self.receive(connection);
    release.get_future().wait_for(std::chrono::seconds(10));
    connection.send(http_response(200, "fine"));
  });
  RunningProxy proxy(one_route(upstream.endpoint()), {.drain_time = std::chrono::seconds(30)});
  H2Client client(proxy.connect());
  const http::StreamId id = client.get();
  ASSERT_TRUE(upstream.wait_for_requests(1));
  proxy.stop();
  while (client.may_open() && client.pump()) {
  }
  EXPECT_FALSE(client.may_open());
  release.set_value();
  EXPECT_EQ(client.wait(id).body, "fine");
  EXPECT_TRUE(client.connection().wait_for_close());
  proxy.wait();
}

TEST(Http2Drain, ComesAfterSoManyRequests) {
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "",
                               "common_http_protocol_options: { max_requests_per_connection: 3 }"));
  H2Client client(proxy.connect());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(client.may_open()) << i;
    EXPECT_EQ(client.wait(client.get()).body, "fine");
  }
  while (client.may_open() && client.pump()) {
  }
  EXPECT_FALSE(client.may_open());
  EXPECT_TRUE(client.connection().wait_for_close());
}

}  // namespace
}  // namespace damper::tests
