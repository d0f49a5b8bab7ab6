#include "http/h2_server_codec.h"

#include <gtest/gtest.h>

#include "tests/support/h2_wire.h"
#include "tests/support/heads.h"
#include "tests/support/transcript.h"

namespace damper::http {
namespace {

namespace wire = tests::h2;
using tests::response;
using wire::FieldList;

constexpr std::size_t kWhole = SIZE_MAX;

// A codec whose client is written by hand. Its SETTINGS have been exchanged.
struct Server {
  explicit Server(std::size_t piece_bytes = kWhole, const H2Options& options = {})
      : piece(piece_bytes), codec(std::make_shared<const H2Options>(options)), sink(codec) {
    sink.answers = false;
    receive(std::string(wire::kPreface) + wire::settings() + wire::settings_ack());
    written();
  }
  void receive(std::string_view bytes) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      Buffer in;
      append_as_slice(in, bytes.substr(0, piece));
      EXPECT_TRUE(codec.receive(in, sink));
      EXPECT_TRUE(in.empty());
    }
  }
  std::string written() {
    std::string out;
    for (Buffer bytes; codec.pull(bytes), !bytes.empty(); bytes.clear())
      out += frames.read(bytes.to_string());
    return out;
  }
  std::string read() { return sink.transcript.take(); }
  std::string failure() const { return codec.failure() ? codec.failure()->detail : ""; }
  void send_body(StreamId id, std::string_view text, bool end) {
    Buffer body;
    body.append(text);
    codec.send_body(id, body, end);
    EXPECT_TRUE(body.empty());
  }

  const std::size_t piece;
  H2ServerCodec codec;
  RecordingServerSink sink;
  wire::FrameText frames;
};

// The same whether bytes come one by one, in pieces that begin anywhere, or together.
class H2ServerCodecReads : public ::testing::TestWithParam<std::size_t> {};

TEST_P(H2ServerCodecReads, HeadsBodiesAndTrailers) {
  Server server(GetParam());
  EXPECT_TRUE(server.codec.idle());
  server.receive(wire::get(1, {{"x-a", "b"}}) + wire::post(3, {{"content-length", "5"}}) +
                 wire::post(5) + wire::data(3, "he", false) + wire::data(5, "a", false) +
                 wire::data(3, "llo", true) + wire::headers(5, {{"x-sum", "9"}}, true));
  EXPECT_EQ(server.read(),
            "GET http://a.test / x-a=b;\nend\n#3 POST http://a.test / length 5\n"
            "#5 POST http://a.test /\n#3 body he\n#5 body a\n#3 body llo\n#3 end\n"
            "#5 trailers x-sum=9;\n");
  EXPECT_FALSE(server.codec.idle());
}

TEST_P(H2ServerCodecReads, AHeadInSeveralFrames) {
  const std::string block = wire::hpack(wire::request_fields("GET"));
  Server server(GetParam());
  server.receive(wire::frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM, 1, block.substr(0, 7)) +
                 wire::frame(NGHTTP2_CONTINUATION, NGHTTP2_FLAG_NONE, 1, block.substr(7, 9)) +
                 wire::frame(NGHTTP2_CONTINUATION, NGHTTP2_FLAG_END_HEADERS, 1, block.substr(16)));
  EXPECT_EQ(server.read(), "GET http://a.test /\nend\n");
}

TEST_P(H2ServerCodecReads, NoMoreOfAStreamThatTheClientResets) {
  Server server(GetParam());
  server.receive(wire::post(1) + wire::data(1, "abc", false) + wire::rst_stream(1, NGHTTP2_CANCEL));
  EXPECT_EQ(server.read(), "POST http://a.test /\nbody abc\nreset: cancel\n");
  EXPECT_TRUE(server.codec.idle());
  EXPECT_EQ(server.written(), "");
}

