#include "http/server_connection.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/support/server_bench.h"

namespace damper::http {
namespace {

using namespace std::chrono_literals;
using Log = std::vector<std::string>;

constexpr const char* kGet = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
constexpr const char* kPost = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\n";

using Bench = ServerBench;
using Settings = ServerSettings;

bool says_close(const std::string& response) {
  return response.find("connection: close\r\n") != std::string::npos;
}
int responses_in(const std::string& text) {
  int n = 0;
  for (auto at = text.find("HTTP/1.1 "); at != std::string::npos;
       at = text.find("HTTP/1.1 ", at + 1))
    ++n;
  return n;
}

TEST(ServerConnection, TakesRequestAfterRequestAndAnswersEach) {
  Bench bench;
  for (const StreamId id : {1, 3, 5}) {
    EXPECT_EQ(bench.hear(kGet), Log{std::to_string(id) + " GET end"});
    EXPECT_FALSE(bench.connection->idle());
    bench.answer(id);
    EXPECT_EQ(bench.turn(), Log{std::to_string(id) + " destroyed"});
    EXPECT_TRUE(bench.connection->idle());
    const std::string response = bench.peer.take();
    EXPECT_EQ(responses_in(response), 1);
    EXPECT_FALSE(says_close(response));
    EXPECT_TRUE(response.ends_with("\r\n\r\nok"));
  }
}

TEST(ServerConnection, HandsOnAllPartsOfARequestAndOfAResponse) {
  Bench bench({.codec = {.enable_trailers = true}});
  EXPECT_EQ(bench.hear("POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"),
            Log{"1 POST"});
  EXPECT_EQ(bench.hear("3\r\nabc\r\n"), Log{"1 abc"});
  EXPECT_EQ(bench.hear("0\r\nsum: 1\r\n\r\n"), Log{"1 trailers sum"});
  ResponseHead interim;
  interim.status = 103;
  bench.connection->send_interim(1, interim);
  bench.send_head(1, std::nullopt);
  bench.send_body(1, "de", false);
  Fields trailers;
  trailers.add("sum", "2");
  bench.connection->send_trailers(1, trailers);
  bench.connection->end_stream(1);
  bench.turn();
  const std::string sent = bench.peer.take();
  EXPECT_EQ(responses_in(sent), 2);
  EXPECT_TRUE(sent.starts_with("HTTP/1.1 103"));
  EXPECT_TRUE(sent.ends_with("2\r\nde\r\n0\r\nsum: 2\r\n\r\n"));
}

TEST(ServerConnection, KnowsItsPeerAndItself) {
  Bench bench;
  EXPECT_EQ(bench.connection->id(), 42u);
  EXPECT_EQ(bench.connection->peer_text(), "10.0.0.7:1234");
  EXPECT_EQ(bench.connection->peer_ip(), "10.0.0.7");
  EXPECT_TRUE(bench.connection->local_text().starts_with("127.0.0.1:"));
}

TEST(ServerConnection, APipelinedRequestWaitsForTheAnswerBeforeIt) {
  Bench bench;
  EXPECT_EQ(bench.hear(std::string(kGet) + kGet + kGet), Log{"1 GET end"});
  bench.answer(1);
  EXPECT_EQ(bench.turn(), (Log{"3 GET end", "1 destroyed"}));
  bench.answer(3);
  EXPECT_EQ(bench.turn(), (Log{"5 GET end", "3 destroyed"}));
}

TEST(ServerConnection, PipelinedRequestsThatAreAnsweredAtOnceAreAnsweredInOneTurn) {
  Bench bench;
  bench.on_complete = [&](StreamId id) { bench.answer(id); };
  std::string many;
  for (int i = 0; i < 100; ++i) many += kGet;
  bench.hear(many);
  EXPECT_EQ(responses_in(bench.peer.take()), 100);
}

TEST(ServerConnection, AnAnswerBeforeTheEndOfTheRequestIsTheLastAndLingers) {
  Bench bench;
  bench.hear(kPost);
  bench.answer(1);
  bench.turn();
  EXPECT_TRUE(says_close(bench.peer.received()));
  EXPECT_TRUE(bench.peer.ended());
  EXPECT_EQ(bench.hear("abcd"), Log{});
  EXPECT_FALSE(bench.peer.was_reset());
  bench.peer.close();
  EXPECT_EQ(bench.turn(), Log{"closed"});
}

TEST(ServerConnection, AClientThatIsIdleForTooLongIsLetGo) {
  Bench bench;
  EXPECT_EQ(bench.advance(10s - 1ns), Log{});
  EXPECT_EQ(bench.advance(1ns), (Log{"idle timeout", "closed"}));
  EXPECT_TRUE(bench.peer.ended());
  EXPECT_EQ(bench.peer.received(), "");
}

TEST(ServerConnection, IdlenessBeginsAfterTheAnswer) {
  Bench bench;
  bench.time.advance(9s);
  bench.hear(kGet);
  EXPECT_EQ(bench.advance(1h), Log{});
  bench.answer(1);
  bench.turn();
  EXPECT_EQ(bench.advance(10s - 1ns), Log{});
  EXPECT_EQ(bench.advance(1ns), (Log{"idle timeout", "closed"}));
}

TEST(ServerConnection, AHeadHasItsTimeFromItsFirstByteHoweverItTrickles) {
  Bench bench;
  bench.advance(5s);
  bench.hear("GET / HT");
  EXPECT_EQ(bench.advance(600ms), Log{});
  bench.hear("TP/1.1\r\nhost:");
  EXPECT_EQ(bench.advance(400ms),
            (Log{"head timeout", "0 bad 408 request_header_timeout", "0 destroyed"}));
  EXPECT_TRUE(bench.peer.received().starts_with("HTTP/1.1 408"));
  EXPECT_TRUE(bench.peer.ended());
}

TEST(ServerConnection, AHeadThatIsCompleteInTimeIsNotTimed) {
  Bench bench;
  bench.hear("GET / HT");
  bench.advance(900ms);
  EXPECT_EQ(bench.hear("TP/1.1\r\nhost: x\r\n\r\n"), Log{"1 GET end"});
  EXPECT_EQ(bench.advance(1h), Log{});
  bench.answer(1);
  bench.turn();
  bench.hear("GET");  // the next one has its own time
  EXPECT_EQ(bench.advance(999ms), Log{});
  EXPECT_EQ(bench.advance(1ms).front(), "head timeout");
}

TEST(ServerConnection, WithoutATimeForHeadsHalfOfOneIsNoLongerWaitedForThanForNothing) {
  Bench bench({.head = 0s});
  bench.hear("GET / HT");
  EXPECT_EQ(bench.advance(10s),
            (Log{"head timeout", "0 bad 408 request_header_timeout", "0 destroyed"}));
  EXPECT_TRUE(bench.peer.received().starts_with("HTTP/1.1 408"));
}

TEST(ServerConnection, WithoutTimeoutsItWaitsForEver) {
  Bench bench({.idle = 0s, .head = 0s});
  EXPECT_EQ(bench.advance(24h), Log{});
  bench.hear("GET");
  EXPECT_EQ(bench.advance(24h), Log{});
}

TEST(ServerConnection, DrainsAtOnceWhenIdleAndWithTheAnswerWhenNot) {
  Bench idle;
  idle.connection->drain();
  EXPECT_EQ(idle.turn(), Log{"closed"});

  Bench busy;
  busy.hear(kGet);
  busy.connection->drain();
  EXPECT_EQ(busy.turn(), Log{});
  busy.answer(1);
  EXPECT_EQ(busy.turn(), (Log{"closed", "1 destroyed"}));
  EXPECT_TRUE(says_close(busy.peer.received()));
}

TEST(ServerConnection, ARequestThatHasBegunIsAnsweredInADrain) {
  Bench bench;
  bench.hear("GET / HT");
  bench.connection->drain();
  EXPECT_EQ(bench.hear("TP/1.1\r\nhost: x\r\n\r\n"), Log{"1 GET end"});
  bench.answer(1);
  EXPECT_EQ(bench.turn(), (Log{"closed", "1 destroyed"}));
}

TEST(ServerConnection, TheLastRequestIsAnsweredWithClose) {
  Settings limited;
  limited.options.max_requests_per_connection = 2;
  Bench by_limit(limited), by_call;
  for (Bench* bench : {&by_limit, &by_call}) {
    bench->hear(kGet);
    bench->answer(1);
    bench->turn();
    EXPECT_FALSE(says_close(bench->peer.take()));
    if (bench == &by_call) bench->connection->end_after_next_request();
    bench->hear(kGet);
    bench->answer(3);
    EXPECT_EQ(bench->turn(), (Log{"closed", "3 destroyed"}));
    EXPECT_TRUE(says_close(bench->peer.take()));
  }
}

TEST(ServerConnection, WhatIsPipelinedBehindTheLastRequestIsNotAnswered) {
  Settings limited;
  limited.options.max_requests_per_connection = 1;
  Bench bench(limited);
  EXPECT_EQ(bench.hear(std::string(kGet) + kGet), Log{"1 GET end"});
  bench.answer(1);
  EXPECT_EQ(bench.turn(), Log{"1 destroyed"});
  EXPECT_EQ(responses_in(bench.peer.received()), 1);
  EXPECT_TRUE(bench.peer.ended());
  EXPECT_FALSE(bench.peer.was_reset());
}

TEST(ServerConnection, AnOldConnectionDrains) {
  Settings old;
  old.options.max_connection_duration = 1ms;
  Bench bench(old);
  EXPECT_TRUE(tests::run_until(bench.loop, [&] { return bench.gone(); }));
}

TEST(ServerConnection, ABadRequestIsAnsweredAndEndsTheConnection) {
  Bench bench;
  EXPECT_EQ(bench.hear("GET / HTTP/1.1\r\nno colon\r\n\r\n"),
            (Log{"1 bad 400 http1.codec_error", "1 destroyed"}));
  EXPECT_TRUE(bench.peer.received().starts_with("HTTP/1.1 400"));
  EXPECT_TRUE(bench.peer.ended());
  EXPECT_EQ(bench.hear(kGet), Log{});
}

TEST(ServerConnection, ABadBodyIsToldToItsStream) {
  Bench bench;
  bench.hear("POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
  EXPECT_EQ(bench.hear("zz\r\n"), (Log{"1 bad 400 http1.codec_error", "1 destroyed"}));
  EXPECT_TRUE(bench.peer.ended());
}

TEST(ServerConnection, AClientThatLeavesEndsItsRequest) {
  Bench bench;
  bench.hear(kGet);
  bench.peer.close();
  EXPECT_EQ(bench.turn(),
            (Log{"1 gone: the client closed the connection", "closed", "1 destroyed"}));
}

TEST(ServerConnection, ABodyThatNobodyWantsStaysInTheSocketUntilTheStreamEnds) {
  Bench bench;
  bench.hear(kPost);
  bench.connection->pause_body(1);
  EXPECT_EQ(bench.hear("ab"), Log{});
  bench.connection->resume_body(1);
  EXPECT_EQ(bench.turn(), Log{"1 ab"});
  bench.connection->pause_body(1);
  bench.hear("cd");
  bench.answer(1);
  bench.peer.close();  // heard only if it reads again
  EXPECT_TRUE(tests::run_until(bench.loop, [&] { return bench.gone(); }));
}

TEST(ServerConnection, ToldWhenWhatItSentHasLeft) {
  Bench bench;
  bench.hear(kGet);
  bench.send_head(1, 5);
  bench.send_body(1, "ab", false);
  EXPECT_GT(bench.connection->unsent_bytes(1), 0u);
  bench.connection->notify_when_drained(1);
  EXPECT_EQ(bench.turn(), Log{"1 drained"});
  EXPECT_EQ(bench.connection->unsent_bytes(1), 0u);
}

TEST(ServerConnection, AClientThatDoesNotReadIsNotWaitedForAtTheEnd) {
  Settings hasty;
  hasty.options.delayed_close_timeout = 5ms;
  Bench bench(hasty);
  bench.hear(kGet);
  bench.answer(1, std::string(8 * 1024 * 1024, 'x'));
  bench.turn();
  bench.time.advance(10s);
  EXPECT_TRUE(tests::run_until(bench.loop, [&] { return bench.gone(); }));
}

TEST(ServerConnection, OnlyAResetTellsAnOldClientThatItsAnswerIsCut) {
  Bench bench({.codec = {.accept_http_10 = true}});
  bench.hear("GET / HTTP/1.0\r\nhost: x\r\n\r\n");
  bench.send_head(1, std::nullopt);
  bench.send_body(1, "half", false);
  bench.turn();
  bench.connection->reset(1, Reset::kInternal);
  bench.connection->end_stream(1);
  EXPECT_EQ(bench.turn(), (Log{"closed", "1 destroyed"}));
  EXPECT_TRUE(bench.peer.was_reset());
}

TEST(ServerConnection, MayBeClosedByAStreamInTheMiddleOfItsRequest) {
  Bench bench;
  bench.on_complete = [&](StreamId) {
    bench.connection->close({Errc::kClosed, Side::kLocal, "no more"});
  };
  EXPECT_EQ(bench.hear(std::string(kGet) + kGet),
            (Log{"1 GET end", "1 gone: no more", "closed", "1 destroyed"}));
  EXPECT_TRUE(bench.gone());
}

}  // namespace
}  // namespace damper::http
