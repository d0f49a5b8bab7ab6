#include "http/fields.h"

#include <gtest/gtest.h>

namespace damper::http {
namespace {

TEST(HeaderId, EveryNameFindsItsIdAndBack) {
  const auto last = static_cast<int>(
#define DAMPER_HEADER(id, text) HeaderId::id,
      std::vector{
#include "http/header_names.inc"
      }
          .back());
#undef DAMPER_HEADER
  for (int i = 1; i <= last; ++i) {
    const auto id = static_cast<HeaderId>(i);
    EXPECT_EQ(header_id(header_name(id)), id) << header_name(id);
  }
  EXPECT_EQ(header_id("x-unheard-of"), HeaderId::kOther);
}

TEST(Fields, AreFoundByIdAndByName) {
  Fields fields;
  fields.add("content-type", "text/plain");
  fields.add("x-mine", "1");
  EXPECT_EQ(fields.find(HeaderId::kContentType), "text/plain");
  EXPECT_EQ(fields.find("content-type"), "text/plain");
  EXPECT_EQ(fields.find("x-mine"), "1");
  EXPECT_FALSE(fields.find("x-other"));
}

TEST(Fields, ValuesOfOneNameAreJoinedInOrder) {
  Fields fields;
  fields.add("x-a", "1");
  fields.add("x-b", "between");
  fields.add("x-a", "2");
  EXPECT_EQ(fields.joined("x-a"), "1, 2");
  EXPECT_EQ(fields.find("x-a"), "1");
  EXPECT_FALSE(fields.joined("x-c"));
}

TEST(Fields, SetReplacesAllOfThatName) {
  Fields fields;
  fields.add("x-a", "1");
  fields.add("x-a", "2");
  fields.set("x-a", "3");
  EXPECT_EQ(fields.joined("x-a"), "3");
  EXPECT_EQ(fields.size(), 1u);
  EXPECT_EQ(fields.remove("x-a"), 1u);
  EXPECT_TRUE(fields.empty());
}

TEST(Fields, OwnTheirText) {
  Fields fields;
  {
    const std::string value(100, 'v');
    fields.add("x-a", value);
  }
  for (int i = 0; i < 1000; ++i) fields.add("x-filler", std::string(50, 'f'));
  Fields moved = std::move(fields);
  EXPECT_EQ(moved.find("x-a"), std::string(100, 'v'));

  const Fields copy = moved.clone();
  moved = Fields();
  EXPECT_EQ(copy.find("x-a"), std::string(100, 'v'));
  EXPECT_EQ(copy.bytes(), 3 + 100 + 1000u * (8 + 50));
}

TEST(Arena, GivesRoomForMoreThanAChunk) {
  Arena arena;
  const std::string large(100'000, 'x');
  const auto first = arena.copy("first");
  EXPECT_EQ(arena.copy(large), large);
  EXPECT_EQ(first, "first");
}

}  // namespace
}  // namespace damper::http
