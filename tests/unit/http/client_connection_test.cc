#include "http/client_connection.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/support/client_bench.h"

namespace damper::http {
namespace {

using namespace std::chrono_literals;
using Log = std::vector<std::string>;

constexpr const char* kOk = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

using Bench = ClientBench;

TEST(ClientConnection, SendsRequestAfterRequestOnOneConnection) {
  Bench bench;
  for (std::size_t n = 1; n < 4; ++n) {
    EXPECT_TRUE(bench.connection->can_open());
    bench.get();
    EXPECT_FALSE(bench.connection->can_open());
    EXPECT_TRUE(bench.peer.take().starts_with("GET / HTTP/1.1\r\n"));
    EXPECT_EQ(bench.hear(kOk), (Log{"head 200", "ok end", "available"}));
    EXPECT_EQ(bench.connection->requests(), n);
    EXPECT_TRUE(bench.connection->idle());
  }
}

TEST(ClientConnection, HandsOnAllPartsOfARequestAndOfAResponse) {
  Bench bench({.enable_trailers = true});
  const StreamId id =
      bench.connection->open(bench.stream, tests::request("x", "/", {}, "POST"), false);
  bench.send_body(id, "ab", false);
  Fields trailers;
  trailers.add("sum", "1");
  bench.connection->send_trailers(id, trailers);
  bench.turn();
  EXPECT_TRUE(bench.peer.take().ends_with("2\r\nab\r\n0\r\nsum: 1\r\n\r\n"));
  EXPECT_EQ(bench.hear("HTTP/1.1 103 Hint\r\n\r\n"), Log{"interim 103"});
  EXPECT_EQ(bench.hear("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nc\r\n"),
            (Log{"head 200", "c"}));
  EXPECT_EQ(bench.hear("0\r\nsum: 2\r\n\r\n"), (Log{"trailers sum", "available"}));
}

TEST(ClientConnection, KnowsItselfAndWhatWentOverIt) {
  Bench bench;
  EXPECT_EQ(bench.connection->id(), 7u);
  EXPECT_TRUE(bench.connection->local_text().starts_with("127.0.0.1:"));
  bench.get();
  EXPECT_EQ(bench.connection->bytes_written(), bench.peer.received().size());
  bench.hear(kOk);
  EXPECT_EQ(bench.connection->bytes_read(), std::string_view(kOk).size());
}

TEST(ClientConnection, AResponseThatClosesEndsTheConnection) {
  const std::pair<const char*, Log> responses[] = {
      {"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok",
       {"head 200", "ok end", "closed: cannot be used again"}},
      {"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n",
       {"head 204 end", "closed: cannot be used again"}}};
  for (const auto& [response, log] : responses) {
    Bench bench;
    bench.get();
    EXPECT_EQ(bench.hear(response), log);
    EXPECT_TRUE(bench.gone());
  }
}

TEST(ClientConnection, TheEndOfTheConnectionMayBeTheEndOfTheBody) {
  Bench bench;
  bench.get();
  EXPECT_EQ(bench.hear("HTTP/1.1 200 OK\r\n\r\nall"), (Log{"head 200", "all"}));
  bench.peer.half_close();
  EXPECT_EQ(bench.turn(), (Log{" end", "closed: cannot be used again"}));
  EXPECT_FALSE(bench.stream.failure);
}

TEST(ClientConnection, ACutResponseFailsItsStream) {
  Bench bench;
  bench.get();
  bench.hear("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf");
  bench.peer.half_close();
  EXPECT_EQ(bench.turn(),
            (Log{"failed: connection_termination", "closed: connection_termination"}));
  EXPECT_EQ(bench.stream.failure->code, Errc::kClosed);
  EXPECT_TRUE(bench.stream.failure->request_on_wire);
  EXPECT_FALSE(bench.stream.failure->reused_and_silent);
}

TEST(ClientConnection, OnlyAReusedConnectionThatDiesInSilenceHasLostTheRace) {
  struct Case {
    bool reused;
    const char* said;
    bool by_reset;
    bool race;
  };
  const Case cases[] = {{true, "", false, true},
                        {true, "", true, true},
                        {true, "HTTP/1.1 2", false, false},
                        {false, "", false, false},
                        {false, "", true, false}};
  for (const Case& c : cases) {
    Bench bench;
    if (c.reused) {
      bench.get();
      bench.hear(kOk);
    }
    bench.get();
    bench.hear(c.said);
    if (c.by_reset) {
      bench.peer.reset();
    } else {
      bench.peer.half_close();
    }
    bench.turn();
    ASSERT_TRUE(bench.stream.failure);
    EXPECT_EQ(bench.stream.failure->reused_and_silent, c.race);
    EXPECT_EQ(bench.lost_race, c.race);
  }
}

TEST(ClientConnection, ARequestThatWasNotWrittenIsNotOnTheWire) {
  Bench bench;
  const StreamId id = bench.connection->open(bench.stream, tests::request("x", "/"), true);
  EXPECT_FALSE(bench.connection->on_wire(id));
  EXPECT_GT(bench.connection->unsent_bytes(id), 0u);
  bench.connection->close({Errc::kClosed, Side::kLocal, "too soon"});
  EXPECT_FALSE(bench.stream.failure->request_on_wire);

  Bench written;
  const StreamId sent = written.get();
  EXPECT_TRUE(written.connection->on_wire(sent));
  EXPECT_FALSE(written.connection->on_wire(sent + 2));
}

TEST(ClientConnection, NonsenseFailsTheStreamAndCloses) {
  Bench bench;
  bench.get();
  bench.hear("SSH-2.0-hello\r\n\r\n");
  ASSERT_TRUE(bench.stream.failure);
  EXPECT_EQ(bench.stream.failure->code, Errc::kProtocol);
  EXPECT_TRUE(bench.gone());
}

TEST(ClientConnection, BytesThatNobodyAskedForCloseAnIdleConnection) {
  Bench bench;
  EXPECT_EQ(bench.hear("HTTP/1.1 408 Request Timeout\r\n\r\n"),
            Log{"closed: bytes without a request"});
}

TEST(ClientConnection, BytesBehindAResponseMakeItUseless) {
  Bench bench;
  bench.get();
  EXPECT_EQ(bench.hear(std::string(kOk) + "more"),
            (Log{"head 200", "ok end", "closed: cannot be used again"}));
}

TEST(ClientConnection, AnIdleConnectionThatThePeerEndsIsClosed) {
  Bench bench;
  EXPECT_TRUE(bench.connection->looks_alive());
  bench.peer.close();
  EXPECT_FALSE(bench.connection->looks_alive());
  EXPECT_EQ(bench.turn(), Log{"closed: closed by the upstream"});
}

TEST(ClientConnection, AResetRequestClosesAndItsStreamHearsNothingMore) {
  Bench bench;
  const StreamId id = bench.get();
  bench.connection->reset(id);
  EXPECT_EQ(bench.turn(), Log{"closed: a request was cancelled"});
}

TEST(ClientConnection, AStreamMayResetItselfWhileItsResponseComes) {
  Bench bench;
  const StreamId id = bench.get();
  bench.stream.head_hook = [&] { bench.connection->reset(id); };
  EXPECT_EQ(bench.hear(kOk), (Log{"head 200", "closed: a request was cancelled"}));
}

TEST(ClientConnection, AnAnswerBeforeTheEndOfTheRequestIsDeliveredAndCloses) {
  Bench bench;
  const StreamId id = bench.post(4);
  bench.send_body(id, "ab", false);
  bench.turn();
  EXPECT_EQ(bench.hear(kOk), (Log{"head 200", "ok end", "closed: cannot be used again"}));
}

TEST(ClientConnection, AnAnswerIsDeliveredEvenIfTheUpstreamResetsDuringTheUpload) {
  Bench bench;
  const StreamId id = bench.post(1000);
  bench.turn();
  bench.peer.send("HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
  bench.peer.reset();
  bench.send_body(id, "ab", false);
  EXPECT_EQ(bench.turn().front(), "head 413 end");
  EXPECT_FALSE(bench.stream.failure);
}

TEST(ClientConnection, AnAbandonedResponseIsReadAndTheConnectionKept) {
  Bench bench;
  const StreamId id = bench.get();
  bench.stream.head_hook = [&] { bench.connection->abandon(id); };
  EXPECT_EQ(bench.hear("HTTP/1.1 503 Busy\r\ncontent-length: 4\r\n\r\nab"), Log{"head 503"});
  EXPECT_EQ(bench.hear("cd"), Log{"available"});
  EXPECT_TRUE(bench.connection->can_open());
}

TEST(ClientConnection, AnAbandonedResponseMustBeShortAndQuick) {
  Bench slow;
  slow.connection->abandon(slow.get());
  slow.time.advance(1s);
  EXPECT_EQ(slow.turn(), (Log{"timeout", "closed: idle"}));

  Bench large;
  large.connection->abandon(large.get());
  EXPECT_EQ(
      large.hear("HTTP/1.1 503 Busy\r\ncontent-length: 99999\r\n\r\n" + std::string(20'000, 'x')),
      Log{});
  EXPECT_EQ(large.hear(std::string(20'000, 'x')),
            Log{"closed: the rest of an abandoned response is too long"});
}

TEST(ClientConnection, ADyingConnectionDoesNotTellTheStreamThatAbandonedIt) {
  Bench bench;
  bench.connection->abandon(bench.get());
  bench.peer.close();
  bench.turn();
  EXPECT_TRUE(bench.gone());
  EXPECT_FALSE(bench.stream.failure);
}

TEST(ClientConnection, AStreamThatIsAbandonedWhilePausedIsReadAgain) {
  Bench bench;
  const StreamId id = bench.get();
  bench.connection->pause_body(id);
  EXPECT_EQ(bench.hear(kOk), Log{});
  bench.connection->abandon(id);
  EXPECT_EQ(bench.turn(), Log{"available"});
}

TEST(ClientConnection, ABodyThatIsNotWantedStaysInTheSocket) {
  Bench bench;
  const StreamId id = bench.get();
  bench.connection->pause_body(id);
  EXPECT_EQ(bench.hear(kOk), Log{});
  bench.connection->resume_body(id);
  EXPECT_EQ(bench.turn(), (Log{"head 200", "ok end", "available"}));
}

TEST(ClientConnection, TellsTheStreamWhenItsBodyHasLeft) {
  Bench bench;
  const StreamId id = bench.post(9);
  bench.send_body(id, "abc", false);
  bench.connection->notify_when_drained(id);
  EXPECT_EQ(bench.turn(), Log{"drained"});
  EXPECT_EQ(bench.connection->unsent_bytes(id), 0u);
}

TEST(ClientConnection, MayBeClosedWhileItsResponseIsDelivered) {
  Bench bench;
  bench.get();
  bench.stream.body_hook = [&] {
    bench.connection->close({Errc::kClosed, Side::kLocal, "enough"});
  };
  EXPECT_EQ(bench.hear(kOk), (Log{"head 200", "ok end", "closed: enough"}));
}

}  // namespace
}  // namespace damper::http
