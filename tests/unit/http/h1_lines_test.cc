#include "http/h1_lines.h"

#include <gtest/gtest.h>

#include "tests/support/transcript.h"

namespace damper::http::h1 {
namespace {

constexpr SectionLimits kLimits{.max_bytes = 60 * 1024, .max_fields = 100};
constexpr std::string_view kRequest = "\r\nGET /a HTTP/1.1\r\nHost: \t a \r\nX:\r\n\r\n";

TEST(LineReader, FindsTheStartLineAndTheFields) {
  LineReader reader;
  reader.begin(Section::kRequest, kLimits);
  Buffer in;
  Arena arena;
  in.append(kRequest);
  ASSERT_EQ(reader.read(in, arena), Step::kDone);
  EXPECT_EQ(reader.view(reader.method()), "GET");
  EXPECT_EQ(reader.view(reader.target()), "/a");
  EXPECT_EQ(reader.minor_version(), 1);
  ASSERT_EQ(reader.lines().size(), 2u);
  EXPECT_EQ(reader.view(reader.lines()[0].name), "Host");
  EXPECT_EQ(reader.view(reader.lines()[0].value), "a");
  EXPECT_EQ(reader.view(reader.lines()[1].value), "");
}

TEST(LineReader, TakesTheSectionAndNotAByteMoreHoweverItIsCut) {
  const std::string bytes = std::string(kRequest) + "BEHIND";
  for (const auto& cuts : all_cuts(bytes.size())) {
    LineReader reader;
    reader.begin(Section::kRequest, kLimits);
    Buffer in;
    Arena arena;
    Step step = Step::kMore;
    cut(bytes, cuts, [&](std::string_view piece) {
      append_as_slice(in, piece);
      if (step == Step::kMore) step = reader.read(in, arena);
    });
    EXPECT_EQ(step, Step::kDone);
    EXPECT_EQ(in.to_string(), "BEHIND");
  }
}

TEST(LineReader, AnEmptyLineBeforeARequestDoesNotStartIt) {
  LineReader reader;
  reader.begin(Section::kRequest, kLimits);
  Buffer in;
  Arena arena;
  in.append("\r\n");
  EXPECT_EQ(reader.read(in, arena), Step::kMore);
  EXPECT_FALSE(reader.started());
  in.append("G");
  EXPECT_EQ(reader.read(in, arena), Step::kMore);
  EXPECT_TRUE(reader.started());
}

TEST(LineReader, WhatCannotBecomeAMessageIsRefusedAtItsFirstByte) {
  for (const Section section : {Section::kRequest, Section::kResponse}) {
    LineReader reader;
    reader.begin(section, kLimits);
    Buffer in;
    Arena arena;
    in.append("\x16");
    EXPECT_EQ(reader.read(in, arena), Step::kBad);
  }
}

TEST(LineReader, ASectionMayBeAsLongAsItsLimit) {
  for (const int beyond : {0, 1}) {
    LineReader reader;
    reader.begin(Section::kTrailers, {.max_bytes = 20, .max_fields = 2});
    Buffer in;
    Arena arena;
    in.append("x: " + std::string(static_cast<std::size_t>(13 + beyond), 'a') + "\r\n\r\n");
    EXPECT_EQ(reader.read(in, arena), beyond == 0 ? Step::kDone : Step::kBad);
  }
}

}  // namespace
}  // namespace damper::http::h1
