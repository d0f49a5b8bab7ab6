#include "http/h2_client_codec.h"

#include <gtest/gtest.h>
#include <map>

#include "http/h2_server_codec.h"
#include "tests/support/h2_wire.h"
#include "tests/support/heads.h"
#include "tests/support/transcript.h"

namespace damper::http {
namespace {

namespace wire = tests::h2;
using tests::response;

constexpr std::size_t kWhole = SIZE_MAX;

RequestHead get() { return tests::request("a.test", "/"); }
RequestHead post() { return tests::request("a.test", "/", {}, "POST"); }

template <class Codec, class Sink>
void deliver(std::string_view bytes, std::size_t piece, Codec& codec, Sink& sink) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    Buffer in;
    append_as_slice(in, bytes.substr(0, piece));
    EXPECT_TRUE(codec.receive(in, sink));
    EXPECT_TRUE(in.empty());
  }
}

template <class Codec>
void send_body(Codec& codec, StreamId id, std::string_view text, bool end) {
  Buffer body;
  body.append(text);
  codec.send_body(id, body, end);
}

// A codec whose server is written by hand. Its SETTINGS have come unless they shall not.
struct Client {
  explicit Client(const H2Options& options = {}, bool started = true)
      : codec(std::make_shared<const H2Options>(options)) {
    if (started) receive(wire::settings());
    written();
  }
  void receive(std::string_view bytes) { deliver(bytes, kWhole, codec, sink); }
  std::string written() {
    std::string out;
    for (Buffer bytes; codec.pull(bytes), !bytes.empty(); bytes.clear())
      out += frames.read(bytes.to_string());
    return out;
  }
  std::string read() { return sink.transcript.take(); }

  H2ClientCodec codec;
  RecordingClientSink sink;
  wire::FrameText frames;
};

std::string answer(StreamId id, const wire::FieldList& more = {}, bool end = true) {
  wire::FieldList fields = {{":status", "200"}};
  fields.insert(fields.end(), more.begin(), more.end());
  return wire::headers(id, fields, end);
}

TEST(H2ClientCodec, OpensOneStreamUntilSettingsCome) {
  Client client({}, false);
  EXPECT_TRUE(client.codec.can_open());
  client.codec.send_head(get(), true);
  EXPECT_FALSE(client.codec.can_open());
  client.receive(wire::settings());
  EXPECT_TRUE(client.codec.can_open());
}

TEST(H2ClientCodec, OpensAsManyStreamsAsBothSidesAllow) {
  Client client({.http2 = {.max_concurrent_streams = 3}});
  for (int i = 0; i < 3; ++i) client.codec.send_head(get(), true);
  EXPECT_FALSE(client.codec.can_open());
  client.written();
  client.receive(answer(1));
  EXPECT_TRUE(client.codec.can_open());
  client.receive(wire::settings({{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 2}}));
  EXPECT_FALSE(client.codec.can_open());
  client.codec.reset(3, Reset::kCancel);  // counts no more, although its RST has not left
  EXPECT_TRUE(client.codec.can_open());
}

TEST(H2ClientCodec, ReadsResponsesInWholeAndInPart) {
  Client client;
  for (int i = 0; i < 3; ++i) client.codec.send_head(get(), true);
  EXPECT_FALSE(client.codec.on_wire(1));
  client.written();
  EXPECT_TRUE(client.codec.on_wire(1));
  client.receive(wire::headers(1, {{":status", "103"}, {"link", "</a>"}}, false) +
                 answer(1, {{"content-length", "2"}}, false) + wire::data(1, "ok", true) +
                 wire::headers(3, {{":status", "204"}}, true) + answer(5, {}, false) +
                 wire::data(5, "abc", false) + wire::headers(5, {{"x-sum", "9"}}, true));
  EXPECT_EQ(client.read(),
            "interim 103 link=</a>;\n200 length 2\nbody ok\nend\n#3 204\n#3 end\n#5 200\n"
            "#5 body abc\n#5 trailers x-sum=9;\n");
  EXPECT_TRUE(client.codec.idle());
  EXPECT_TRUE(client.codec.reusable());
}

TEST(H2ClientCodec, ResponsesToHeadAndNotModifiedHaveALengthAndNoBody) {
  Client client;
  client.codec.send_head(tests::request("a.test", "/", {}, "HEAD"), true);
  client.codec.send_head(get(), true);
  client.written();
  client.receive(answer(1, {{"content-length", "9"}}) +
                 wire::headers(3, {{":status", "304"}, {"content-length", "7"}}, true));
  EXPECT_EQ(client.read(), "200 length 9\nend\n#3 304 length 7\n#3 end\n");
}

