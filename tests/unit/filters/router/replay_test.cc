#include "filters/router/replay.h"

#include <gtest/gtest.h>

#include "stats/stats.h"

namespace damper::router {
namespace {

Buffer bytes(std::string_view text) {
  Buffer out;
  out.append(text);
  return out;
}

struct ReplayTest : testing::Test {
  ReplayTest() { worker.replay_bytes_max = 100; }
  stats::Registry registry;
  http::Worker worker{0, 1, 1, registry.new_cells()};
};

TEST_F(ReplayTest, KeepsWhatFits) {
  Replay replay(worker, 10, true);
  replay.hold(bytes("01234"));
  replay.hold(bytes("56789"));
  EXPECT_TRUE(replay.full());
  EXPECT_FALSE(replay.drop_if_useless());
  EXPECT_TRUE(replay.keeps());
  EXPECT_EQ(replay.copy().to_string(), "0123456789");
  EXPECT_EQ(worker.replay_bytes, 10u);
}

TEST_F(ReplayTest, IsLostOnceItIsTooLarge) {
  Replay replay(worker, 4, true);
  replay.hold(bytes("01234"));
  EXPECT_TRUE(replay.keeps());  // until an attempt has been given everything
  EXPECT_TRUE(replay.drop_if_useless());
  EXPECT_FALSE(replay.keeps());
  EXPECT_FALSE(replay.drop_if_useless());  // said once
  EXPECT_EQ(worker.replay_bytes, 0u);
}

TEST_F(ReplayTest, IsLostWhenTheWorkerHoldsTooMuch) {
  Replay first(worker, 1000, true);
  first.hold(bytes(std::string(90, 'x')));
  EXPECT_FALSE(first.drop_if_useless());
  Replay second(worker, 1000, true);
  second.hold(bytes(std::string(20, 'x')));
  EXPECT_TRUE(second.drop_if_useless());
  EXPECT_TRUE(first.keeps());
  EXPECT_EQ(worker.replay_bytes, 90u);
}

TEST_F(ReplayTest, ThatNobodyWantsIsDroppedWithoutAWord) {
  Replay replay(worker, 1000, false);
  replay.hold(bytes("hello"));
  EXPECT_FALSE(replay.drop_if_useless());
  EXPECT_FALSE(replay.keeps());
}

TEST_F(ReplayTest, OfNothingIsNeverLost) {
  Replay replay(worker, 0, true);
  EXPECT_FALSE(replay.drop_if_useless());
  replay.release();
  EXPECT_TRUE(replay.keeps());
}

TEST_F(ReplayTest, GivesBackWhatItHoldsWhenItDies) {
  { Replay(worker, 10, true).hold(bytes("hello")); }
  EXPECT_EQ(worker.replay_bytes, 0u);
}

}  // namespace
}  // namespace damper::router
