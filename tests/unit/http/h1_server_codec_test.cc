#include "http/h1_server_codec.h"

#include <gtest/gtest.h>

#include "tests/support/transcript.h"

namespace damper::http {
namespace {

H1ServerOptions strict() { return {}; }
H1ServerOptions with_http10() {
  return {.accept_http_10 = true, .default_host_for_http_10 = "default.test"};
}
H1ServerOptions with_trailers() { return {.enable_trailers = true}; }

std::string get(const std::string& fields) {
  return "GET / HTTP/1.1\r\nHost: a.test\r\n" + fields + "\r\n";
}
std::string chunked(const std::string& body) {
  return "POST /p HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n" + body;
}

// A codec that has read one request which nobody has answered yet.
struct Open {
  explicit Open(const std::string& bytes, H1ServerOptions options = with_http10())
      : codec(options), sink(codec) {
    sink.answers = false;
    receive(bytes);
  }
  void receive(const std::string& bytes) {
    append_as_slice(in, bytes);
    EXPECT_TRUE(codec.receive(in, sink));
  }
  std::string written() {
    Buffer out;
    codec.pull(out);
    return out.to_string();
  }
  void send_body(const std::string& text, bool end) {
    Buffer body;
    body.append(text);
    codec.send_body(1, body, end);
    EXPECT_TRUE(body.empty());
  }
  void send_head(int status, std::optional<std::uint64_t> length, bool end) {
    ResponseHead head;
    head.status = status;
    head.content_length = length;
    codec.send_head(1, head, end);
  }

