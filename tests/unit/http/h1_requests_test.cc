// What the server codec makes of requests, good and bad: tables by what is right or wrong with
// them.
#include <gtest/gtest.h>

#include "http/h1_server_codec.h"
#include "tests/support/transcript.h"

namespace damper::http {
namespace {

struct Outcome {
  std::string read;
  std::string written;
  bool finished = false;
  bool operator==(const Outcome&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Outcome& o) {
  return out << o.read << "--\n" << o.written << (o.finished ? "finished" : "open");
}

H1ServerOptions strict() { return {}; }
H1ServerOptions with_http10() {
  return {.accept_http_10 = true, .default_host_for_http_10 = "default.test"};
}
H1ServerOptions with_trailers() { return {.enable_trailers = true}; }

Outcome play(const H1ServerOptions& options, std::string_view bytes,
             const std::vector<std::size_t>& cuts) {
  H1ServerCodec codec(options);
  RecordingServerSink sink(codec);
  Buffer in, out;
  cut(bytes, cuts, [&](std::string_view piece) {
    append_as_slice(in, piece);
    EXPECT_TRUE(codec.receive(in, sink));
    codec.pull(out);
  });
  return {sink.transcript.text(), out.to_string(), codec.finished()};
}

// The outcome of the whole input, which every way of cutting it must have too.
Outcome play_in_all_ways(const H1ServerOptions& options, const std::string& bytes) {
  const Outcome whole = play(options, bytes, {});
  for (const auto& cuts : all_cuts(bytes.size())) {
    EXPECT_EQ(play(options, bytes, cuts), whole) << bytes;
  }
  return whole;
}

std::string get(const std::string& fields) {
  return "GET / HTTP/1.1\r\nHost: a.test\r\n" + fields + "\r\n";
}
std::string chunked(const std::string& body) {
  return "POST /p HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n" + body;
}

struct Good {
  std::string bytes;
  std::string read;
};

class GoodRequests : public ::testing::TestWithParam<Good> {};

TEST_P(GoodRequests, AreReadHoweverTheyAreCut) {
  const Outcome outcome = play_in_all_ways(with_http10(), GetParam().bytes);
  EXPECT_EQ(outcome.read, GetParam().read);
}

INSTANTIATE_TEST_SUITE_P(
    Heads, GoodRequests,
    ::testing::Values(
        Good{"GET /a?b=c HTTP/1.1\r\nHost: a.test\r\n\r\n", "GET http://a.test /a?b=c\nend\n"},
        Good{"\r\nGET / HTTP/1.1\r\nhOST:a.test:80\r\n\r\n", "GET http://a.test:80 /\nend\n"},
        Good{"M-SEARCH /m HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n",
             "M-SEARCH http://[::1]:8080 /m\nend\n"},
        Good{"OPTIONS * HTTP/1.1\r\nHost: A.Test.\r\n\r\n", "OPTIONS http://A.Test. *\nend\n"},
        Good{"GET //e.test/a/../%2e\"<>\\^`{|} HTTP/1.1\r\nHost: a\r\n\r\n",
             "GET http://a //e.test/a/../%2e\"<>\\^`{|}\nend\n"},
        Good{get("X-Empty:\r\nX-Ows: \t v w \t \r\nX!#$%&'*+-.^_`|~9: \xe9\xff\r\n"),
             "GET http://a.test / x-empty=; x-ows=v w; x!#$%&'*+-.^_`|~9=\xe9\xff;\nend\n"},
        Good{get("Set: 1\r\nset: 2\r\n"), "GET http://a.test / set=1; set=2;\nend\n"},
        Good{get("X: a\tb\r\n"), "GET http://a.test / x=a\tb;\nend\n"},
        Good{get("X_Under: v\r\n"), "GET http://a.test / x_under=v;\nend\n"},
        Good{"GET / HTTP/1.0\r\n\r\n", "GET http://default.test / 1.0\nend\n"},
        Good{"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n",
             "CONNECT http://a.test:443 \nend\n"}));

INSTANTIATE_TEST_SUITE_P(
    AbsoluteForm, GoodRequests,
    ::testing::Values(Good{"GET http://b.test/x?q HTTP/1.1\r\nHost: a.test\r\n\r\n",
                           "GET http://b.test /x?q\nend\n"},
                      Good{"GET HTTPS://b.test HTTP/1.1\r\nHost: a.test\r\n\r\n",
                           "GET https://b.test /\nend\n"},
                      Good{"GET http://b.test?q=/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
                           "GET http://b.test /?q=/\nend\n"},
                      Good{"OPTIONS http://b.test HTTP/1.1\r\nHost: a.test\r\n\r\n",
                           "OPTIONS http://b.test *\nend\n"}));

INSTANTIATE_TEST_SUITE_P(
    Bodies, GoodRequests,
    ::testing::Values(
        Good{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5 \t\r\n\r\nhello",
             "POST http://a / length 5\nbody hello\nend\n"},
        Good{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0005\r\n\r\nhello\r\n",
             "POST http://a / length 5\nbody hello\nend\n"},
        Good{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
             "POST http://a / length 0\nend\n"},
        Good{"POST / HTTP/1.1\r\nHost: a\r\n\r\n", "POST http://a /\nend\n"},
        Good{"POST / HTTP/1.1\r\nHost: a\r\ntRANSFER-eNCODING:\tChUnKeD "
             "\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n",
             "POST http://a /\nbody 0123456789\nend\n"},
        Good{chunked("0005;a=b\r\nhello\r\n1 ; c ; d=\"x;\\\"y\"\r\n!\r\n000;e\r\n\r\n"),
             "POST http://a.test /p\nbody hello!\nend\n"},
        Good{chunked("0\r\n\r\n"), "POST http://a.test /p\nend\n"},
        Good{chunked("1\r\na\r\n0\r\nX-Sum: 1\r\n\r\n"), "POST http://a.test /p\nbody a\nend\n"},
        Good{"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTE: chunked\r\nTransfer_Encoding: "
             "chunked\r\n\r\n0\r\n\r\n",
             "GET http://a / length 5 transfer_encoding=chunked;\nbody 0\r\n\r\n\nend\n"}));

INSTANTIATE_TEST_SUITE_P(
    HopByHopFields, GoodRequests,
    ::testing::Values(
        Good{get("Connection: keep-alive\r\nKeep-Alive: timeout=5\r\nProxy-Connection: "
                 "keep-alive\r\nTrailer: x\r\n"),
             "GET http://a.test /\nend\n"},
        Good{get("Connection: X-Hop , ,x-deadline\r\nX-Hop: 1\r\nX-End: 2\r\nX-Deadline: 5\r\n"),
             "GET http://a.test / x-end=2;\nend\n"},
        Good{get("Connection: Authorization, cookie, x-request-id, x-forwarded-for, "
                 "x-envoy-max-retries, host\r\n"
                 "Authorization: b\r\nCookie: c\r\nX-Request-Id: r\r\nX-Forwarded-For: "
                 "f\r\nX-Envoy-Max-Retries: 1\r\n"),
             "GET http://a.test / authorization=b; cookie=c; x-request-id=r; x-forwarded-for=f; "
             "x-envoy-max-retries=1;\nend\n"},
        Good{get("Connection: TE\r\nTE: gzip, Trailers\r\nTE: trailers\r\n"),
             "GET http://a.test / te=trailers;\nend\n"},
        Good{"POST / HTTP/1.1\r\nHost: a\r\nConnection: content-length\r\nContent-Length: "
             "2\r\n\r\nab",
             "POST http://a / length 2\nbody ab\nend\n"}));

INSTANTIATE_TEST_SUITE_P(
    ExpectAndUpgrade, GoodRequests,
    ::testing::Values(
        Good{"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\na",
             "POST http://a / length 1 expects\nbody a\nend\n"},
        Good{"POST / HTTP/1.0\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na",
             "POST http://a / 1.0 length 1\nbody a\nend\n"},
        Good{get("Expect: 100-continue\r\n"), "GET http://a.test /\nend\n"},
        Good{get("Expect: y 100-continue\r\n"),
             "GET http://a.test / expect=y 100-continue;\nend\n"},
        Good{get("Connection: Upgrade\r\nUpgrade: WebSocket\r\n"),
             "GET http://a.test / upgrade websocket\nend\n"},
        Good{get("Upgrade: websocket\r\n"), "GET http://a.test /\nend\n"},
        Good{get("Connection: upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n"),
             "GET http://a.test /\nend\n"}));

struct Bad {
  std::string bytes;
  int status = 400;
  std::string detail = "http1.codec_error";
};

class BadRequests : public ::testing::TestWithParam<Bad> {};

TEST_P(BadRequests, AreRefusedHoweverTheyAreCutAndNothingBehindThemIsRead) {
  const std::string behind = GetParam().bytes + "GET /behind HTTP/1.1\r\nHost: a.test\r\n\r\n";
  const Outcome outcome = play_in_all_ways(strict(), behind);
  const std::string said =
      "bad " + std::to_string(GetParam().status) + " " + GetParam().detail + "\n";
  EXPECT_TRUE(outcome.read.ends_with(said)) << outcome.read << "wanted " << said;
  EXPECT_TRUE(outcome.written.starts_with("HTTP/1.1 " + std::to_string(GetParam().status)))
      << outcome.written;
  EXPECT_NE(outcome.written.find("connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(outcome.finished);
}

INSTANTIATE_TEST_SUITE_P(
    RequestLines, BadRequests,
    ::testing::Values(Bad{"\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"},
                      Bad{"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"},
                      Bad{" GET / HTTP/1.1\r\nHost: a\r\n\r\n"}, Bad{"\x16\x03\x01\x02"},
                      Bad{"GE(T / HTTP/1.1\r\n"}, Bad{"GET\t/\tHTTP/1.1\r\n"},
                      Bad{std::string(33, 'A') + " / HTTP/1.1\r\n"}, Bad{"GET / HTTP/1.1\n"},
                      Bad{"GET / HTTP/1.1\r\r\n"}, Bad{"GET / HTTP/1.1 \r\n"},
                      Bad{"GET / HTTP/1.1\rHost: a\r\n\r\n"}, Bad{"GET / http/1.1\r\n"},
                      Bad{"GET / HTTP/11\r\n"}, Bad{"GET / HTTP/1.10\r\n"},
                      Bad{"GET / HTTP/1.2\r\n", 505, "low_version"},
                      Bad{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "low_version"},
                      Bad{"GET / HTTP/1.0\r\nHost: a\r\n\r\n", 426, "low_version"}));

INSTANTIATE_TEST_SUITE_P(
    Targets, BadRequests,
    ::testing::Values(Bad{"GET /\r\n", 400, "http1.invalid_url"},
                      Bad{"GET  / HTTP/1.1\r\n", 400, "http1.invalid_url"},
                      Bad{"GET /a b HTTP/1.1\r\n"},
                      Bad{"GET /\xc3\xa9 HTTP/1.1\r\n", 400, "http1.invalid_url"},
                      Bad{std::string("GET /\0 HTTP/1.1\r\n", 17), 400, "http1.invalid_url"},
                      Bad{"GET /a#f HTTP/1.1\r\nHost: a\r\n\r\n", 400, "http1.invalid_url"},
                      Bad{"GET foo HTTP/1.1\r\nHost: a\r\n\r\n", 400, "http1.invalid_url"},
                      Bad{"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400, "http1.invalid_url"},
                      Bad{"GET a.test:80 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "http1.invalid_url"},
                      Bad{"GET http://u:p@a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400,
                          "http1.invalid_url"},
                      Bad{"GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n", 400, "http1.invalid_url"},
                      Bad{"GET ftp://a/x HTTP/1.1\r\nHost: a\r\n\r\n", 400, "http1.invalid_url"},
                      Bad{"CONNECT /x HTTP/1.1\r\nHost: a\r\n\r\n", 400, "http1.invalid_url"},
                      Bad{"CONNECT a.test HTTP/1.1\r\nHost: a\r\n\r\n", 400, "http1.invalid_url"},
                      Bad{"GET http://a/ HTTP/1.1\r\nX: y\r\n\r\n", 400, "missing_host_header"}));

INSTANTIATE_TEST_SUITE_P(
    Hosts, BadRequests,
    ::testing::Values(Bad{"GET / HTTP/1.1\r\n\r\n", 400, "missing_host_header"},
                      Bad{get("Host: a.test\r\n"), 400, "http1.invalid_host"},
                      Bad{"GET / HTTP/1.1\r\nHost:\r\n\r\n", 400, "http1.invalid_host"},
                      Bad{"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "http1.invalid_host"},
                      Bad{"GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", 400, "http1.invalid_host"},
                      Bad{"GET / HTTP/1.1\r\nHost: a/x\r\n\r\n", 400, "http1.invalid_host"},
                      Bad{"GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400, "http1.invalid_host"},
                      Bad{"GET / HTTP/1.1\r\nHost: a:8x\r\n\r\n", 400, "http1.invalid_host"},
                      Bad{"GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n", 400, "http1.invalid_host"},
                      Bad{"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", 400, "http1.invalid_host"},
                      Bad{"GET / HTTP/1.1\r\nHost: [zz::]\r\n\r\n", 400, "http1.invalid_host"},
                      Bad{"GET / HTTP/1.1\r\nHost: h\xe9\r\n\r\n", 400, "http1.invalid_host"}));

INSTANTIATE_TEST_SUITE_P(
    FieldSyntax, BadRequests,
    ::testing::Values(Bad{get("X-A : v\r\n")}, Bad{get("NoColon\r\n")}, Bad{get(": v\r\n")},
                      Bad{get("X A: v\r\n")}, Bad{get("X\xe9: v\r\n")},
                      Bad{get("X-A: b\r\n c\r\n")}, Bad{get("X-A: b\r\n\tc\r\n")},
                      Bad{get("X-A: a\nX-B: b\r\n"), 400, "http1.invalid_characters"},
                      Bad{get("X-A: a\rb\r\n"), 400, "http1.invalid_characters"},
                      Bad{get("X-A:\rxTransfer-Encoding: chunked\r\n"), 400,
                          "http1.invalid_characters"},
                      Bad{get("X-A: a\r\r\n"), 400, "http1.invalid_characters"},
                      Bad{get(std::string("X-A: a\0b\r\n", 10)), 400, "http1.invalid_characters"},
                      Bad{get("X-A: 0123456789abcdef\x01\r\n"), 400, "http1.invalid_characters"},
                      Bad{get("X-A: a\x7f\r\n"), 400, "http1.invalid_characters"},
                      Bad{"GET / HTTP/1.1\r\nHost: a\r\n\rZ\r\n"},
                      Bad{"GET / HTTP/1.1\r\nHost: a\r\n\n"}));

INSTANTIATE_TEST_SUITE_P(
    Lengths, BadRequests,
    ::testing::Values(
        Bad{get("Content-Length:\r\n"), 400, "http1.invalid_content_length"},
        Bad{get("Content-Length: +5\r\n"), 400, "http1.invalid_content_length"},
        Bad{get("Content-Length: -5\r\n"), 400, "http1.invalid_content_length"},
        Bad{get("Content-Length: 0x5\r\n"), 400, "http1.invalid_content_length"},
        Bad{get("Content-Length: 5 5\r\n"), 400, "http1.invalid_content_length"},
        Bad{get("Content-Length: 5, 5\r\n"), 400, "http1.invalid_content_length"},
        Bad{get("Content-Length: 9223372036854775808\r\n"), 400, "http1.invalid_content_length"},
        Bad{get("Content-Length: 18446744073709551621\r\n"), 400, "http1.invalid_content_length"},
        Bad{get("Content-Length: 00000000000000000005\r\n"), 400, "http1.invalid_content_length"},
        Bad{get("Content-Length: 5\r\nContent-Length: 5\r\n"), 400, "http1.invalid_content_length"},
        Bad{get("Content-Length : 5\r\n")}));

INSTANTIATE_TEST_SUITE_P(
    Codings, BadRequests,
    ::testing::Values(
        Bad{get("Transfer-Encoding: xchunked\r\n"), 501, "http1.invalid_transfer_encoding"},
        Bad{get("Transfer-Encoding: gzip, chunked\r\n"), 501, "http1.invalid_transfer_encoding"},
        Bad{get("Transfer-Encoding: chunked, identity\r\n"), 400,
            "http1.invalid_transfer_encoding"},
        Bad{get("Transfer-Encoding: chunked, chunked\r\n"), 400, "http1.invalid_transfer_encoding"},
        Bad{get("Transfer-Encoding: ,chunked\r\n"), 400, "http1.invalid_transfer_encoding"},
        Bad{get("Transfer-Encoding: chunked;q=1\r\n"), 400, "http1.invalid_transfer_encoding"},
        Bad{get("Transfer-Encoding: \xa0"
                "chunked\r\n"),
            400, "http1.invalid_transfer_encoding"},
        Bad{get("Transfer-Encoding:\r\n"), 400, "http1.invalid_transfer_encoding"},
        Bad{get("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400,
            "http1.invalid_transfer_encoding"},
        Bad{get("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"), 400,
            "http1.content_length_and_chunked_not_allowed"}));

INSTANTIATE_TEST_SUITE_P(
    Chunks, BadRequests,
    ::testing::Values(Bad{chunked("0x5\r\nhello\r\n")}, Bad{chunked("-5\r\nhello\r\n")},
                      Bad{chunked(" 5\r\nhello\r\n")}, Bad{chunked("5 \r\nhello\r\n")},
                      Bad{chunked("\r\nhello\r\n")}, Bad{chunked("10000000000000005\r\nhello\r\n")},
                      Bad{chunked("8000000000000005\r\nhello\r\n")}, Bad{chunked("5\nhello\r\n")},
                      Bad{chunked("5\rXhello\r\n")}, Bad{chunked("5\r\nhello\n0\r\n\r\n")},
                      Bad{chunked("5\r\nhelloXX0\r\n\r\n")}, Bad{chunked("3\r\nhello\r\n")},
                      Bad{chunked("5;\r\nhello\r\n")}, Bad{chunked("2;\nxx\r\n2f\r\n0\r\n\r\n")},
                      Bad{chunked("5;a\rb\r\nhello\r\n")},
                      Bad{chunked("5;a=\"x\r\n\"\r\nhello\r\n")},
                      Bad{chunked("5;a=\"\\\r\n\"\r\nhello\r\n")},
                      Bad{chunked("5;a=" + std::string(300, 'x') + "\r\nhello\r\n")},
                      Bad{chunked("0\r\nX\r\n")}, Bad{chunked("0\r\n\rX\r\n")},
                      Bad{chunked("0\r\n\n")},
                      Bad{chunked("0\r\nX-T: a\x01\r\n\r\n"), 400, "http1.invalid_characters"},
                      Bad{chunked("0\r\nX-T: " + std::string(9000, 'a') + "\r\n\r\n"), 431,
                          "http1.trailers_too_large"}));

INSTANTIATE_TEST_SUITE_P(
    Limits, BadRequests,
    ::testing::Values(Bad{"GET /" + std::string(8200, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414,
                          "http1.uri_too_long"},
                      Bad{"GET /" + std::string(70000, 'a'), 414, "http1.uri_too_long"},
                      Bad{get("X: " + std::string(70000, 'a') + "\r\n"), 431,
                          "http1.headers_too_large"}));

TEST(H1ServerCodec, TheHundredthFieldIsTakenAndTheNextIsNot) {
  std::string fields;
  for (int i = 1; i < 100; ++i) fields += "x-" + std::to_string(i) + ": v\r\n";
  EXPECT_TRUE(play(strict(), get(fields), {}).read.ends_with("x-99=v;\nend\n"));
  EXPECT_EQ(play(strict(), get(fields + "x-100: v\r\n"), {}).read,
            "bad 431 http1.too_many_headers\n");
}

TEST(H1ServerCodec, UnderscoresAreTreatedAsConfigured) {
  H1ServerOptions options;
  options.headers_with_underscores = Underscores::kDropHeader;
  EXPECT_EQ(play(options, get("x_a: 1\r\nx-b: 2\r\n"), {}).read,
            "GET http://a.test / x-b=2;\nend\n");
  options.headers_with_underscores = Underscores::kRejectRequest;
  EXPECT_EQ(play(options, get("x_a: 1\r\n"), {}).read, "bad 400 http1.unexpected_underscore\n");
}

TEST(H1ServerCodec, AbsoluteUrlsCanBeForbidden) {
  H1ServerOptions options;
  options.allow_absolute_url = false;
  EXPECT_EQ(play(options, "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", {}).read,
            "bad 400 http1.invalid_url\n");
}

TEST(H1ServerCodec, ExpectStaysAFieldIfItIsToBePassedOn) {
  H1ServerOptions options;
  options.proxy_100_continue = true;
  const std::string post =
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\na";
  EXPECT_EQ(play(options, post, {}).read,
            "POST http://a / length 1 expects expect=100-continue;\nbody a\nend\n");
}

TEST(H1ServerCodec, Http10WithoutAHostToAssumeIsRefused) {
  EXPECT_EQ(play({.accept_http_10 = true}, "GET / HTTP/1.0\r\n\r\n", {}).read,
            "bad 400 missing_host_header\n");
  EXPECT_EQ(play(with_http10(), "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", {}).read,
            "bad 400 http1.invalid_transfer_encoding\n");
}

TEST(H1ServerCodec, AllowedTrailersAreReportedIfEnabled) {
  const std::string request =
      chunked("1\r\na\r\n0\r\nX-Sum: 1\r\nContent-Length: 5\r\nAuthorization: b\r\n\r\n");
  EXPECT_EQ(play_in_all_ways(with_trailers(), request).read,
            "POST http://a.test /p\nbody a\ntrailers x-sum=1;\n");
  const std::string only_forbidden = chunked("1\r\na\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(play_in_all_ways(with_trailers(), only_forbidden).read,
            "POST http://a.test /p\nbody a\nend\n");
}

TEST(H1ServerCodec, PipelinedRequestsAreAnsweredInTurn) {
  const std::string two = chunked("5\r\nhello\r\n0\r\n\r\n") + "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n";
  const Outcome outcome = play_in_all_ways(strict(), two);
  EXPECT_EQ(outcome.read, "POST http://a.test /p\nbody hello\nend\n#3 GET http://a /2\n#3 end\n");
  EXPECT_EQ(
      outcome.written,
      "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  EXPECT_FALSE(outcome.finished);
}

TEST(H1ServerCodec, NothingBehindACloseIsServed) {
  const std::string next = "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n";
  for (const std::string& first :
       {get("Connection: keep-alive\r\nConnection: close\r\n"),
        std::string("GET / HTTP/1.0\r\nConnection: keep-alive\r\nHost: a.test\r\n\r\n")}) {
    const Outcome outcome = play_in_all_ways(with_http10(), first + next);
    EXPECT_EQ(outcome.read.find("#3"), std::string::npos);
    EXPECT_NE(outcome.written.find("connection: close"), std::string::npos);
    EXPECT_TRUE(outcome.finished);
  }
}

}  // namespace
}  // namespace damper::http
