#include "net/connection.h"

#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/scripted_transport.h"
#include "tests/support/sockets.h"

namespace damper::net {
namespace {

using namespace std::chrono_literals;
using Next = Progress::Next;
using Start = Connection::Start;

const Error kBroken{Errc::kReset, Side::kLocal, "broken"};
const Error kEnough{Errc::kClosed, Side::kLocal, "enough"};

// Takes all bytes, sends what it is given, and notes what happens. Hooks go first.
struct Owner final : ConnectionOwner {
  void on_connected() override { ++connected; }
  Status on_bytes(Buffer& in) override {
    ++deliveries;
    if (bytes_hook) return bytes_hook(in);
    received += in.to_string();
    in.clear();
    return Ok{};
  }
  Status on_eof(Buffer&) override { return Error{Errc::kClosed, Side::kUpstream, "eof"}; }
  void collect(Buffer& out) override { out.append(std::move(to_send)); }
  void on_drained() override {
    ++drained;
    if (drained_hook) drained_hook();
  }
  void on_closed(const Error& why) override { closed.push_back(why.detail); }

  std::function<Status(Buffer&)> bytes_hook;
  std::function<void()> drained_hook;
  Buffer to_send;
  std::string received;
  std::vector<std::string> closed;
  int connected = 0;
  int deliveries = 0;
  int drained = 0;
};

struct Bench {
  explicit Bench(std::unique_ptr<Transport> transport = make_plain_transport(),
                 Start start = Start::kAccepted, int buffer_bytes = 0)
      : sockets(buffer_bytes) {
    connection = std::make_unique<Connection>(loop, block, std::move(sockets.ours),
                                              std::move(transport), owner, start);
  }
  void send(std::string_view bytes) {
    owner.to_send.append(bytes);
    connection->flush_later();
  }
  bool closes() {
    return tests::run_until(loop, [this] { return connection->closed(); });
  }

  event::Loop loop;
  ReadBlock block;
  tests::SocketPair sockets;
  Owner owner;
  std::unique_ptr<Connection> connection;
};

// The socket is always readable and writable; the script says what comes of it.
struct ScriptedBench {
  explicit ScriptedBench(tests::TransportScript script_, Start start = Start::kAccepted)
      : script(std::move(script_)),
        bench(std::make_unique<tests::ScriptedTransport>(script), start) {
    bench.sockets.peer.send("x");
    bench.connection->begin();
  }
  tests::TransportScript script;
  Bench bench;
};

constexpr std::size_t kMuch = 8 * 1024 * 1024;  // more than the kernel takes at once

TEST(ReadBlock, IsUsedAgainOnceNobodyKeepsAnyOfIt) {
  ReadBlock block;
  Block* const first = block.space().block.get();
  {
    const ReadBlock::Space kept = block.space();
    kept.block->used_bytes = 1000;
    EXPECT_EQ(block.space().offset, 1000u);
    EXPECT_EQ(block.space().bytes, ReadBlock::kBytes - 1000);
  }
  EXPECT_EQ(block.space().block.get(), first);
  EXPECT_EQ(block.space().offset, 0u);
}

TEST(ReadBlock, IsReplacedWhenTooLittleIsLeft) {
  ReadBlock block;
  const ReadBlock::Space kept = block.space();
  kept.block->used_bytes = ReadBlock::kBytes - 16 * 1024 + 1;
  EXPECT_NE(block.space().block.get(), kept.block.get());
  EXPECT_EQ(block.space().bytes, ReadBlock::kBytes);
}

TEST(Connection, AnAcceptedOneIsOpenAtOnceAConnectingOneWhenTheSocketIs) {
  for (const Start start : {Start::kAccepted, Start::kConnecting}) {
    Bench bench(make_plain_transport(), start);
    bench.connection->begin();
    EXPECT_EQ(bench.owner.connected, start == Start::kAccepted ? 1 : 0);
    bench.loop.run_once();
    EXPECT_EQ(bench.owner.connected, 1);
  }
}

TEST(Connection, AConnectThatFailsIsRefused) {
  Bench bench(make_plain_transport(), Start::kConnecting);
  bench.sockets.peer.reset();
  bench.connection->begin();
  bench.loop.run_once();
  EXPECT_EQ(bench.owner.closed, std::vector<std::string>{"Connection reset by peer"});
  EXPECT_EQ(bench.owner.connected, 0);
}

TEST(Connection, AHandshakeWaitsForWhatItWants) {
  ScriptedBench scripted({.handshakes = {Next::kWantRead, Next::kWantWrite, Next::kWantRead}});
  for (int turns = 0; turns < 3; ++turns) {
    EXPECT_EQ(scripted.bench.owner.connected, 0);
    scripted.bench.loop.run_once();
  }
  EXPECT_EQ(scripted.bench.owner.connected, 1);
}

TEST(Connection, AHandshakeThatFailsClosesEvenWithinBegin) {
  ScriptedBench at_once({.handshakes = {kBroken}});
  EXPECT_EQ(at_once.bench.owner.closed, std::vector<std::string>{"broken"});
  ScriptedBench later({.handshakes = {Next::kWantRead, kBroken}});
  EXPECT_TRUE(later.bench.closes());
  EXPECT_EQ(later.bench.owner.connected, 0);
}

TEST(Connection, DeliversWhatComesAndKeepsWhatIsLeft) {
  Bench bench;
  bench.connection->begin();
  std::vector<std::string> seen;
  bench.owner.bytes_hook = [&](Buffer& in) -> Status {
    seen.push_back(in.to_string());
    if (in.size() >= 4) in.drain(4);
    return Ok{};
  };
  for (const char* bytes : {"abc", "def", "g"}) {
    bench.sockets.peer.send(bytes);
    bench.loop.run_once();
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"abc", "abcdef", "efg"}));
  EXPECT_TRUE(bench.connection->has_input());
  EXPECT_EQ(bench.connection->bytes_read(), 7u);
}

