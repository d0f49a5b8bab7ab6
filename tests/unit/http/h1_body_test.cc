#include "http/h1_body.h"

#include <gtest/gtest.h>

namespace damper::http::h1 {
namespace {

TEST(BodyReader, ALengthIsCutOutOfWhatFollows) {
  LineReader lines;
  BodyReader reader(lines);
  reader.begin(Framing::kLength, 5);
  Buffer in, body;
  Fields trailers;
  in.append("hel");
  EXPECT_EQ(reader.read(in, body, trailers), Step::kMore);
  in.append("loNEXT");
  EXPECT_EQ(reader.read(in, body, trailers), Step::kDone);
  EXPECT_EQ(body.to_string(), "hello");
  EXPECT_EQ(in.to_string(), "NEXT");
}

TEST(BodyReader, ChunksAndTrailersAreCutOutOfWhatFollows) {
  LineReader lines;
  BodyReader reader(lines);
  reader.begin(Framing::kChunked, 0);
  Buffer in, body;
  Fields trailers;
  in.append("3\r\nabc\r\n2;x\r\nde\r\n0\r\nX-Sum: 1\r\nHost: h\r\n\r\nNEXT");
  EXPECT_EQ(reader.read(in, body, trailers), Step::kDone);
  EXPECT_EQ(body.to_string(), "abcde");
  EXPECT_EQ(in.to_string(), "NEXT");
  ASSERT_EQ(trailers.size(), 1u);
  EXPECT_EQ(trailers.find("x-sum"), "1");
}

TEST(BodyReader, WhatCameBeforeAFaultIsHandedOut) {
  LineReader lines;
  BodyReader reader(lines);
  reader.begin(Framing::kChunked, 0);
  Buffer in, body;
  Fields trailers;
  in.append("3\r\nabc\r\nzz\r\n");
  EXPECT_EQ(reader.read(in, body, trailers), Step::kBad);
  EXPECT_EQ(body.to_string(), "abc");
  EXPECT_EQ(reader.fault().detail, kCodecError.detail);
}

TEST(BodyReader, TheLargestChunkSizeIsTakenAndTheNextIsNot) {
  for (const bool fits : {true, false}) {
    LineReader lines;
    BodyReader reader(lines);
    reader.begin(Framing::kChunked, 0);
    Buffer in, body;
    Fields trailers;
    in.append(fits ? "7fffffffffffffff\r\na" : "8000000000000000\r\na");
    EXPECT_EQ(reader.read(in, body, trailers), fits ? Step::kMore : Step::kBad);
  }
}

TEST(BodyReader, UntilCloseTakesEverything) {
  LineReader lines;
  BodyReader reader(lines);
  reader.begin(Framing::kUntilClose, 0);
  Buffer in, body;
  Fields trailers;
  in.append("abc");
  EXPECT_EQ(reader.read(in, body, trailers), Step::kMore);
  EXPECT_EQ(body.to_string(), "abc");
  EXPECT_TRUE(reader.ends_at_eof());
}

TEST(BodyWriter, ABodyIsCutToItsLengthAndMissedIfItIsShort) {
  BodyWriter writer;
  writer.begin(Framing::kLength, 4);
  Buffer body, out;
  body.append("abc");
  writer.write(body, false, out);
  EXPECT_TRUE(writer.incomplete());
  body.append("defg");
  writer.write(body, true, out);
  EXPECT_FALSE(writer.incomplete());
  EXPECT_EQ(out.to_string(), "abcd");
  EXPECT_TRUE(body.empty());
}

TEST(BodyWriter, OnlyTheEndOfAChunkedBodyIsAnEmptyChunk) {
  BodyWriter writer;
  writer.begin(Framing::kChunked, 0);
  Buffer body, out;
  writer.write(body, false, out);
  EXPECT_TRUE(out.empty());
  body.append(std::string(26, 'x'));
  writer.write(body, false, out);
  writer.write(body, true, out);
  EXPECT_EQ(out.to_string(), "1a\r\n" + std::string(26, 'x') + "\r\n0\r\n\r\n");
}

}  // namespace
}  // namespace damper::http::h1