TEST_P(H2ServerCodecReads, NoMoreOfAStreamThatItHasReset) {
  Server server(GetParam());
  server.receive(wire::post(1));
  server.codec.reset(1, Reset::kRefused);
  server.receive(wire::data(1, "late", false));  // was under way
  EXPECT_EQ(server.written(), "RST_STREAM 1 REFUSED_STREAM\n");
  server.receive(wire::data(1, "later", true) + wire::get(3));
  EXPECT_EQ(server.read(), "POST http://a.test /\n#3 GET http://a.test /\n#3 end\n");
  EXPECT_EQ(server.failure(), "");
}

// An extended CONNECT that does not wait for its answer.
std::string eager_tunnel() {
  return wire::headers(1,
                       {{":method", "CONNECT"},
                        {":protocol", "websocket"},
                        {":scheme", "http"},
                        {":authority", "a.test"},
                        {":path", "/chat"}},
                       false) +
         wire::data(1, "early ", false);
}

TEST_P(H2ServerCodecReads, WhatATunnelSendsEarlyOnceItIsGranted) {
  Server server(GetParam(), {.http2 = {.allow_connect = true}});
  server.receive(eager_tunnel());
  EXPECT_EQ(server.read(), "GET http://a.test /chat upgrade websocket\nend\n");
  ResponseHead granted = response(101);
  granted.upgrade = "websocket";
  server.codec.send_head(1, granted, false);
  EXPECT_TRUE(server.codec.has_reports());
  server.receive(wire::data(1, "bird", true));
  EXPECT_EQ(server.read(), "body early bird\nend\n");
  server.send_body(1, "worm", true);
  EXPECT_EQ(server.written(), "HEADERS 1 :status=200;\nDATA 1 worm end\n");
  EXPECT_TRUE(server.codec.idle());
}

TEST_P(H2ServerCodecReads, NothingFromATunnelThatIsRefused) {
  Server server(GetParam(), {.http2 = {.allow_connect = true}});
  server.receive(eager_tunnel());
  EXPECT_EQ(server.read(), "GET http://a.test /chat upgrade websocket\nend\n");
  server.codec.send_head(1, response(403), false);
  server.receive(wire::data(1, "bird", true));
  EXPECT_EQ(server.read(), "");
}

TEST_P(H2ServerCodecReads, NothingMoreOfWhatItHasRefused) {
  Server server(GetParam(), {});
  server.receive(
      wire::headers(
          1, {{":method", "POST"}, {":scheme", "http"}, {":authority", "a@b"}, {":path", "/"}},
          false) +
      wire::data(1, "body", true));
  EXPECT_EQ(server.read(), "bad 400 http2.invalid_authority\n");
}

INSTANTIATE_TEST_SUITE_P(Cuts, H2ServerCodecReads, ::testing::Values(1, 7, kWhole));

TEST(H2ServerCodec, AnnouncesItsLimitsFirst) {
  H2ServerCodec codec(
      std::make_shared<const H2Options>(H2Options{.http2 = {.max_concurrent_streams = 7,
                                                            .stream_window_bytes = 70000,
                                                            .connection_window_bytes = 65535 + 5,
                                                            .allow_connect = true}}));
  EXPECT_FALSE(codec.idle());  // half a message: the client's SETTINGS must come
  Buffer out;
  codec.pull(out);
  EXPECT_EQ(wire::FrameText().read(out.to_string()),
            "SETTINGS 4=70000 3=7 9=1 8=1\nWINDOW_UPDATE 0 5\n");
}

TEST(H2ServerCodec, WritesHeadsBodiesAndTrailers) {
  Server server;
  server.receive(wire::get(1) + wire::get(3) + wire::get(5));
  server.codec.send_interim(1, response(103, {{"link", "</a>"}}));
  ResponseHead head = response(200, {{"x-a", "b"}});
  head.content_length = 5;
  server.codec.send_head(1, head, false);
  server.send_body(1, "hello", true);
  server.codec.send_head(3, response(200), true);
  server.codec.send_head(5, response(200), false);
  server.send_body(5, "abc", false);
  server.codec.send_trailers(5,
                             tests::response(0, {{"x-sum", "9"}, {"content-length", "1"}}).fields);
  EXPECT_EQ(server.codec.unsent_bytes(1), 5u);
  const std::string written = server.written();
  for (const char* frame :
       {"HEADERS 1 :status=103; link=</a>;\n", "HEADERS 1 :status=200; x-a=b; content-length=5;\n",
        "DATA 1 hello end\n", "HEADERS 3 end :status=200;\n", "DATA 5 abc\n",
        "HEADERS 5 end x-sum=9;\n"})
    EXPECT_NE(written.find(frame), std::string::npos) << frame << written;
  EXPECT_EQ(server.codec.unsent_bytes(1), 0u);
  EXPECT_TRUE(server.codec.idle());
}