TEST(H2ClientCodec, AResetTellsWhatBecameOfTheRequest) {
  const std::pair<std::uint32_t, std::string> codes[] = {{NGHTTP2_CANCEL, "cancel"},
                                                         {NGHTTP2_INTERNAL_ERROR, "internal"},
                                                         {NGHTTP2_REFUSED_STREAM, "refused"},
                                                         {NGHTTP2_NO_ERROR, "no error"}};
  for (const auto& [code, why] : codes) {
    Client client;
    client.codec.send_head(get(), true);
    client.written();
    client.receive(wire::rst_stream(1, code));
    EXPECT_EQ(client.read(), "reset: " + why + "\n") << code;
  }
}

TEST(H2ClientCodec, AMalformedResponseIsReset) {
  const wire::FieldList cases[] = {{{"x", "1"}},
                                   {{":status", "2x0"}},
                                   {{":status", "200"}, {"X", "1"}},
                                   {{":status", "200"}, {"connection", "close"}}};
  for (const wire::FieldList& fields : cases) {
    Client client;
    client.codec.send_head(get(), true);
    client.written();
    client.receive(wire::headers(1, fields, true));
    EXPECT_EQ(client.written(), "RST_STREAM 1 PROTOCOL_ERROR\n");
    client.receive(wire::ping("12345678"));
    EXPECT_EQ(client.read(), "reset: protocol\n");
    EXPECT_EQ(client.codec.failure(), nullptr);
  }
}

TEST(H2ClientCodec, AStatusBelow100IsReset) {
  Client client;
  client.codec.send_head(get(), true);
  client.written();
  client.receive(wire::headers(1, {{":status", "091"}}, false) + answer(1));
  EXPECT_EQ(client.read(), "reset: protocol\n");
}

TEST(H2ClientCodec, AHeadThatIsTooLargeIsReset) {
  Client client({.max_head_bytes = 100});
  client.codec.send_head(get(), true);
  client.written();
  client.receive(answer(1, {{"x", std::string(100, 'x')}}));
  EXPECT_EQ(client.read(), "reset: protocol\n");
  EXPECT_EQ(client.written(), "RST_STREAM 1 ENHANCE_YOUR_CALM\n");
  EXPECT_TRUE(client.codec.idle());
}

TEST(H2ClientCodec, AResponseThatEndsFirstCancelsTheRequest) {
  Client client;
  client.codec.send_head(post(), false);
  client.written();
  client.receive(answer(1));
  EXPECT_EQ(client.read(), "200\nend\n");
  EXPECT_EQ(client.written(), "RST_STREAM 1 CANCEL\n");
  EXPECT_TRUE(client.codec.idle());
}

TEST(H2ClientCodec, StreamsAboveAGoawayWereNotProcessed) {
  for (const auto& [code, why] : {std::pair<std::uint32_t, std::string>{NGHTTP2_NO_ERROR, "goaway"},
                                  {NGHTTP2_ENHANCE_YOUR_CALM, "refused"}}) {
    Client client;
    for (int i = 0; i < 2; ++i) client.codec.send_head(get(), true);
    client.written();
    client.receive(wire::goaway(1, code));
    EXPECT_EQ(client.read(), "#3 reset: " + why + "\n");
    EXPECT_FALSE(client.codec.can_open());
    EXPECT_FALSE(client.codec.reusable());
    client.receive(answer(1));
    EXPECT_EQ(client.read(), "200\nend\n");
    EXPECT_TRUE(client.codec.idle());
  }
}

TEST(H2ClientCodec, AFaultOfTheServerEndsTheConnection) {
  Client client;
  client.receive(wire::data(0, "a", false));
  EXPECT_TRUE(client.written().ends_with("PROTOCOL_ERROR\n"));
  ASSERT_NE(client.codec.failure(), nullptr);
  EXPECT_EQ(client.codec.failure()->side, Side::kUpstream);
  EXPECT_FALSE(client.codec.can_open());
}

TEST(H2ClientCodec, AnEndOfTheConnectionMattersToOpenStreamsOnly) {
  Client client;
  EXPECT_TRUE(client.codec.on_eof(client.sink));
  client.codec.send_head(get(), true);
  EXPECT_FALSE(client.codec.on_eof(client.sink));
}

TEST(H2ClientCodec, AnUpgradeThatTheServerDoesNotKnowFails) {
  Client client;
  RequestHead head = get();
  head.upgrade = "websocket";
  client.codec.send_head(head, true);
  EXPECT_TRUE(client.codec.has_reports());
  client.receive(wire::ping("12345678"));
  EXPECT_EQ(client.read(), "reset: protocol\n");
}

