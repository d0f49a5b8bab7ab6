#include "base/buffer.h"

#include <gtest/gtest.h>

namespace damper {
namespace {

TEST(Buffer, SmallRunsAreCopiedAndLargeOnesMoved) {
  Buffer from, to;
  from.append(std::string(100, 'a'));
  from.append(std::string(60000, 'b'));
  to.append("head ");
  to.move_from(from, from.size());
  EXPECT_TRUE(from.empty());
  EXPECT_EQ(to.to_string(), "head " + std::string(100, 'a') + std::string(60000, 'b'));
}

}  // namespace
}  // namespace damper