TEST(H2ServerCodec, WritesNothingAfterTheEnd) {
  Server server;
  server.receive(wire::get(1));
  server.codec.send_head(1, response(200), false);
  server.send_body(1, "a", true);
  server.codec.send_head(1, response(500), true);
  server.codec.send_interim(1, response(103));
  server.send_body(1, "b", true);
  server.codec.send_trailers(1, response(0, {{"x", "y"}}).fields);
  EXPECT_EQ(server.written(), "HEADERS 1 :status=200;\nDATA 1 a end\n");
  server.send_body(1, "c", true);
  server.codec.reset(1, Reset::kCancel);
  EXPECT_EQ(server.written(), "");
}

TEST(H2ServerCodec, EachReasonOfAResetHasItsCode) {
  const std::pair<Reset, std::string> reasons[] = {
      {Reset::kCancel, "CANCEL"},           {Reset::kRefused, "REFUSED_STREAM"},
      {Reset::kGoAway, "REFUSED_STREAM"},   {Reset::kProtocol, "PROTOCOL_ERROR"},
      {Reset::kInternal, "INTERNAL_ERROR"}, {Reset::kNoError, "NO_ERROR"}};
  Server server;
  StreamId id = 1;
  for (const auto& [why, code] : reasons) {
    server.receive(wire::get(id));
    server.codec.reset(id, why);
    EXPECT_EQ(server.written(), "RST_STREAM " + std::to_string(id) + " " + code + "\n");
    id += 2;
  }
}

TEST(H2ServerCodec, ARequestThatIsAnsweredBeforeItsEndIsCutOff) {
  Server server;
  server.receive(wire::post(1) + wire::data(1, "a", false));
  server.codec.send_head(1, response(413), true);
  EXPECT_EQ(server.written(), "HEADERS 1 end :status=413;\nRST_STREAM 1 NO_ERROR\n");
  server.receive(wire::data(1, "b", false) + wire::data(1, "c", true));
  EXPECT_EQ(server.read(), "POST http://a.test /\nbody a\n");
  EXPECT_TRUE(server.codec.idle());
  EXPECT_EQ(server.failure(), "");
}

TEST(H2ServerCodec, GivesTheConnectionsWindowBackAtOnceAndAStreamsWhenConsumed) {
  constexpr std::size_t kFrame = 16384;
  Server server(kWhole,
                {.http2 = {.stream_window_bytes = 65535, .connection_window_bytes = 65535}});
  server.receive(wire::post(1));
  for (int i = 0; i < 2; ++i) server.receive(wire::data(1, std::string(kFrame, 'x'), false));
  EXPECT_EQ(server.written(), "WINDOW_UPDATE 0 " + std::to_string(2 * kFrame) + "\n");
  server.codec.consumed(1, 2 * kFrame);
  EXPECT_EQ(server.written(), "WINDOW_UPDATE 1 " + std::to_string(2 * kFrame) + "\n");
}

TEST(H2ServerCodec, AStreamWhoseWindowIsEmptyDoesNotHoldAnother) {
  Server server;
  server.receive(wire::settings({{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 3}}) + wire::get(1) +
                 wire::get(3));
  server.written();
  for (const StreamId id : {1, 3}) server.codec.send_head(id, response(200), false);
  server.send_body(1, "hello", true);
  server.send_body(3, "abc", true);
  const std::string written = server.written();
  EXPECT_NE(written.find("DATA 1 hel\n"), std::string::npos) << written;
  EXPECT_NE(written.find("DATA 3 abc end\n"), std::string::npos) << written;
  EXPECT_EQ(server.codec.unsent_bytes(1), 2u);
  server.receive(wire::window_update(1, 9));
  EXPECT_EQ(server.written(), "DATA 1 lo end\n");
}

