#include "http/keep_alive.h"

#include <gtest/gtest.h>
#include <string>

#include "tests/support/sockets.h"

namespace damper::http {
namespace {

using namespace std::chrono_literals;

struct Owner final : net::ConnectionOwner {
  Status on_bytes(Buffer& in) override {
    in.clear();
    return Ok{};
  }
  Status on_eof(Buffer&) override { return Error{Errc::kClosed, Side::kUpstream, "eof"}; }
  void collect(Buffer& out) override { out.append(std::move(to_send)); }
  void on_drained() override {}
  void on_closed(const Error& error) override { why = error.detail; }

  Buffer to_send;
  std::string why;
};

struct Bench {
  explicit Bench(const config::Http2Options& options) {
    connection.begin();
    keep_alive = KeepAlive::make(connection, options, 7, [this] {
      ++pings;
      owner.to_send.append("ping");
    });
  }

  tests::SocketPair sockets;
  event::Loop loop;
  net::ReadBlock block;
  Owner owner;
  int pings = 0;
  net::Connection connection{loop,
                             block,
                             std::move(sockets.ours),
                             net::make_plain_transport(),
                             owner,
                             net::Connection::Start::kAccepted};
  std::unique_ptr<KeepAlive> keep_alive;
};

TEST(KeepAlive, IsNoneWithoutAnInterval) { EXPECT_EQ(Bench({}).keep_alive, nullptr); }

TEST(KeepAlive, ClosesTheConnectionOfAPeerThatDoesNotAnswer) {
  Bench bench({.keepalive_interval = 1ms, .keepalive_timeout = 1ms});
  EXPECT_TRUE(tests::run_until(bench.loop, [&] { return bench.connection.closed(); }));
  EXPECT_EQ(bench.owner.why, "keepalive: no answer to PING");
  EXPECT_EQ(bench.pings, 1);
  EXPECT_EQ(bench.sockets.peer.received(), "ping");
}

TEST(KeepAlive, AsksAgainAfterEachByteThatCame) {
  // The timer of the answer is the next one too, so it is short enough to wait for.
  Bench bench({.keepalive_interval = 1ms, .keepalive_timeout = 100ms});
  const auto pinged = [&] { return bench.sockets.peer.received() == "ping"; };
  for (int round = 1; round <= 3; ++round) {
    ASSERT_TRUE(tests::run_until(bench.loop, pinged)) << round;
    EXPECT_EQ(bench.pings, round);
    bench.sockets.peer.take();
    EXPECT_TRUE(bench.sockets.peer.send("x"));
  }
  EXPECT_FALSE(bench.connection.closed());
}

}  // namespace
}  // namespace damper::http
