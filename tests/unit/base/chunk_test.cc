#include "base/chunk.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <thread>
#include <vector>

namespace damper {
namespace {

TEST(Chunk, ManyLiveAtOnceAndNoneOverlap) {
  std::vector<void*> chunks;
  for (int i = 0; i < 2000; ++i) {
    chunks.push_back(allocate_chunk());
    std::memset(chunks.back(), i % 251, kChunkBytes);
  }
  EXPECT_EQ(std::set<void*>(chunks.begin(), chunks.end()).size(), chunks.size());
  for (int i = 0; i < 2000; ++i) {
    const auto* bytes = static_cast<const unsigned char*>(chunks[static_cast<std::size_t>(i)]);
    EXPECT_EQ(bytes[0], i % 251);
    EXPECT_EQ(bytes[kChunkBytes - 1], i % 251);
  }
  for (void* chunk : chunks) free_chunk(chunk);
}

TEST(Chunk, AnotherThreadMayFreeIt) {
  void* chunk = allocate_chunk();
  std::thread([chunk] { free_chunk(chunk); }).join();
  void* next = allocate_chunk();
  EXPECT_NE(next, nullptr);
  free_chunk(next);
}

class Small {
  DAMPER_LIVES_IN_A_CHUNK(Small)

 public:
  int value = 7;
};

TEST(Chunk, AClassMayLiveInOne) {
  const auto* small = new Small;
  EXPECT_EQ(small->value, 7);
  delete small;
}

}  // namespace
}  // namespace damper
