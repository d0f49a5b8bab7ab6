#include "event/io_handle.h"

#include <csignal>
#include <gtest/gtest.h>
#include <optional>

#include "tests/support/sockets.h"

namespace damper::event {
namespace {

struct Target : IoTarget {
  Target(Loop& loop, int fd) { io.emplace(loop, fd, *this); }
  void on_readable() override {
    ++readable;
    if (dies) io.reset();
  }
  void on_writable() override {
    ++writable;
    if (dies) io.reset();
  }
  std::optional<IoHandle> io;
  int readable = 0;
  int writable = 0;
  bool dies = false;
};

struct Bench {
  Loop loop;
  tests::SocketPair sockets;
  Target target{loop, sockets.ours.get()};
};

TEST(IoHandle, TellsOfWhatIsThereUntilItIsRead) {
  Bench bench;
  bench.target.io->want_read(true);
  tests::run_turns(bench.loop, 2);
  EXPECT_EQ(bench.target.readable, 0);
  bench.sockets.peer.send("x");
  tests::run_turns(bench.loop, 3);
  EXPECT_EQ(bench.target.readable, 3);
  EXPECT_EQ(bench.target.writable, 0);
}

TEST(IoHandle, TellsOnlyWhatIsWanted) {
  Bench bench;
  bench.sockets.peer.send("x");
  bench.target.io->want_write(true);
  tests::run_turns(bench.loop, 2);
  EXPECT_EQ(bench.target.readable, 0);
  EXPECT_EQ(bench.target.writable, 2);
  bench.target.io->want_write(false);
  bench.target.io->want_read(true);
  bench.target.io->want_read(true);
  bench.loop.run_once();
  bench.target.io->want_read(false);
  tests::run_turns(bench.loop, 2);
  EXPECT_EQ(bench.target.readable, 1);
  EXPECT_EQ(bench.target.writable, 2);
}

TEST(IoHandle, ATargetThatLetsGoHearsNothingMoreOfTheSameTurn) {
  Bench bench;
  bench.sockets.peer.send("x");
  bench.target.io->want_read(true);
  bench.target.io->want_write(true);
  bench.target.dies = true;
  tests::run_turns(bench.loop, 3);
  EXPECT_EQ(bench.target.readable + bench.target.writable, 1);
}

TEST(SignalHandle, CallsItsFunctionForEachSignal) {
  Loop loop;
  int signals = 0;
  const SignalHandle handle(loop, SIGUSR1, [&] { ++signals; });
  std::raise(SIGUSR1);
  EXPECT_TRUE(tests::run_until(loop, [&] { return signals == 1; }));
  std::raise(SIGUSR1);
  EXPECT_TRUE(tests::run_until(loop, [&] { return signals == 2; }));
}

}  // namespace
}  // namespace damper::event