TEST(H2ServerCodec, GoesAwayWhenTheClientHasAnsweredTheAnnouncement) {
  Server server;
  server.receive(wire::get(1));
  server.codec.go_away();
  EXPECT_EQ(server.written(), "GOAWAY 2147483647 NO_ERROR\nPING drain\n");
  server.receive(wire::get(3));  // was under way
  server.receive(wire::ping("other!!!", true));
  EXPECT_EQ(server.written(), "");
  server.receive(wire::ping(std::string("drain\0\0\0", 8), true));
  EXPECT_EQ(server.written(), "GOAWAY 3 NO_ERROR\n");
  server.receive(wire::get(5));  // too late
  EXPECT_EQ(server.read(), "GET http://a.test /\nend\n#3 GET http://a.test /\n#3 end\n");
  EXPECT_FALSE(server.codec.finished());
  for (const StreamId id : {1, 3}) server.codec.send_head(id, response(200), true);
  server.written();
  EXPECT_TRUE(server.codec.finished());
}

TEST(H2ServerCodec, GoesAwayAtTheSecondCall) {
  Server server;
  server.codec.go_away();
  server.codec.go_away();
  server.codec.go_away();
  EXPECT_EQ(server.written(), "GOAWAY 2147483647 NO_ERROR\nGOAWAY 0 NO_ERROR\n");
  EXPECT_TRUE(server.codec.finished());
}

TEST(H2ServerCodec, AnswersAPingAndSendsOne) {
  Server server;
  server.receive(wire::ping("12345678"));
  EXPECT_EQ(server.written(), "PING ack 12345678\n");
  server.codec.ping();
  EXPECT_EQ(server.written(), "PING \n");
}

TEST(H2ServerCodec, AHeadThatIsRefusedIsAnswered) {
  const H2Options options{.max_head_bytes = 200, .max_headers = 5};
  const FieldList six(6, {"x", "y"});
  const std::tuple<FieldList, std::string, std::string> cases[] = {
      {wire::request_fields("GET", {{"x", std::string(200, 'x')}}), "431",
       "http2.headers_too_large"},
      {wire::request_fields("GET", six), "431", "http2.too_many_headers"},
      {{{":method", "GET"},
        {":scheme", "http"},
        {":authority", "a.test"},
        {":path", "/"},
        {"host", "b.test"}},
       "400",
       "http2.invalid_authority"},
  };
  for (const auto& [fields, status, detail] : cases) {
    Server server(kWhole, options);
    server.receive(wire::headers(1, fields, true));
    EXPECT_EQ(server.read(), "bad " + status + " " + detail + "\n");
    EXPECT_EQ(server.written(), "HEADERS 1 end :status=" + status + ";\n");
  }
}

TEST(H2ServerCodec, TrailersThatAreTooLargeAreRefused) {
  Server server(kWhole, {.max_head_bytes = 200});
  server.receive(wire::post(1) + wire::headers(1, {{"x", std::string(201, 'x')}}, true));
  EXPECT_EQ(server.read(), "POST http://a.test /\nbad 431 http2.headers_too_large\n");
}

FieldList without(std::string_view name) {
  FieldList fields = wire::request_fields("GET");
  std::erase_if(fields, [&](const auto& field) { return field.first == name; });
  return fields;
}

