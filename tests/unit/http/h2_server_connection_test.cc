// A downstream connection whose client speaks HTTP/2; server_connection_test.cc has the rest.
#include <gtest/gtest.h>

#include "tests/support/server_bench.h"

namespace damper::http {
namespace {

using namespace std::chrono_literals;
using tests::h2::data;
using tests::h2::get;
using tests::h2::post;
using Log = std::vector<std::string>;

const std::string kHello = std::string(tests::h2::kPreface) + tests::h2::settings();
const std::string kDrainAnswer = tests::h2::ping(std::string("drain\0\0\0", 8), true);

// Greetings have been exchanged.
struct Bench : ServerBench {
  explicit Bench(ServerSettings settings = {}) : ServerBench(settings) {
    EXPECT_EQ(hear(kHello + tests::h2::settings_ack()), Log{});
    said();
  }
};

TEST(H2ServerConnection, KnowsThePrefaceHoweverItIsCut) {
  const std::string bytes = kHello + get(1);
  for (std::size_t n = 1; n < bytes.size(); n += n < 30 ? 1 : 7) {
    ServerBench bench;
    EXPECT_EQ(bench.hear(bytes.substr(0, n)), Log{}) << n;
    EXPECT_EQ(bench.hear(bytes.substr(n)), Log{"1 GET end"}) << n;
    bench.answer(1);
    bench.turn();
    EXPECT_TRUE(bench.said().ends_with("DATA 1 ok end\n"));
  }
}

TEST(H2ServerConnection, WhatOnlyBeginsLikeThePrefaceIsHttp1) {
  for (const std::string method : {"P", "PR", "PRI", "PRIX", "PUT"}) {
    for (std::size_t n = 1; n <= method.size(); ++n) {
      ServerBench bench;
      const std::string bytes = method + " / HTTP/1.1\r\nhost: x\r\n\r\n";
      EXPECT_EQ(bench.hear(bytes.substr(0, n)), Log{});
      EXPECT_EQ(bench.hear(bytes.substr(n)), Log{"1 " + method + " end"});
      bench.answer(1);
      bench.turn();
      EXPECT_TRUE(bench.peer.take().starts_with("HTTP/1.1 200"));
    }
  }
}

TEST(H2ServerConnection, AListenerOfHttp1TakesThePrefaceForABadRequest) {
  ServerSettings settings;
  settings.options.codec_type = config::CodecType::kHttp1;
  ServerBench bench(settings);
  const Log log = bench.hear(kHello);
  ASSERT_FALSE(log.empty());
  EXPECT_TRUE(log.front().starts_with("1 bad ")) << log.front();
  EXPECT_TRUE(bench.peer.take().starts_with("HTTP/1.1 "));
}

TEST(H2ServerConnection, AListenerOfHttp2SpeaksFirstAndHearsNothingElse) {
  ServerSettings settings;
  settings.options.codec_type = config::CodecType::kHttp2;
  ServerBench bench(settings);
  bench.turn();
  EXPECT_TRUE(bench.said().starts_with("SETTINGS "));
  bench.hear("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  bench.turn();
  EXPECT_TRUE(bench.peer.ended());
  EXPECT_EQ(bench.hear(kHello), Log{});
}

TEST(H2ServerConnection, StreamsRunAtATimeAndAreAnsweredInAnyOrder) {
  Bench bench;
  EXPECT_EQ(bench.hear(get(1) + post(3) + get(5)), (Log{"1 GET end", "3 POST", "5 GET end"}));
  bench.answer(5);
  EXPECT_EQ(bench.turn(), Log{"5 destroyed"});
  EXPECT_EQ(bench.said(), "HEADERS 5 :status=200; content-length=2;\nDATA 5 ok end\n");
  EXPECT_EQ(bench.hear(data(3, "abc", true)), Log{"3 abc end"});
  bench.answer(1);
  bench.answer(3);
  bench.turn();
  EXPECT_TRUE(bench.connection->idle());
}

TEST(H2ServerConnection, AResetEndsItsStreamOnly) {
  Bench bench;
  bench.hear(get(1) + get(3));
  EXPECT_EQ(bench.hear(tests::h2::rst_stream(1, NGHTTP2_CANCEL)), Log{"1 reset"});
  bench.connection->end_stream(1);
  bench.connection->reset(3, Reset::kInternal);
  bench.connection->end_stream(3);
  EXPECT_EQ(bench.turn(), (Log{"1 destroyed", "3 destroyed"}));
  EXPECT_EQ(bench.said(), "RST_STREAM 3 INTERNAL_ERROR\n");
  EXPECT_EQ(bench.hear(get(5)), Log{"5 GET end"});
}

TEST(H2ServerConnection, ABadRequestIsAnsweredAndItsNeighboursGoOn) {
  Bench bench;
  bench.hear(get(1));
  EXPECT_EQ(bench.hear(get(3, {{"host", "b.test"}})),
            (Log{"3 bad 400 http2.invalid_authority", "3 destroyed"}));
  EXPECT_EQ(bench.said(), "HEADERS 3 end :status=400;\n");
  bench.answer(1);
  EXPECT_EQ(bench.turn(), Log{"1 destroyed"});
}

// --- Flow control --------------------------------------------------------------------------------

std::string bulk(StreamId id) {
  std::string out;
  for (int i = 0; i < 4; ++i) out += data(id, std::string(16000, 'x'), false);
  return out;
}

TEST(H2ServerConnection, ABodyThatIsNotWantedShutsItsWindowOnly) {
  ServerSettings settings;
  settings.options.http2.stream_window_bytes = 65535;
  settings.options.http2.connection_window_bytes = 65535;
  Bench bench(settings);
  bench.hear(post(1) + post(3));
  bench.connection->pause_body(1);
  for (const StreamId id : {1, 3}) {
    bench.peer.send(bulk(id));
    std::size_t came = 0;
    EXPECT_TRUE(tests::run_until(bench.loop, [&] {
      for (const std::string& line : std::exchange(bench.log, {})) came += line.size() - 2;
      return came == 64000;
    }));
  }
  bench.turn();
  const std::string said = bench.said();
  EXPECT_NE(said.find("WINDOW_UPDATE 0 "), std::string::npos);
  EXPECT_NE(said.find("WINDOW_UPDATE 3 "), std::string::npos);
  EXPECT_EQ(said.find("WINDOW_UPDATE 1 "), std::string::npos);
  bench.connection->resume_body(1);
  bench.turn();
  EXPECT_EQ(bench.said(), "WINDOW_UPDATE 1 64000\n");
}

TEST(H2ServerConnection, EachStreamIsToldWhenItsOwnBytesHaveLeft) {
  Bench bench;
  bench.hear(tests::h2::settings({{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 10}}) + get(1) + get(3));
  const std::string much(net::Connection::kLowMark + 11, 'x');
  for (const StreamId id : {1, 3}) bench.send_head(id, std::nullopt);
  bench.send_body(1, much, false);
  bench.send_body(3, "few", false);
  for (const StreamId id : {1, 3}) bench.connection->notify_when_drained(id);
  EXPECT_EQ(bench.turn(), Log{"3 drained"});
  EXPECT_EQ(bench.connection->unsent_bytes(1), net::Connection::kLowMark + 1);
  EXPECT_EQ(bench.hear(tests::h2::window_update(1, 1)), Log{"1 drained"});
}

// --- Time ----------------------------------------------------------------------------------------

TEST(H2ServerConnection, AnIdleClientIsToldToGoAndThenLetGo) {
  Bench bench;
  EXPECT_EQ(bench.advance(10s - 1ns), Log{});
  EXPECT_EQ(bench.advance(1ns), Log{"idle timeout"});
  EXPECT_EQ(bench.said(), "GOAWAY 2147483647 NO_ERROR\nPING drain\n");
  bench.hear(kDrainAnswer);
  bench.turn();
  EXPECT_EQ(bench.said(), "GOAWAY 0 NO_ERROR\n");
  EXPECT_TRUE(bench.peer.ended());
}

TEST(H2ServerConnection, IdlenessBeginsAfterTheLastStream) {
  Bench bench;
  bench.time.advance(9s);
  bench.hear(get(1) + get(3));
  bench.answer(1);
  EXPECT_EQ(bench.turn(), Log{"1 destroyed"});
  EXPECT_EQ(bench.advance(1h), Log{});
  bench.answer(3);
  bench.turn();
  EXPECT_EQ(bench.advance(10s - 1ns), Log{});
  EXPECT_EQ(bench.advance(1ns), Log{"idle timeout"});
}

TEST(H2ServerConnection, HalfAPrefaceIsTimedAsAHead) {
  ServerBench bench;
  bench.hear(kHello.substr(0, 10));
  EXPECT_EQ(bench.advance(1s - 1ns), Log{});
  EXPECT_EQ(bench.advance(1ns).front(), "head timeout");
}

TEST(H2ServerConnection, AWholePrefaceIsIdle) {
  ServerBench bench;
  bench.hear(kHello.substr(0, 10));
  bench.hear(kHello.substr(10));
  EXPECT_EQ(bench.advance(10s - 1ns), Log{});
  EXPECT_EQ(bench.advance(1ns), Log{"idle timeout"});
}

TEST(H2ServerConnection, HalfAHeadIsTimedIfNothingElseRuns) {
  const std::string head = get(1);
  const std::string begin = tests::h2::frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM, 1, "");
  for (const std::string& half : {head.substr(0, head.size() - 1), begin}) {
    Bench bench;
    bench.hear(half);
    EXPECT_EQ(bench.advance(1s - 1ns), Log{});
    EXPECT_EQ(bench.advance(1ns), (Log{"head timeout", "closed"}));
  }
}

TEST(H2ServerConnection, ARequestThatIsNoneLeavesTheConnectionIdle) {
  Bench bench;
  bench.hear(get(1, {{"connection", "close"}}));
  EXPECT_EQ(bench.said(), "RST_STREAM 1 PROTOCOL_ERROR\n");
  EXPECT_EQ(bench.advance(10s - 1ns), Log{});
  EXPECT_EQ(bench.advance(1ns), Log{"idle timeout"});
}

TEST(H2ServerConnection, AClientThatTakesItsAnswerSlowlyIsNotTimedAsInAHead) {
  Bench bench;
  bench.hear(tests::h2::settings({{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1}}) + get(1));
  bench.answer(1);
  bench.turn();
  bench.hear(tests::h2::ping("12345678"));
  EXPECT_EQ(bench.advance(5s), Log{});
  bench.hear(tests::h2::window_update(1, 1));
  EXPECT_TRUE(bench.said().ends_with("DATA 1 k end\n"));
  EXPECT_EQ(bench.advance(4s), Log{});
}

TEST(H2ServerConnection, AClientThatLeavesItsWindowShutIsNotWaitedForForEver) {
  Bench bench;
  bench.hear(tests::h2::settings({{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1}}) + get(1));
  bench.answer(1);
  bench.turn();
  EXPECT_TRUE(bench.said().ends_with("DATA 1 o\n"));
  EXPECT_EQ(bench.advance(10s - 1ns), Log{});
  EXPECT_EQ(bench.advance(1ns), (Log{"idle timeout", "closed"}));
}

// --- The end -------------------------------------------------------------------------------------

TEST(H2ServerConnection, ADrainLetsWhatRunsAndWhatIsUnderWayEnd) {
  Bench bench;
  bench.hear(get(1));
  bench.connection->drain();
  bench.turn();
  EXPECT_EQ(bench.said(), "GOAWAY 2147483647 NO_ERROR\nPING drain\n");
  EXPECT_EQ(bench.hear(get(3) + kDrainAnswer), Log{"3 GET end"});
  EXPECT_EQ(bench.said(), "GOAWAY 3 NO_ERROR\n");
  bench.answer(1);
  EXPECT_EQ(bench.turn(), Log{"1 destroyed"});
  EXPECT_FALSE(bench.peer.ended());
  bench.answer(3);
  bench.turn();
  EXPECT_TRUE(bench.said().ends_with("DATA 3 ok end\n"));
  EXPECT_TRUE(bench.peer.ended());
}

TEST(H2ServerConnection, ADrainDoesNotWaitForEverForAClientThatDoesNotAnswer) {
  ServerSettings hasty;
  hasty.options.delayed_close_timeout = 5ms;
  Bench bench(hasty);
  bench.connection->drain();
  EXPECT_TRUE(tests::run_until(bench.loop, [&] { return bench.gone(); }));
  EXPECT_EQ(bench.said(), "GOAWAY 2147483647 NO_ERROR\nPING drain\nGOAWAY 0 NO_ERROR\n");
}

TEST(H2ServerConnection, GoesAwayWithTheLastRequestThatItTakes) {
  ServerSettings limited;
  limited.options.max_requests_per_connection = 2;
  Bench bench(limited);
  bench.hear(get(1));
  EXPECT_EQ(bench.said(), "");
  bench.hear(get(3));
  EXPECT_EQ(bench.said(), "GOAWAY 2147483647 NO_ERROR\nPING drain\n");
}

TEST(H2ServerConnection, ABrokenConnectionEndsAllStreamsAndSaysWhy) {
  Bench bench;
  bench.hear(get(1) + post(3));
  EXPECT_EQ(bench.hear(data(0, "x", false)),
            (Log{"3 gone: http2.DATA: stream_id == 0", "1 gone: http2.DATA: stream_id == 0",
                 "3 destroyed", "1 destroyed"}));
  EXPECT_EQ(bench.said(), "GOAWAY 3 PROTOCOL_ERROR\n");
  EXPECT_TRUE(bench.peer.ended());
  EXPECT_EQ(bench.hear(get(5)), Log{});
  bench.peer.close();
  EXPECT_TRUE(tests::run_until(bench.loop, [&] { return bench.gone(); }));
}

TEST(H2ServerConnection, AClientThatLeavesEndsAllItsStreams) {
  Bench bench;
  bench.hear(get(1) + get(3));
  bench.peer.close();
  EXPECT_EQ(bench.turn(), (Log{"3 gone: the client closed the connection",
                               "1 gone: the client closed the connection", "closed", "3 destroyed",
                               "1 destroyed"}));
}

TEST(H2ServerConnection, MayBeClosedByAStreamWhileOthersArrive) {
  Bench bench;
  bench.on_complete = [&](StreamId id) {
    if (id == 3) bench.connection->close({Errc::kClosed, Side::kLocal, "no more"});
  };
  bench.hear(get(1) + get(3) + get(5));
  EXPECT_TRUE(bench.gone());
}

}  // namespace
}  // namespace damper::http
