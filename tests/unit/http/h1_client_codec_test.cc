#include "http/h1_client_codec.h"

#include <gtest/gtest.h>

#include "tests/support/transcript.h"

namespace damper::http {
namespace {

struct Outcome {
  std::string read;
  std::string error;
  bool reusable = false;
  bool operator==(const Outcome&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Outcome& o) {
  return out << o.read << "--\n" << o.error << (o.reusable ? " reusable" : " useless");
}

RequestHead request(std::string_view method = "GET") {
  RequestHead head;
  head.method = method;
  head.path = "/";
  head.authority = "a.test";
  return head;
}

Outcome play(const RequestHead& head, std::string_view bytes, const std::vector<std::size_t>& cuts,
             bool eof) {
  H1ClientCodec codec({.enable_trailers = true});
  RecordingClientSink sink;
  Buffer in;
  std::string error;
  const auto note = [&error](const Status& status) {
    if (!status && error.empty()) error = status.error().detail;
  };
  codec.send_head(head, true);
  cut(bytes, cuts, [&](std::string_view piece) {
    append_as_slice(in, piece);
    note(codec.receive(in, sink));
    in.clear();
  });
  const bool reusable = codec.reusable();
  if (eof) note(codec.on_eof(sink));
  return {sink.transcript.text(), error, reusable};
}

Outcome play_in_all_ways(const RequestHead& head, const std::string& bytes, bool eof) {
  const Outcome whole = play(head, bytes, {}, eof);
  for (const auto& cuts : all_cuts(bytes.size())) {
    EXPECT_EQ(play(head, bytes, cuts, eof), whole) << bytes;
  }
  return whole;
}

struct Case {
  std::string bytes;
  std::string read;
  bool reusable = true;
  std::string method = "GET";
};

class GoodResponses : public ::testing::TestWithParam<Case> {};

TEST_P(GoodResponses, AreReadHoweverTheyAreCut) {
  const RequestHead head = request(GetParam().method);
  const Outcome outcome = play_in_all_ways(head, GetParam().bytes, !GetParam().reusable);
  EXPECT_EQ(outcome.read, GetParam().read);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.reusable, GetParam().reusable);
}

const std::string kPoison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nPOISON";

INSTANTIATE_TEST_SUITE_P(
    Framing, GoodResponses,
    ::testing::Values(
        Case{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A:  b \r\n\r\nhello",
             "200 length 5 x-a=b;\nbody hello\nend\n"},
        Case{"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "200 length 0\nend\n"},
        Case{"HTTP/1.1 200\r\nContent-Length: 0005\r\n\r\nhello",
             "200 length 5\nbody hello\nend\n"},
        Case{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n",
             "200\nbody hello\nend\n"},
        Case{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-T: "
             "1\r\nContent-Length: 1\r\n\r\n",
             "200\nbody a\ntrailers x-t=1;\n"},
        Case{"HTTP/1.1 200 OK\r\n\r\nhello", "200\nbody hello\nend\n", false},
        Case{"HTTP/1.0 200 OK\r\n\r\nhello", "200 1.0\nbody hello\nend\n", false},
        Case{"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", "200 1.0 length 1\nbody a\nend\n",
             false},
        Case{"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na",
             "200 1.0 length 1\nbody a\nend\n"},
        Case{"HTTP/1.1 200 OK\r\nConnection: X-Hop, close\r\nX-Hop: 1\r\nKeep-Alive: "
             "5\r\nContent-Length: 1\r\n\r\na",
             "200 length 1\nbody a\nend\n", false}));

INSTANTIATE_TEST_SUITE_P(
    WithoutBody, GoodResponses,
    ::testing::Values(
        Case{"HTTP/1.1 204 No Content\r\n\r\n", "204\nend\n"},
        Case{"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", "204\nend\n"},
        Case{"HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n", "304 length 100\nend\n"},
        Case{"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", "304\nend\n"},
        Case{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "200 length 9\nend\n", true, "HEAD"},
        Case{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "200\nend\n", true, "HEAD"}));

INSTANTIATE_TEST_SUITE_P(
    BytesBehindAResponseSpoilTheConnection, GoodResponses,
    ::testing::Values(Case{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na" + kPoison,
                           "200 length 1\nbody a\nend\n", false},
                      Case{"HTTP/1.1 204 No Content\r\nContent-Length: 51\r\n\r\n" + kPoison,
                           "204\nend\n", false},
                      Case{"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                           "204\nend\n", false},
                      Case{"HTTP/1.1 304 Not Modified\r\n\r\n" + kPoison, "304\nend\n", false},
                      Case{"HTTP/1.1 200 OK\r\nContent-Length: 51\r\n\r\n" + kPoison,
                           "200 length 51\nend\n", false, "HEAD"}));

INSTANTIATE_TEST_SUITE_P(
    Interim, GoodResponses,
    ::testing::Values(Case{
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
        "interim 100\ninterim 103 link=</a>;\n200 length 1\nbody a\nend\n"}));

struct Bad {
  std::string bytes;
  std::string detail = "http1.codec_error";
  std::string read = {};
};

class BadResponses : public ::testing::TestWithParam<Bad> {};

TEST_P(BadResponses, FailHoweverTheyAreCut) {
  const Outcome outcome = play_in_all_ways(request(), GetParam().bytes, true);
  EXPECT_EQ(outcome.error, GetParam().detail);
  EXPECT_EQ(outcome.read, GetParam().read);
}

std::string ok(const std::string& fields) { return "HTTP/1.1 200 OK\r\n" + fields + "\r\nhello"; }

INSTANTIATE_TEST_SUITE_P(
    Heads, BadResponses,
    ::testing::Values(Bad{"HTTP/1.1 2000 OK\r\n\r\n"}, Bad{"HTTP/1.1 abc OK\r\n\r\n"},
                      Bad{"HTTP/1.1 099 OK\r\n\r\n"}, Bad{"HTTP/2.0 200 OK\r\n\r\n"},
                      Bad{"ICY 200 OK\r\n\r\n"}, Bad{"HTTP/1.1 200 O\x01K\r\n\r\n"},
                      Bad{"HTTP/1.1  200 OK\r\n\r\n"}, Bad{"<html>hello</html>"},
                      Bad{"HTTP/1.1 200 OK\n\nhello"}, Bad{ok("X-A: b\r\n c\r\n")},
                      Bad{ok("X-A : b\r\n")}, Bad{ok("NoColon\r\n")},
                      Bad{ok(std::string("X-A: a\0b\r\n", 10)), "http1.invalid_characters"},
                      Bad{ok("X-A: a\rSet-Cookie: x=1\r\n"), "http1.invalid_characters"},
                      Bad{ok("X: " + std::string(70000, 'a') + "\r\n"),
                          "http1.headers_too_large"}));

INSTANTIATE_TEST_SUITE_P(
    Framing, BadResponses,
    ::testing::Values(
        Bad{ok("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
            "http1.content_length_and_chunked_not_allowed"},
        Bad{ok("Content-Length: 5\r\nContent-Length: 5\r\n"), "http1.invalid_content_length"},
        Bad{ok("Content-Length: +5\r\n"), "http1.invalid_content_length"},
        Bad{ok("Content-Length: \r\n"), "http1.invalid_content_length"},
        Bad{ok("Transfer-Encoding: gzip\r\n"), "http1.invalid_transfer_encoding"},
        Bad{ok("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
            "http1.invalid_transfer_encoding"},
        Bad{"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "http1.invalid_transfer_encoding"},
        Bad{"HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nhello", "http1.body_disallowed"},
        Bad{"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: "
            "websocket\r\n\r\nraw",
            "http1.unexpected_101"}));

INSTANTIATE_TEST_SUITE_P(
    CutOrBrokenBodies, BadResponses,
    ::testing::Values(Bad{"", "connection_termination"},
                      Bad{"HTTP/1.1 200 OK\r\nContent-Le", "connection_termination"},
                      Bad{ok("Content-Length: 10\r\n"), "connection_termination",
                          "200 length 10\nbody hello"},
                      Bad{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
                          "connection_termination", "200\nbody hello"},
                      Bad{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n-5\r\n",
                          "http1.codec_error", "200\nbody a"}));

TEST(H1ClientCodec, TheTwentyFirstInterimResponseIsTooMany) {
  std::string bytes;
  for (int i = 0; i < 21; ++i) bytes += "HTTP/1.1 102 Processing\r\n\r\n";
  EXPECT_EQ(play(request(), bytes, {}, false).error, "http1.too_many_1xx");
}

// A codec and what it has written.
struct Wire {
  explicit Wire(H1ClientOptions options = {}) : codec(options) {}
  std::string written() {
    Buffer out;
    codec.pull(out);
    return out.to_string();
  }
  void send_body(StreamId id, const std::string& text, bool end) {
    Buffer body;
    body.append(text);
    codec.send_body(id, body, end);
    EXPECT_TRUE(body.empty());
  }
  Status receive(const std::string& bytes) {
    Buffer in;
    append_as_slice(in, bytes);
    return codec.receive(in, sink);
  }

  H1ClientCodec codec;
  RecordingClientSink sink;
};

TEST(H1ClientCodec, RequestsAreFramedByWhatIsKnownOfTheirBody) {
  struct Row {
    std::string method;
    std::optional<std::uint64_t> length;
    std::string body;
    std::string framing;
  };
  for (const Row& row :
       {Row{"GET", {}, "", "\r\n"}, Row{"POST", {}, "", "content-length: 0\r\n\r\n"},
        Row{"DELETE", {}, "", "\r\n"}, Row{"GET", 0, "", "content-length: 0\r\n\r\n"},
        Row{"GET", 5, "hello", "content-length: 5\r\n\r\nhello"},
        Row{"POST", {}, "hello", "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"}}) {
    Wire wire;
    RequestHead head = request(row.method);
    head.content_length = row.length;
    const StreamId id = wire.codec.send_head(head, row.body.empty());
    if (!row.body.empty()) wire.send_body(id, row.body, true);
    EXPECT_EQ(wire.written(), row.method + " / HTTP/1.1\r\nhost: a.test\r\n" + row.framing);
  }
}

TEST(H1ClientCodec, TeIsWrittenOnlyIfTrailersAreEnabled) {
  RequestHead head = request();
  head.fields.add(HeaderId::kTe, "trailers");
  head.fields.add("x-a", "b");
  Wire off;
  off.codec.send_head(head, true);
  EXPECT_EQ(off.written(), "GET / HTTP/1.1\r\nhost: a.test\r\nx-a: b\r\n\r\n");
  Wire on({.enable_trailers = true});
  on.codec.send_head(head, true);
  EXPECT_EQ(on.written(),
            "GET / HTTP/1.1\r\nhost: a.test\r\nx-a: b\r\nconnection: te\r\nte: trailers\r\n\r\n");
}

TEST(H1ClientCodec, AnUpgradeTurnsToRawBytesOnlyWithAMatching101) {
  RequestHead head = request();
  head.upgrade = "websocket";
  Wire wire;
  const StreamId id = wire.codec.send_head(head, true);
  EXPECT_EQ(wire.written(),
            "GET / HTTP/1.1\r\nhost: a.test\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
  EXPECT_TRUE(wire.receive(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\nraw"));
  wire.send_body(id, "up", false);
  EXPECT_EQ(wire.written(), "up");
  EXPECT_FALSE(wire.codec.reusable());
  EXPECT_TRUE(wire.codec.on_eof(wire.sink));
  EXPECT_EQ(wire.sink.transcript.text(), "101 upgrade WebSocket\nbody raw\nend\n");

  Wire other;
  other.codec.send_head(head, true);
  EXPECT_FALSE(other.receive(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"));
}

TEST(H1ClientCodec, ADeclinedUpgradeIsAnOrdinaryResponse) {
  RequestHead head = request();
  head.upgrade = "websocket";
  Wire wire;
  wire.codec.send_head(head, true);
  EXPECT_TRUE(wire.receive("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"));
  EXPECT_TRUE(wire.codec.can_open());
}

TEST(H1ClientCodec, AConnectionServesOneRequestAfterAnother) {
  Wire wire;
  EXPECT_EQ(wire.codec.send_head(request(), true), 1);
  EXPECT_FALSE(wire.codec.can_open());
  EXPECT_TRUE(wire.receive("HTTP/1.1 204 No Content\r\n\r\n"));
  ASSERT_TRUE(wire.codec.can_open());
  EXPECT_EQ(wire.codec.send_head(request("HEAD"), true), 3);
  EXPECT_TRUE(wire.receive("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"));
  EXPECT_TRUE(wire.codec.can_open());
}

TEST(H1ClientCodec, BytesOnAnIdleConnectionSpoilIt) {
  Wire wire;
  EXPECT_TRUE(wire.receive("HTTP/1.1 408 Request Timeout\r\n\r\n"));
  EXPECT_FALSE(wire.codec.reusable());
  EXPECT_EQ(wire.sink.transcript.text(), "");
}

TEST(H1ClientCodec, AfterAnEarlyResponseTheRequestMustBeCompletedBeforeTheNext) {
  RequestHead head = request("POST");
  head.content_length = 9;
  Wire wire;
  const StreamId id = wire.codec.send_head(head, false);
  EXPECT_TRUE(wire.receive("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_FALSE(wire.codec.reusable());
  wire.send_body(id, "123456789", true);
  EXPECT_TRUE(wire.codec.can_open());
}

TEST(H1ClientCodec, ARequestThatEndsShortOfItsLengthSpoilsTheConnection) {
  RequestHead head = request("POST");
  head.content_length = 9;
  Wire wire;
  wire.send_body(wire.codec.send_head(head, false), "part", true);
  EXPECT_FALSE(wire.codec.reusable());
}

TEST(H1ClientCodec, AResetMakesTheConnectionUselessAndForgetsWhatWasNotSent) {
  Wire wire;
  const StreamId id = wire.codec.send_head(request(), true);
  wire.codec.reset(id, Reset::kCancel);
  EXPECT_TRUE(wire.codec.idle());
  EXPECT_FALSE(wire.codec.can_open());
  EXPECT_EQ(wire.written(), "");
  EXPECT_TRUE(wire.receive("HTTP/1.1 200 OK\r\n\r\n"));
  EXPECT_EQ(wire.sink.transcript.text(), "");
}

TEST(H1ClientCodec, EofOnAnIdleConnectionIsNoError) {
  Wire wire;
  EXPECT_TRUE(wire.codec.on_eof(wire.sink));
  EXPECT_FALSE(wire.codec.reusable());
}

TEST(H1ClientCodec, RequestTrailersAreWrittenIfEnabled) {
  Fields trailers;
  trailers.add("x-sum", "9");
  Wire wire({.enable_trailers = true});
  const StreamId id = wire.codec.send_head(request("POST"), false);
  wire.written();
  wire.codec.send_trailers(id, trailers);
  EXPECT_EQ(wire.written(), "0\r\nx-sum: 9\r\n\r\n");
}

}  // namespace
}  // namespace damper::http