// RFC 9113 §8.1.1.
TEST(H2ServerCodec, AMalformedRequestIsReset) {
  const FieldList cases[] = {without(":method"),
                             without(":scheme"),
                             without(":path"),
                             wire::request_fields("GET", {{"X-Upper", "1"}}),
                             wire::request_fields("GET", {{"x", "a\r\nb"}}),
                             wire::request_fields("GET", {{"", "1"}}),
                             wire::request_fields("GET", {{"connection", "close"}}),
                             wire::request_fields("GET", {{"transfer-encoding", "chunked"}}),
                             wire::request_fields("GET", {{"te", "gzip"}}),
                             wire::request_fields("GET", {{":method", "PUT"}}),
                             wire::request_fields("GET", {{":status", "200"}}),
                             wire::request_fields("GET", {{":protocol", "websocket"}}),
                             wire::request_fields("GET", {{"x", "1"}, {":path", "/"}}),
                             wire::request_fields("GET", {{"content-length", "1"}})};
  for (const FieldList& fields : cases) {
    Server server;
    server.receive(wire::headers(1, fields, true));
    EXPECT_EQ(server.written(), "RST_STREAM 1 PROTOCOL_ERROR\n") << wire::hpack(fields);
    server.receive(wire::get(3));
    EXPECT_EQ(server.read(), "reset: protocol\n#3 GET http://a.test /\n#3 end\n");
    EXPECT_EQ(server.failure(), "");
  }
}

TEST(H2ServerCodec, ABodyOfAnotherLengthIsReset) {
  Server server;
  server.receive(wire::post(1, {{"content-length", "2"}}) + wire::data(1, "abc", true));
  EXPECT_EQ(server.written(), "RST_STREAM 1 PROTOCOL_ERROR\n");
  server.receive(wire::get(3));
  EXPECT_EQ(server.read(),
            "POST http://a.test / length 2\nreset: protocol\n#3 GET http://a.test /\n#3 end\n");
}

TEST(H2ServerCodec, StreamsThatEndInPullAreReportedByTheNextReceive) {
  Server server;
  server.receive(wire::post(1, {{"content-length", "2"}}) + wire::data(1, "abc", true));
  EXPECT_EQ(server.read(), "POST http://a.test / length 2\n");
  EXPECT_FALSE(server.codec.has_reports());
  server.written();
  EXPECT_TRUE(server.codec.has_reports());
  Buffer nothing;
  EXPECT_TRUE(server.codec.receive(nothing, server.sink));
  EXPECT_EQ(server.read(), "reset: protocol\n");
  EXPECT_FALSE(server.codec.has_reports());
}

struct Broken {
  std::string name;
  std::string bytes;
  std::string code;
  std::string detail;
};

std::string many(int n, const std::string& bytes) {
  std::string out;
  for (int i = 0; i < n; ++i) out += bytes;
  return out;
}

std::string opened_and_reset(int n) {
  std::string out;
  for (StreamId id = 1; id < 2 * n; id += 2)
    out += wire::get(id) + wire::rst_stream(id, NGHTTP2_CANCEL);
  return out;
}

class H2ServerCodecEnds : public ::testing::TestWithParam<Broken> {};

