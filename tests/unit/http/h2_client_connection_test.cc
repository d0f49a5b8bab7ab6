// An upstream connection whose server speaks HTTP/2; client_connection_test.cc has the rest.
#include <gtest/gtest.h>

#include "http/h2_client_codec.h"
#include "tests/support/client_bench.h"

namespace damper::http {
namespace {

using namespace std::chrono_literals;
using tests::h2::data;
using tests::h2::headers;
using Log = std::vector<std::string>;

std::string head(StreamId id, bool end = false) { return headers(id, {{":status", "200"}}, end); }
std::string answer(StreamId id) { return head(id) + data(id, "ok", true); }

// Greetings have been exchanged, if the server is to have greeted.
struct Bench : ClientBench {
  explicit Bench(const H2Options& options = {}, bool greeted = true)
      : ClientBench(std::make_unique<H2ClientCodec>(std::make_shared<const H2Options>(options))) {
    if (greeted) hear(tests::h2::settings() + tests::h2::settings_ack());
    turn();
    said();
  }
  StreamId get_for(ClientStream& whom) {
    const StreamId id = connection->open(whom, tests::request("x", "/"), true);
    turn();
    return id;
  }
};

TEST(H2ClientConnection, StreamsRunAtATimeAndAreAnsweredInAnyOrder) {
  Bench bench;
  Log other_log;
  NotingClientStream other(other_log);
  EXPECT_EQ(bench.get(), 1);
  EXPECT_EQ(bench.get_for(other), 3);
  EXPECT_EQ(bench.said(),
            "HEADERS 1 end :method=GET; :scheme=http; :authority=x; :path=/;\n"
            "HEADERS 3 end :method=GET; :scheme=http; :authority=x; :path=/;\n");
  EXPECT_EQ(bench.hear(head(1) + answer(3)), (Log{"head 200", "available"}));
  EXPECT_EQ(other_log, (Log{"head 200", "ok end"}));
  EXPECT_EQ(bench.hear(data(1, "late", true)), (Log{"late end", "available"}));
  EXPECT_TRUE(bench.connection->idle());
  EXPECT_EQ(bench.connection->requests(), 2u);
}

TEST(H2ClientConnection, HandsOnAllPartsOfARequestAndOfAResponse) {
  Bench bench;
  const StreamId id = bench.post(4);
  bench.send_body(id, "ab", false);
  bench.send_body(id, "cd", false);
  Fields trailers;
  trailers.add("sum", "1");
  bench.connection->send_trailers(id, trailers);
  bench.turn();
  EXPECT_TRUE(bench.said().ends_with("content-length=4;\nDATA 1 abcd\nHEADERS 1 end sum=1;\n"));
  EXPECT_EQ(bench.hear(headers(1, {{":status", "103"}}, false)), Log{"interim 103"});
  EXPECT_EQ(bench.hear(head(1) + data(1, "x", false)), (Log{"head 200", "x"}));
  EXPECT_EQ(bench.hear(headers(1, {{"sum", "2"}}, true)), (Log{"trailers sum", "available"}));
}

TEST(H2ClientConnection, HasOneStreamUntilTheServerHasGreeted) {
  Bench bench({}, false);
  EXPECT_TRUE(bench.connection->can_open());
  bench.get();
  EXPECT_FALSE(bench.connection->can_open());
  EXPECT_EQ(bench.hear(tests::h2::settings()), Log{"available"});
  EXPECT_TRUE(bench.connection->can_open());
}

TEST(H2ClientConnection, SaysWhenALimitIsRaised) {
  Bench bench;
  bench.hear(tests::h2::settings({{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1}}));
  bench.get();
  EXPECT_FALSE(bench.connection->can_open());
  EXPECT_EQ(bench.hear(tests::h2::settings({{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 2}})),
            Log{"available"});
}

TEST(H2ClientConnection, AResetOfTheUpstreamFailsItsStreamOnly) {
  struct Case {
    std::uint32_t code;
    Errc errc;
    bool refused;
    bool cancelled = false;
  };
  for (const Case& c : {Case{NGHTTP2_REFUSED_STREAM, Errc::kReset, true},
                        Case{NGHTTP2_CANCEL, Errc::kReset, false, true},
                        Case{NGHTTP2_INTERNAL_ERROR, Errc::kReset, false},
                        Case{NGHTTP2_NO_ERROR, Errc::kReset, false}}) {
    Bench bench;
    bench.get();
    EXPECT_EQ(bench.hear(tests::h2::rst_stream(1, c.code)),
              (Log{"failed: reset by the upstream", "available"}));
    const StreamFailure& failure = *bench.stream.failure;
    EXPECT_EQ(failure.code, c.errc);
    EXPECT_EQ(failure.refused, c.refused);
    EXPECT_EQ(failure.cancelled, c.cancelled);
    EXPECT_TRUE(failure.stream_only);
    EXPECT_TRUE(failure.request_on_wire);
    EXPECT_FALSE(failure.graceful);
    EXPECT_FALSE(failure.reused_and_silent);
    EXPECT_TRUE(bench.connection->can_open());
  }
}

TEST(H2ClientConnection, AMalformedResponseFailsItsStreamOnly) {
  Bench bench;
  bench.get();
  bench.said();
  bench.hear(headers(1, {{":status", "200"}, {"connection", "close"}}, true));
  bench.turn();
  ASSERT_TRUE(bench.stream.failure);
  EXPECT_EQ(bench.stream.failure->code, Errc::kProtocol);
  EXPECT_EQ(bench.said(), "RST_STREAM 1 PROTOCOL_ERROR\n");
  EXPECT_TRUE(bench.connection->can_open());
}

TEST(H2ClientConnection, AGoawayFailsWhatItDoesNotCoverAndRetiresTheConnection) {
  for (const bool graceful : {true, false}) {
    Bench bench;
    Log other_log;
    NotingClientStream other(other_log);
    bench.get();
    bench.get_for(other);
    EXPECT_EQ(
        bench.hear(tests::h2::goaway(1, graceful ? NGHTTP2_NO_ERROR : NGHTTP2_ENHANCE_YOUR_CALM)),
        Log{"retired"});
    EXPECT_FALSE(bench.connection->can_open());
    ASSERT_TRUE(other.failure);
    EXPECT_TRUE(other.failure->refused);
    EXPECT_EQ(other.failure->graceful, graceful);
    EXPECT_FALSE(bench.stream.failure);
    EXPECT_EQ(bench.hear(answer(1)), (Log{"head 200", "ok end", "closed: cannot be used again"}));
  }
}

TEST(H2ClientConnection, AnIdleConnectionClosesOnAGoaway) {
  Bench bench;
  EXPECT_EQ(bench.hear(tests::h2::goaway(0, NGHTTP2_NO_ERROR)),
            Log{"closed: cannot be used again"});
}

TEST(H2ClientConnection, ACancelledRequestLeavesTheConnection) {
  for (const bool abandoned : {false, true}) {
    Bench bench;
    const StreamId id = bench.get();
    bench.said();
    if (abandoned) {
      bench.connection->abandon(id);
    } else {
      bench.connection->reset(id);
    }
    EXPECT_EQ(bench.turn(), Log{"available"});
    EXPECT_EQ(bench.said(), "RST_STREAM 1 CANCEL\n");
    EXPECT_EQ(bench.hear(answer(1)), Log{});
    EXPECT_TRUE(bench.connection->can_open());
  }
}

TEST(H2ClientConnection, AStreamMayCancelItselfWhileItsResponseComes) {
  Bench bench;
  const StreamId id = bench.get();
  bench.stream.head_hook = [&] { bench.connection->reset(id); };
  EXPECT_EQ(bench.hear(answer(1)), (Log{"head 200", "available"}));
}

TEST(H2ClientConnection, ABodyThatIsNotWantedShutsItsWindowOnly) {
  Bench bench({.http2 = {.stream_window_bytes = 65535, .connection_window_bytes = 65535}});
  const StreamId id = bench.get();
  bench.said();
  bench.hear(head(1));
  bench.connection->pause_body(id);
  for (int i = 0; i < 4; ++i) bench.hear(data(1, std::string(16000, 'x'), false));
  EXPECT_EQ(bench.said().find("WINDOW_UPDATE 1 "), std::string::npos);
  bench.connection->resume_body(id);
  bench.turn();
  EXPECT_EQ(bench.said(), "WINDOW_UPDATE 1 64000\n");
}

TEST(H2ClientConnection, EachStreamIsToldWhenItsOwnBytesHaveLeft) {
  Bench bench;
  bench.hear(tests::h2::settings({{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 10}}));
  const StreamId id = bench.post(1'000'000);
  bench.send_body(id, std::string(net::Connection::kLowMark + 11, 'x'), false);
  bench.connection->notify_when_drained(id);
  EXPECT_EQ(bench.turn(), Log{});
  EXPECT_EQ(bench.connection->unsent_bytes(id), net::Connection::kLowMark + 1);
  EXPECT_EQ(bench.hear(tests::h2::window_update(1, 1)), Log{"drained"});
}

TEST(H2ClientConnection, AnAnswerBeforeTheEndOfTheRequestCancelsTheRest) {
  Bench bench;
  const StreamId id = bench.post(4);
  bench.send_body(id, "ab", false);
  bench.turn();
  bench.said();
  EXPECT_EQ(bench.hear(answer(1)), (Log{"head 200", "ok end", "available"}));
  EXPECT_EQ(bench.said(), "RST_STREAM 1 CANCEL\n");
}

TEST(H2ClientConnection, ABrokenConnectionFailsAllItsStreamsAndSaysWhy) {
  Bench bench;
  Log other_log;
  NotingClientStream other(other_log);
  bench.get();
  bench.get_for(other);
  bench.said();
  const Log log = bench.hear(data(0, "x", false));
  for (const NotingClientStream* stream : {&bench.stream, &other}) {
    ASSERT_TRUE(stream->failure);
    EXPECT_EQ(stream->failure->code, Errc::kProtocol);
    EXPECT_FALSE(stream->failure->stream_only);
    EXPECT_FALSE(stream->failure->refused);
  }
  EXPECT_TRUE(bench.said().ends_with("PROTOCOL_ERROR\n"));
  EXPECT_TRUE(bench.gone());
  EXPECT_EQ(log.back(), "closed: http2.DATA: stream_id == 0");
}

TEST(H2ClientConnection, TheEndOfTheConnectionFailsAllItsStreams) {
  Bench bench;
  Log other_log;
  NotingClientStream other(other_log);
  bench.get();
  bench.get_for(other);
  bench.hear(head(1));
  bench.peer.close();
  bench.turn();
  for (const NotingClientStream* stream : {&bench.stream, &other}) {
    ASSERT_TRUE(stream->failure);
    EXPECT_TRUE(stream->failure->request_on_wire);
    EXPECT_FALSE(stream->failure->stream_only);
  }
  EXPECT_TRUE(bench.gone());
}

TEST(H2ClientConnection, ARequestThatWasNotWrittenIsNotOnTheWire) {
  Bench bench;
  const StreamId id = bench.connection->open(bench.stream, tests::request("x", "/"), true);
  EXPECT_FALSE(bench.connection->on_wire(id));
  bench.connection->close({Errc::kClosed, Side::kLocal, "too soon"});
  EXPECT_FALSE(bench.stream.failure->request_on_wire);
}

TEST(H2ClientConnection, OnlyASilentConnectionHasLostTheRace) {
  for (const bool silent : {true, false}) {
    Bench bench;
    bench.get();
    bench.hear(answer(1));
    bench.get();
    if (!silent) bench.hear(tests::h2::ping("12345678"));
    bench.said();
    bench.peer.close();
    bench.turn();
    ASSERT_TRUE(bench.stream.failure);
    EXPECT_EQ(bench.stream.failure->reused_and_silent, silent);
  }
}

TEST(H2ClientConnection, AnIdleConnectionAnswersPings) {
  Bench bench;
  EXPECT_EQ(bench.hear(tests::h2::ping("12345678")), Log{});
  EXPECT_EQ(bench.said(), "PING ack 12345678\n");
}

TEST(H2ClientConnection, MayBeClosedWhileItsResponsesAreDelivered) {
  Bench bench;
  Log other_log;
  NotingClientStream other(other_log);
  bench.get();
  bench.get_for(other);
  bench.stream.body_hook = [&] {
    bench.connection->close({Errc::kClosed, Side::kLocal, "enough"});
  };
  bench.hear(answer(1) + answer(3));
  EXPECT_TRUE(bench.gone());
  ASSERT_TRUE(other.failure);
  EXPECT_EQ(other_log, Log{"failed: enough"});
}

}  // namespace
}  // namespace damper::http
