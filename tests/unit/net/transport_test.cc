#include "net/transport.h"

#include <gtest/gtest.h>

#include "tests/support/sockets.h"

namespace damper::net {
namespace {

using Next = Progress::Next;

struct Bench {
  Result<Progress> read(std::size_t at_most = 16) {
    return transport->read(sockets.ours.get(), bytes, std::min(at_most, sizeof bytes));
  }
  Result<Progress> write(Buffer& from) { return transport->write(sockets.ours.get(), from); }

  tests::SocketPair sockets;
  std::unique_ptr<Transport> transport = make_plain_transport();
  char bytes[16];
};

TEST(PlainTransport, HasNoHandshakeAndNoProtocol) {
  Bench bench;
  EXPECT_EQ(bench.transport->handshake(bench.sockets.ours.get())->next, Next::kMore);
  EXPECT_EQ(bench.transport->alpn(), "");
}

TEST(PlainTransport, ReadsWhatIsThereThenWantsMore) {
  Bench bench;
  bench.sockets.peer.send("hello");
  const auto first = bench.read(3);
  EXPECT_EQ(first->next, Next::kMore);
  EXPECT_EQ(std::string(bench.bytes, first->bytes), "hel");
  EXPECT_EQ(bench.read()->bytes, 2u);
  const auto nothing = bench.read();
  EXPECT_EQ(nothing->bytes, 0u);
  EXPECT_EQ(nothing->next, Next::kWantRead);
}

TEST(PlainTransport, SeesTheEndAfterTheLastByte) {
  Bench bench;
  bench.sockets.peer.send("x");
  bench.sockets.peer.half_close();
  EXPECT_EQ(bench.read()->next, Next::kMore);
  EXPECT_EQ(bench.read()->next, Next::kEof);
}

TEST(PlainTransport, AResetIsAnErrorOfReadingAndOfWriting) {
  for (const bool reading : {true, false}) {
    Bench bench;
    bench.sockets.peer.reset();
    Buffer out;
    out.append("x");
    const auto result = reading ? bench.read() : bench.write(out);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::kReset);
    EXPECT_EQ(out.size(), 1u);
  }
}

TEST(PlainTransport, WritesManyPiecesInOneCallAndDrainsThem) {
  Bench bench;
  Buffer out;
  std::string expected;
  for (char c = 'a'; c <= 'z'; ++c) {
    const std::string piece(1000, c);
    Buffer one;
    one.append(piece);
    out.append(std::move(one));
    expected += piece;
  }
  EXPECT_EQ(bench.write(out)->bytes, expected.size());
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(bench.sockets.peer.take(), expected);
}

TEST(PlainTransport, AFullSocketWantsToWriteAndKeepsTheRest) {
  Bench bench;
  Buffer out;
  out.append(std::string(16 * 1024 * 1024, 'x'));
  const std::size_t all = out.size();
  std::size_t sent = 0;
  auto progress = bench.write(out);
  while (progress && progress->next == Next::kMore && !out.empty()) {
    sent += progress->bytes;
    progress = bench.write(out);
  }
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->next, Next::kWantWrite);
  EXPECT_EQ(out.size(), all - sent);
}

TEST(PlainTransport, ShutdownEndsOurSideAlone) {
  Bench bench;
  bench.transport->shutdown(bench.sockets.ours.get());
  EXPECT_TRUE(bench.sockets.peer.ended());
  EXPECT_FALSE(bench.sockets.peer.was_reset());
  bench.sockets.peer.send("still here");
  EXPECT_EQ(bench.read()->bytes, 10u);
}

}  // namespace
}  // namespace damper::net