TEST(Connection, ThreeBytesThenNothingThenAReset) {
  ScriptedBench scripted({.reads = {"abc", Next::kWantRead, kBroken}});
  EXPECT_TRUE(scripted.bench.closes());
  EXPECT_EQ(scripted.bench.owner.received, "abc");
  EXPECT_EQ(scripted.bench.owner.deliveries, 1);
  EXPECT_EQ(scripted.bench.owner.closed, std::vector<std::string>{"broken"});
}

TEST(Connection, TheEndOfThePeerIsForTheOwnerToJudge) {
  Bench bench;
  bench.connection->begin();
  bench.sockets.peer.send("last");
  bench.sockets.peer.close();
  EXPECT_TRUE(bench.closes());
  EXPECT_EQ(bench.owner.received, "last");
  EXPECT_EQ(bench.owner.closed, std::vector<std::string>{"eof"});
}

TEST(Connection, AnErrorOfTheOwnerCloses) {
  Bench bench;
  bench.connection->begin();
  bench.owner.bytes_hook = [](Buffer&) -> Status { return kEnough; };
  bench.sockets.peer.send("x");
  bench.loop.run_once();
  EXPECT_EQ(bench.owner.closed, std::vector<std::string>{"enough"});
  EXPECT_EQ(bench.connection->fd(), -1);
}

TEST(Connection, TheOwnerMayCloseItWithinACallAndIsToldOnce) {
  Bench bench;
  bench.connection->begin();
  bench.owner.bytes_hook = [&](Buffer&) -> Status {
    bench.connection->close(kEnough);
    return kBroken;
  };
  bench.sockets.peer.send("x");
  bench.loop.run_once();
  bench.connection->close(kBroken);
  EXPECT_EQ(bench.owner.closed, std::vector<std::string>{"enough"});
}

TEST(Connection, NothingIsReadWhileAnyReasonToPauseIsLeft) {
  Bench bench;
  bench.connection->begin();
  bench.sockets.peer.send("x");
  bench.connection->pause(Connection::kBackPressure);
  bench.connection->pause(Connection::kBacklog);
  bench.connection->resume(Connection::kBackPressure);
  tests::run_turns(bench.loop, 2);
  EXPECT_EQ(bench.owner.deliveries, 0);
  bench.connection->resume(Connection::kBacklog);
  bench.loop.run_once();
  EXPECT_EQ(bench.owner.received, "x");
}

TEST(Connection, StopsReadingWhenTheOwnerLeavesTooMuch) {
  Bench bench;
  bench.connection->begin();
  std::size_t held = 0;
  bench.owner.bytes_hook = [&](Buffer& in) -> Status {
    held = in.size();
    return Ok{};
  };
  const std::string some(64 * 1024, 'x');
  for (int i = 0; i < 20; ++i) {
    bench.sockets.peer.send(some);
    bench.loop.run_once();
  }
  EXPECT_GT(held, 128u * 1024);
  EXPECT_LE(held, (128u + 64u) * 1024);
  bench.owner.bytes_hook = nullptr;
  bench.connection->deliver_later();
  EXPECT_TRUE(tests::run_until(bench.loop, [&] { return bench.owner.received.size() > held; }));
}