  H1ServerCodec codec;
  RecordingServerSink sink;
  Buffer in;
};

TEST(H1ServerCodec, TheNextRequestStaysInTheCallersBuffer) {
  Open open(get("") + get("X: 2\r\n"));
  EXPECT_EQ(open.in.size(), get("X: 2\r\n").size());
  EXPECT_FALSE(open.codec.idle());
  open.send_head(200, {}, true);
  EXPECT_TRUE(open.codec.idle());
  EXPECT_TRUE(open.codec.receive(open.in, open.sink));
  EXPECT_EQ(open.sink.transcript.text(),
            "GET http://a.test /\nend\n#3 GET http://a.test / x=2;\n#3 end\n");
}

TEST(H1ServerCodec, HalfAHeadIsNotIdleButAnEmptyLineIs) {
  Open open("\r\n");
  EXPECT_TRUE(open.codec.idle());
  open.receive("G");
  EXPECT_FALSE(open.codec.idle());
}

struct Framed {
  std::string request;
  int status;
  std::optional<std::uint64_t> length;
  std::string body;
  std::string written;
};

class ResponseFraming : public ::testing::TestWithParam<Framed> {};

TEST_P(ResponseFraming, FollowsRequestAndStatus) {
  const Framed& c = GetParam();
  Open open(c.request);
  open.send_head(c.status, c.length, c.body.empty());
  if (!c.body.empty()) {
    open.send_body(c.body.substr(0, 2), false);
    open.send_body("", false);
    open.send_body(c.body.substr(2), true);
  }
  EXPECT_EQ(open.written(), c.written);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ResponseFraming,
    ::testing::Values(
        Framed{get(""), 200, {}, "", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"},
        Framed{get(""), 200, 5, "hello", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"},
        Framed{get(""),
               200,
               {},
               "hello",
               "HTTP/1.1 200 OK\r\ntransfer-encoding: "
               "chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"},
        Framed{get(""), 200, 4, "hello", "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhell"},
        Framed{get(""), 204, 5, "hello", "HTTP/1.1 204 No Content\r\n\r\n"},
        Framed{get(""), 204, {}, "", "HTTP/1.1 204 No Content\r\n\r\n"},
        Framed{get(""), 304, 777, "", "HTTP/1.1 304 Not Modified\r\ncontent-length: 777\r\n\r\n"},
        Framed{get(""), 304, {}, "", "HTTP/1.1 304 Not Modified\r\n\r\n"},
        Framed{"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", 200, 9, "",
               "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"},
        Framed{"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", 200, {}, "hello", "HTTP/1.1 200 OK\r\n\r\n"},
        Framed{"GET / HTTP/1.0\r\n\r\n",
               200,
               {},
               "hello",
               "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhello"},
        Framed{get("Connection: upgrade\r\nUpgrade: websocket\r\n"),
               403,
               {},
               "",
               "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"}));

TEST(H1ServerCodec, ResponseTrailersAreWrittenIfEnabledAndFramingAllows) {
  Fields trailers;
  trailers.add("x-sum", "9");
  trailers.add("content-length", "1");
  const auto written = [&](const H1ServerOptions& options, std::optional<std::uint64_t> length) {
    Open open(get(""), options);
    open.send_head(200, length, false);
    open.written();
    open.send_body("abc", false);
    open.codec.send_trailers(1, trailers);
    EXPECT_TRUE(open.codec.idle());
    return open.written();
  };
  EXPECT_EQ(written(with_trailers(), {}), "3\r\nabc\r\n0\r\nx-sum: 9\r\n\r\n");
  EXPECT_EQ(written(strict(), {}), "3\r\nabc\r\n0\r\n\r\n");
  EXPECT_EQ(written(with_trailers(), 3), "abc");
}

TEST(H1ServerCodec, InterimResponsesComeBeforeTheHeadAndNotToHttp10) {
  ResponseHead hints;
  hints.status = 103;
  hints.fields.add("link", "</a>");
  Open open(get(""));
  open.codec.send_interim(1, hints);
  EXPECT_EQ(open.written(), "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n");
  Open old("GET / HTTP/1.0\r\n\r\n");
  old.codec.send_interim(1, hints);
  EXPECT_EQ(old.written(), "");
}

TEST(H1ServerCodec, AnAnswerBeforeTheRequestIsCompleteEndsTheConnection) {
  Open open("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\npart");
  open.send_head(413, {}, true);
  EXPECT_EQ(open.written(),
            "HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
  EXPECT_TRUE(open.codec.finished());
  open.receive("rest!GET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(open.in.empty());
  EXPECT_EQ(open.sink.transcript.text(), "POST http://a / length 9\nbody part");
}

TEST(H1ServerCodec, AResponseThatEndsShortOfItsLengthEndsTheConnection) {
  Open open(get(""));
  open.send_head(200, 9, false);
  open.send_body("part", true);
  EXPECT_TRUE(open.codec.finished());
}

TEST(H1ServerCodec, AResetEndsTheConnectionWithoutALastChunk) {
  Open open(get(""));
  open.send_head(200, {}, false);
  open.send_body("part", false);
  open.codec.reset(1, Reset::kInternal);
  EXPECT_TRUE(open.written().ends_with("4\r\npart\r\n"));
  EXPECT_TRUE(open.codec.finished());
  EXPECT_FALSE(open.codec.cut_response());
  open.send_body("more", true);
  EXPECT_EQ(open.written(), "");
}

TEST(H1ServerCodec, OnlyABrokenConnectionTellsThatABodyUntilCloseWasCut) {
  Open open("GET / HTTP/1.0\r\n\r\n");
  open.send_head(200, {}, false);
  open.send_body("part", false);
  EXPECT_FALSE(open.codec.cut_response());
  open.codec.reset(1, Reset::kInternal);
  EXPECT_TRUE(open.codec.cut_response());
}

TEST(H1ServerCodec, GoAwayEndsAnIdleConnectionAtOnceAndABusyOneWithItsAnswer) {
  H1ServerCodec idle(strict());
  idle.go_away();
  EXPECT_TRUE(idle.finished());

  Open busy(get("") + get(""));
  busy.codec.go_away();
  EXPECT_FALSE(busy.codec.finished());
  busy.send_head(200, {}, true);
  EXPECT_NE(busy.written().find("connection: close"), std::string::npos);
  EXPECT_TRUE(busy.codec.finished());
  EXPECT_TRUE(busy.codec.receive(busy.in, busy.sink));
  EXPECT_EQ(busy.sink.transcript.text(), "GET http://a.test /\nend\n");
}

TEST(H1ServerCodec, GoAwayWaitsForAHeadThatIsHalfRead) {
  Open open("GET / HT");
  open.codec.go_away();
  EXPECT_FALSE(open.codec.finished());
  open.receive("TP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(open.sink.transcript.text(), "GET http://a /\nend\n");
}

TEST(H1ServerCodec, AfterAn101BytesPassRawBothWays) {
  Open open(get("Connection: upgrade\r\nUpgrade: websocket\r\n") + "early");
  ResponseHead head;
  head.status = 101;
  head.upgrade = "websocket";
  open.codec.send_head(1, head, false);
  EXPECT_EQ(
      open.written(),
      "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
  open.receive(" late");
  open.send_body("raw", false);
  EXPECT_EQ(open.written(), "raw");
  EXPECT_EQ(open.sink.transcript.text(),
            "GET http://a.test / upgrade websocket\nend\nbody early late");
  EXPECT_FALSE(open.codec.finished());
  open.send_body("last", true);
  EXPECT_EQ(open.written(), "last");
  EXPECT_TRUE(open.codec.finished());
}

TEST(H1ServerCodec, ARequestWhoseHeadDoesNotComeCanBeAnswered) {
  Open open("GET / HT");
  ResponseHead head;
  head.status = 408;
  open.codec.send_head(H1ServerCodec::kUnreadRequest, head, true);
  EXPECT_EQ(open.written(),
            "HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
  EXPECT_TRUE(open.codec.finished());
  open.receive("TP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(open.sink.transcript.text(), "");
}

TEST(H1ServerCodec, AFaultInABodyAfterTheResponseBeganLeavesOnlyAReset) {
  Open open(chunked("1\r\na\r\n"));
  open.send_head(200, {}, false);
  open.sink.answers = false;
  struct Silent : RecordingServerSink {
    using RecordingServerSink::RecordingServerSink;
    void on_bad_request(StreamId id, int, const Error&) override { bad = id; }
    StreamId bad = 0;
  } sink(open.codec);
  open.in.append("zz\r\n");
  EXPECT_TRUE(open.codec.receive(open.in, sink));
  EXPECT_EQ(sink.bad, 1);
  EXPECT_FALSE(open.codec.finished());
  open.codec.reset(1, Reset::kProtocol);
  EXPECT_TRUE(open.codec.finished());
}

TEST(H1ServerCodec, LargeBodiesAreMovedNotCopied) {
  Open open("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n");
  struct Keep : RecordingServerSink {
    using RecordingServerSink::RecordingServerSink;
    void on_request_body(StreamId, Buffer& body, bool) override { data = body.front().data(); }
    const char* data = nullptr;
  } sink(open.codec);
  append_as_slice(open.in, std::string(50000, 'x'));
  const char* const before = open.in.front().data();
  EXPECT_TRUE(open.codec.receive(open.in, sink));
  EXPECT_EQ(sink.data, before);
}

}  // namespace
}  // namespace damper::http