TEST_P(H2ServerCodecEnds, TheConnectionWithTheCodeOfItsFault) {
  const Broken& c = GetParam();
  Server server;
  server.receive(c.bytes);
  const std::string written = server.written();
  const std::size_t goaway = written.rfind("GOAWAY ");
  ASSERT_NE(goaway, std::string::npos) << written;
  EXPECT_TRUE(written.ends_with(" " + c.code + "\n")) << written.substr(goaway);
  EXPECT_EQ(server.failure(), c.detail);
  EXPECT_TRUE(server.codec.finished());
  server.read();
  server.receive(wire::get(20001));
  EXPECT_EQ(server.read(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Table, H2ServerCodecEnds,
    ::testing::Values(
        Broken{"DataOnStreamZero", wire::data(0, "a", false), "PROTOCOL_ERROR",
               "http2.DATA: stream_id == 0"},
        Broken{"DataOnAnIdleStream", wire::data(1, "a", false), "PROTOCOL_ERROR",
               "http2.DATA: stream in idle"},
        Broken{"DataAfterTheReset",
               wire::post(1) + wire::rst_stream(1, NGHTTP2_CANCEL) + wire::data(1, "a", false),
               "STREAM_CLOSED", "http2.frame_on_closed_stream"},
        Broken{"AnIdThatGoesBack", wire::get(5) + wire::get(3), "PROTOCOL_ERROR",
               "http2.stream_id_goes_back"},
        Broken{"AServersId", wire::get(2), "PROTOCOL_ERROR",
               "http2.request HEADERS: invalid stream_id"},
        Broken{
            "NoFieldBlock",
            wire::frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, "\xff\xff\xff\xff\xff\xff"),
            "COMPRESSION_ERROR", "http2.COMPRESSION_ERROR"},
        Broken{"AFrameThatIsTooLong", wire::data(1, std::string(16385, 'x'), false),
               "FRAME_SIZE_ERROR", "http2.too large frame size"},
        Broken{"AWindowOpenedByNothing", wire::window_update(0, 0), "PROTOCOL_ERROR",
               "http2.WINDOW_UPDATE: window_size_increment == 0"},
        Broken{"AWindowThatIsTooLarge", wire::window_update(0, 0x7fffffff), "FLOW_CONTROL_ERROR",
               "http2.FLOW_CONTROL_ERROR"},
        Broken{"APushedRequest",
               wire::frame(NGHTTP2_PUSH_PROMISE, 4, 1, std::string("\0\0\0\2", 4)),
               "PROTOCOL_ERROR", "http2.PUSH_PROMISE: push disabled"},
        Broken{"ADependencyOnItself", wire::priority(3, 3), "PROTOCOL_ERROR", "http2.bad_priority"},
        Broken{"EmptyData", wire::post(1) + many(2, wire::data(1, "", false)), "ENHANCE_YOUR_CALM",
               "http2.inbound_empty_frames_flood"},
        Broken{"Pings", many(10'001, wire::ping("12345678")), "ENHANCE_YOUR_CALM",
               "http2.outbound_control_flood"},
        Broken{"Settings", many(1'001, wire::settings()), "ENHANCE_YOUR_CALM",
               "http2.outbound_control_flood"},
        Broken{"Resets", opened_and_reset(1'000), "ENHANCE_YOUR_CALM", "http2.early_resets_flood"},
        Broken{"Priorities", many(101, wire::priority(3, 1)), "ENHANCE_YOUR_CALM",
               "http2.inbound_priority_frames_flood"},
        Broken{"WindowUpdates", many(6, wire::window_update(0, 1)), "ENHANCE_YOUR_CALM",
               "http2.inbound_window_update_frames_flood"}),
    [](const auto& row) { return row.param.name; });

TEST(H2ServerCodec, FramesThatTheClientDoesNotTakeAreBounded) {
  Server server(kWhole, {.http2 = {.max_outbound_frames = 20}});
  for (StreamId id = 1; id < 42; id += 2) server.receive(wire::get(id));
  for (StreamId id = 1; id < 42; id += 2) server.codec.send_head(id, response(200), true);
  server.receive(wire::ping("12345678"));
  EXPECT_EQ(server.failure(), "http2.outbound_flood");
  EXPECT_TRUE(server.written().ends_with("GOAWAY 41 ENHANCE_YOUR_CALM\n"));
}

TEST(H2ServerCodec, StreamsBeyondTheLimitEndTheConnection) {
  Server server(kWhole, {.http2 = {.max_concurrent_streams = 2}});
  server.receive(wire::get(1) + wire::get(3) + wire::get(5));
  EXPECT_EQ(server.written(), "GOAWAY 3 PROTOCOL_ERROR\n");
  EXPECT_EQ(server.failure(), "http2.request HEADERS: max concurrent streams exceeded");
}

TEST(H2ServerCodec, WhatIsNoHttp2Fails) {
  H2ServerCodec codec(std::make_shared<const H2Options>());
  RecordingServerSink sink(codec);
  Buffer in;
  in.append("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
  EXPECT_TRUE(codec.receive(in, sink));
  ASSERT_TRUE(codec.failure());
  EXPECT_EQ(codec.failure()->side, Side::kDownstream);
}

}  // namespace
}  // namespace damper::http