TEST(Connection, WhatWasLeftIsDeliveredAtTheEndOfTheTurn) {
  Bench bench;
  bench.connection->begin();
  bench.owner.bytes_hook = [&](Buffer& in) -> Status {
    bench.owner.received += in.to_string().substr(0, 1) + ",";
    in.drain(1);
    if (!in.empty()) bench.connection->deliver_later();
    return Ok{};
  };
  bench.sockets.peer.send("abc");
  bench.loop.run_once();
  EXPECT_EQ(bench.owner.received, "a,b,c,");
}

TEST(Connection, WritesWhatItCollectsAtTheEndOfTheTurn) {
  Bench bench;
  bench.connection->begin();
  bench.send("one ");
  bench.send("two");
  EXPECT_EQ(bench.sockets.peer.received(), "");
  bench.loop.run_once();
  EXPECT_EQ(bench.sockets.peer.received(), "one two");
  EXPECT_EQ(bench.connection->bytes_written(), 7u);
}

TEST(Connection, WhatDoesNotFitIsWrittenWhenThePeerReads) {
  Bench bench;
  bench.connection->begin();
  bench.send(std::string(kMuch, 'x'));
  tests::run_turns(bench.loop, 3);
  EXPECT_GT(bench.connection->unsent_bytes(), 0u);
  EXPECT_TRUE(
      tests::run_until(bench.loop, [&] { return bench.sockets.peer.received().size() == kMuch; }));
  EXPECT_EQ(bench.connection->unsent_bytes(), 0u);
}