// A server's sink that takes bodies as they come, but for those of some streams.
class Taker final : public RecordingServerSink {
 public:
  explicit Taker(ServerCodec& codec) : RecordingServerSink(codec), codec_(codec) {}
  void on_request_body(StreamId id, Buffer& body, bool end) override {
    const std::size_t n = body.size();
    taken[id] += n;
    if (id != slow) codec_.consumed(id, n);
    if (end) ended.push_back(id);
  }

  StreamId slow = 0;
  std::map<StreamId, std::size_t> taken;
  std::vector<StreamId> ended;

 private:
  ServerCodec& codec_;
};

// Both codecs, and between them a wire that delivers in pieces.
struct Pair {
  explicit Pair(std::size_t piece_bytes, const H2Options& options = {})
      : piece(piece_bytes),
        server(std::make_shared<const H2Options>(options)),
        client(std::make_shared<const H2Options>(options)),
        at_server(server) {
    at_server.answers = false;
    exchange();
  }
  void exchange() {
    for (;;) {
      Buffer up;
      Buffer down;
      client.pull(up);
      deliver(up.to_string(), piece, server, at_server);
      server.pull(down);
      deliver(down.to_string(), piece, client, at_client);
      if (up.empty() && down.empty()) return;
    }
  }

  const std::size_t piece;
  H2ServerCodec server;
  H2ClientCodec client;
  Taker at_server;
  RecordingClientSink at_client;
};

class H2Codecs : public ::testing::TestWithParam<std::size_t> {};

TEST_P(H2Codecs, MoveBodiesOfManyWindowsPastAStreamThatNobodyReads) {
  constexpr std::size_t kBytes = 300'000;
  constexpr std::size_t kWindow = 65535;
  Pair pair(GetParam(),
            {.http2 = {.stream_window_bytes = kWindow, .connection_window_bytes = kWindow}});
  pair.at_server.slow = 1;
  for (const StreamId id : {1, 3}) {
    EXPECT_EQ(pair.client.send_head(post(), false), id);
    send_body(pair.client, id, std::string(kBytes, 'x'), true);
  }
  pair.exchange();
  EXPECT_EQ(pair.at_server.taken[1], kWindow);
  EXPECT_EQ(pair.client.unsent_bytes(1), kBytes - kWindow);
  EXPECT_EQ(pair.at_server.taken[3], kBytes);
  EXPECT_EQ(pair.at_server.ended, std::vector<StreamId>{3});
  pair.at_server.slow = 0;
  pair.server.consumed(1, kWindow);
  pair.exchange();
  EXPECT_EQ(pair.at_server.taken[1], kBytes);
}

TEST_P(H2Codecs, UpgradeAStream) {
  Pair pair(GetParam(), {.http2 = {.allow_connect = true}});
  RequestHead head = get();
  head.upgrade = "websocket";
  EXPECT_EQ(pair.client.send_head(head, false), 1);
  send_body(pair.client, 1, "early", false);
  pair.exchange();
  EXPECT_EQ(pair.at_server.transcript.take(), "GET http://a.test / upgrade websocket\nend\n");
  EXPECT_EQ(pair.at_server.taken[1], 0u);
  ResponseHead granted = response(101);
  granted.upgrade = "websocket";
  pair.server.send_head(1, granted, false);
  send_body(pair.server, 1, "hello", false);
  send_body(pair.client, 1, " bird", true);
  pair.exchange();
  EXPECT_EQ(pair.at_server.taken[1], 10u);
  EXPECT_EQ(pair.at_server.ended, std::vector<StreamId>{1});
  send_body(pair.server, 1, "", true);
  pair.exchange();
  EXPECT_EQ(pair.at_client.transcript.take(), "101 upgrade websocket\nbody hello\nend\n");
}

TEST_P(H2Codecs, LoseNoRequestWhenTheServerGoesAway) {
  Pair pair(GetParam());
  pair.client.send_head(get(), true);
  pair.server.go_away();
  pair.exchange();
  EXPECT_FALSE(pair.client.can_open());
  pair.server.send_head(1, response(200), true);
  pair.exchange();
  EXPECT_EQ(pair.at_client.transcript.take(), "200\nend\n");
  EXPECT_TRUE(pair.server.finished());
  EXPECT_TRUE(pair.client.idle());
}

INSTANTIATE_TEST_SUITE_P(Cuts, H2Codecs, ::testing::Values(1, 1000, kWhole));

}  // namespace
}  // namespace damper::http