TEST(Connection, TellsOnceThatItHasDrainedBelowTheLowMark) {
  ScriptedBench scripted({.writes = {std::size_t{100'000}, Next::kWantWrite, std::size_t{34'464},
                                     Next::kWantWrite, std::size_t{1}, Next::kWantWrite}});
  Bench& bench = scripted.bench;
  bench.connection->notify_when_drained();
  bench.send(std::string(200'000, 'x'));
  bench.loop.run_once();
  EXPECT_EQ(bench.owner.drained, 0);
  tests::run_turns(bench.loop, 3);
  EXPECT_EQ(bench.owner.drained, 1);
  EXPECT_EQ(scripted.script.written.size(), 200'000u);
}

TEST(Connection, MayBeFedOrClosedByWhoIsToldThatItHasDrained) {
  Bench bench;
  bench.connection->begin();
  bench.owner.drained_hook = [&] {
    if (bench.owner.drained == 2) return bench.connection->close(kEnough);
    bench.send("more");
    bench.connection->notify_when_drained();
  };
  bench.connection->notify_when_drained();
  bench.send("some ");
  bench.loop.run_once();
  EXPECT_EQ(bench.sockets.peer.received(), "some more");
  EXPECT_EQ(bench.owner.closed, std::vector<std::string>{"enough"});
}

TEST(Connection, AFailedWriteFirstDeliversWhatThePeerHadSaid) {
  ScriptedBench scripted({.writes = {kBroken}});
  Bench& bench = scripted.bench;
  scripted.script.reads = {"early ", "answer"};
  bench.connection->pause(Connection::kBackPressure);
  bench.loop.run_once();
  bench.connection->resume(Connection::kBackPressure);
  bench.send("request");
  bench.loop.run_once();
  EXPECT_EQ(bench.owner.received, "early answer");
  EXPECT_EQ(bench.owner.closed, std::vector<std::string>{"broken"});
}

TEST(Connection, AnEarlyAnswerBeforeAResetIsHeard) {
  Bench bench;
  bench.connection->begin();
  bench.sockets.peer.send("answer");
  bench.sockets.peer.reset();
  bench.send("request");
  EXPECT_TRUE(bench.closes());
  EXPECT_EQ(bench.owner.received, "answer");
}

TEST(Connection, ClosesOnceItsLastBytesAreWritten) {
  Bench bench;
  bench.connection->begin();
  bench.send("bye");
  bench.connection->close_when_flushed(1h, false);
  EXPECT_TRUE(bench.connection->closing());
  EXPECT_FALSE(bench.connection->closed());
  bench.loop.run_once();
  EXPECT_TRUE(bench.connection->closed());
  EXPECT_EQ(bench.sockets.peer.received(), "bye");
  EXPECT_TRUE(bench.sockets.peer.ended());
  EXPECT_FALSE(bench.sockets.peer.was_reset());
}

TEST(Connection, LingersWithoutListeningUntilThePeerEnds) {
  Bench bench;
  bench.connection->begin();
  bench.send("bye");
  bench.connection->close_when_flushed(1h, true);
  bench.loop.run_once();
  EXPECT_TRUE(bench.sockets.peer.ended());
  bench.sockets.peer.send("I was not done");
  tests::run_turns(bench.loop, 3);
  EXPECT_FALSE(bench.connection->closed());
  EXPECT_EQ(bench.owner.deliveries, 0);
  bench.sockets.peer.close();
  EXPECT_TRUE(bench.closes());
  EXPECT_EQ(bench.owner.closed.size(), 1u);
}

TEST(Connection, LingersNoLongerThanItsPatience) {
  for (const Duration patience : {Duration(5ms), Duration::zero()}) {
    Bench bench;
    bench.connection->begin();
    bench.connection->close_when_flushed(patience, true);
    EXPECT_TRUE(bench.closes());
  }
}

TEST(Connection, DoesNotWaitForEverForAPeerThatTakesNothing) {
  Bench bench;
  bench.connection->begin();
  bench.send(std::string(kMuch, 'x'));
  bench.connection->close_when_flushed(5ms, false);
  EXPECT_TRUE(bench.closes());
  EXPECT_LT(bench.connection->bytes_written(), kMuch);
  EXPECT_EQ(bench.owner.closed, std::vector<std::string>{"waited to close"});
}

TEST(Connection, APeerThatKeepsTakingGetsAll) {
  Bench bench;
  bench.connection->begin();
  bench.send(std::string(kMuch, 'x'));
  bench.connection->close_when_flushed(1h, false);
  EXPECT_TRUE(tests::run_until(bench.loop, [&] { return bench.sockets.peer.ended(); }));
  EXPECT_EQ(bench.sockets.peer.received().size(), kMuch);
}

TEST(Connection, WhileItClosesThePeerIsNotListenedTo) {
  Bench bench;
  bench.connection->begin();
  bench.send(std::string(kMuch, 'x'));
  bench.connection->close_when_flushed(1h, true);
  bench.sockets.peer.send("hello?");
  tests::run_turns(bench.loop, 3);
  bench.connection->deliver_later();
  tests::run_turns(bench.loop, 2);
  EXPECT_EQ(bench.owner.deliveries, 0);
}

TEST(Connection, AnAbortIsAReset) {
  Bench bench;
  bench.connection->begin();
  bench.send("cut sho");
  bench.connection->abort_when_flushed(1h);
  bench.loop.run_once();
  EXPECT_TRUE(bench.sockets.peer.was_reset());
}

// A socket on which nothing comes: what is read, the transport had.
struct SilentBench {
  explicit SilentBench(tests::TransportScript script_)
      : script(std::move(script_)), bench(std::make_unique<tests::ScriptedTransport>(script)) {
    script.buffers = true;
  }
  tests::TransportScript script;
  Bench bench;
};

TEST(Connection, ReadsWhatTheTransportHasBufferedThoughTheSocketIsSilent) {
  SilentBench silent({.reads = {"with the handshake", ", behind it", ", and more"}});
  silent.bench.connection->begin();
  EXPECT_EQ(silent.bench.owner.received, "with the handshake");
  EXPECT_TRUE(tests::run_until(silent.bench.loop, [&] { return silent.script.reads.empty(); }));
  EXPECT_EQ(silent.bench.owner.received, "with the handshake, behind it, and more");
}

TEST(Connection, ReadsWhatIsBufferedOnlyWhenReadingGoesOn) {
  SilentBench silent({.reads = {"one ", "two"}});
  Bench& bench = silent.bench;
  bench.connection->pause(Connection::kBackPressure);
  bench.connection->begin();
  tests::run_turns(bench.loop, 5);
  EXPECT_EQ(bench.owner.received, "");
  bench.connection->resume(Connection::kBackPressure);
  EXPECT_TRUE(tests::run_until(bench.loop, [&] { return bench.owner.received == "one two"; }));
}

TEST(Connection, AnErrorThatIsBufferedClosesThoughTheSocketIsSilent) {
  SilentBench silent({.reads = {"a part", kBroken}});
  silent.bench.connection->begin();
  EXPECT_TRUE(silent.bench.closes());
  EXPECT_EQ(silent.bench.owner.received, "a part");
  EXPECT_EQ(silent.bench.owner.closed, std::vector<std::string>{"broken"});
}

TEST(Connection, AReadThatMustWriteFirstGoesOnWhenItMay) {
  SilentBench silent({.reads = {Next::kWantWrite, "text"}});
  silent.bench.connection->begin();
  silent.script.buffers = false;
  EXPECT_EQ(silent.bench.owner.received, "");
  EXPECT_TRUE(
      tests::run_until(silent.bench.loop, [&] { return silent.bench.owner.received == "text"; }));
}

TEST(Connection, AWriteThatMustReadFirstGoesOnWhenItMay) {
  tests::TransportScript script{.writes = {Next::kWantRead}};
  Bench bench(std::make_unique<tests::ScriptedTransport>(script));
  bench.connection->begin();
  bench.connection->pause(Connection::kBackPressure);
  bench.send("text");
  tests::run_turns(bench.loop, 5);
  EXPECT_EQ(script.written, "");
  bench.sockets.peer.send("x");
  EXPECT_TRUE(tests::run_until(bench.loop, [&] { return script.written == "text"; }));
  EXPECT_EQ(bench.owner.received, "");
}

TEST(Connection, AHandshakeThatTakesTooLongIsGivenUp) {
  tests::TransportScript script{.handshakes = {Next::kWantRead}, .handshake_timeout = 1ms};
  Bench bench(std::make_unique<tests::ScriptedTransport>(script));
  bench.connection->begin();
  EXPECT_TRUE(bench.closes());
  EXPECT_EQ(bench.owner.closed, std::vector<std::string>{"the handshake took too long"});
}

TEST(Connection, WithinItsHandshakeItClosesAtOnce) {
  tests::TransportScript script{.handshakes = {Next::kWantRead}};
  Bench bench(std::make_unique<tests::ScriptedTransport>(script));
  bench.connection->begin();
  bench.connection->close_when_flushed(1h, true);
  bench.loop.run_once();
  EXPECT_EQ(bench.owner.closed, std::vector<std::string>{"closed within the handshake"});
}

TEST(Connection, SaysThatAllWasSentUnlessItIsAborted) {
  for (const bool aborted : {false, true}) {
    tests::TransportScript script;
    Bench bench(std::make_unique<tests::ScriptedTransport>(script));
    bench.connection->begin();
    bench.send("bye");
    if (aborted) {
      bench.connection->abort_when_flushed(1h);
    } else {
      bench.connection->close_when_flushed(1h, false);
    }
    EXPECT_TRUE(bench.closes());
    EXPECT_EQ(script.written, "bye");
    EXPECT_EQ(script.finishes, aborted ? 0 : 1);
  }
}

TEST(Connection, MayDieWithAWriteDue) {
  Bench bench;
  bench.connection->begin();
  bench.send("never");
  bench.connection.reset();
  bench.loop.run_once();
  EXPECT_EQ(bench.sockets.peer.received(), "");
}

TEST(Connection, AClosedOneIgnoresEverything) {
  Bench bench;
  bench.connection->begin();
  bench.connection->close(kEnough);
  bench.send("x");
  bench.connection->pause(Connection::kBackPressure);
  bench.connection->resume(Connection::kBackPressure);
  bench.connection->deliver_later();
  bench.connection->close_when_flushed(1h, true);
  bench.connection->abort_when_flushed(1h);
  bench.loop.run_once();
  EXPECT_EQ(bench.owner.closed, std::vector<std::string>{"enough"});
  EXPECT_EQ(bench.owner.deliveries, 0);
}

TEST(Connection, ALookAtTheSocketFindsBytesAnEndAndAReset) {
  const std::pair<std::function<void(tests::Peer&)>, bool> cases[] = {
      {[](tests::Peer&) {}, false},
      {[](tests::Peer& peer) { peer.send("x"); }, true},
      {[](tests::Peer& peer) { peer.close(); }, true},
      {[](tests::Peer& peer) { peer.reset(); }, true}};
  for (const auto& [act, unread] : cases) {
    Bench bench;
    bench.connection->begin();
    act(bench.sockets.peer);
    EXPECT_EQ(bench.connection->has_unread(), unread);
  }
}

}  // namespace
}  // namespace damper::net
