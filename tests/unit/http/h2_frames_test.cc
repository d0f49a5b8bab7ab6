#include "http/h2_frames.h"

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>
#include <string>
#include <vector>

#include "tests/support/h2_wire.h"
#include "tests/support/transcript.h"

namespace damper::http::h2 {
namespace {

namespace wire = tests::h2;

FrameHead head(FrameType type, StreamId stream, std::uint32_t length = 1, bool end = false,
               StreamId depends_on = 0) {
  return {.length = length,
          .type = type,
          .end_stream = end,
          .stream = stream,
          .depends_on = depends_on};
}

std::string text(const FrameHead& frame) {
  return std::to_string(static_cast<int>(frame.type)) + " #" + std::to_string(frame.stream) + " " +
         std::to_string(frame.length) + (frame.end_stream ? " end" : "") +
         (frame.depends_on > 0 ? " on " + std::to_string(frame.depends_on) : "") + "\n";
}

// The heads of the frames in the bytes. Each piece that the scanner returns lies within one frame.
std::string scan(std::string_view preface, const std::vector<std::string>& frames,
                 const std::vector<std::size_t>& cuts) {
  std::string bytes(preface);
  std::vector<std::size_t> ends = {bytes.size()};
  for (const std::string& frame : frames) ends.push_back((bytes += frame).size());
  FrameScanner scanner(preface.size());
  std::string out;
  std::size_t at = 0;
  cut(bytes, cuts, [&](std::string_view piece) {
    while (!piece.empty()) {
      bool complete = false;
      const std::size_t n = scanner.next(piece, complete);
      ASSERT_GT(n, 0u);
      const std::size_t frame_end = *std::upper_bound(ends.begin(), ends.end(), at);
      EXPECT_LE(at + n, frame_end);
      if (complete) out += text(scanner.head());
      at += n;
      piece.remove_prefix(n);
    }
  });
  return out;
}

TEST(FrameScanner, FindsTheSameFramesHoweverTheBytesAreCut) {
  const std::vector<std::string> frames = {
      wire::settings({{4, 100'000}}),
      wire::get(1),
      wire::priority(3, 1),
      wire::data(0x7fffffff, "hello", true),
      wire::data(1, "", false),
      wire::frame(NGHTTP2_PRIORITY, 0, 5, "abc"),  // of a wrong length: depends on nothing
      wire::frame(0xfe, 1, 7, std::string(300, 'x')),
      wire::settings_ack()};
  const std::string expected =
      "4 #0 6\n1 #1 " + std::to_string(wire::get(1).size() - 9) +
      " end\n2 #3 5 on 1\n0 #2147483647 5 end\n0 #1 0\n2 #5 3\n254 #7 300 end\n4 #0 0 end\n";
  std::size_t size = 0;
  for (const std::string& frame : frames) size += frame.size();
  for (const std::string_view preface : {std::string_view(), wire::kPreface}) {
    for (const auto& cuts : all_cuts(preface.size() + size, 600))
      EXPECT_EQ(scan(preface, frames, cuts), expected);
  }
}

TEST(FrameScanner, ReservedBitOfAStreamIsIgnored) {
  std::string frame = wire::priority(3, 1);
  frame[5] = static_cast<char>(0x80);
  frame[9] = static_cast<char>(0x80);  // the exclusive flag
  EXPECT_EQ(scan("", {frame}, {}), "2 #3 5 on 1\n");
}

struct Flood {
  const char* name;
  config::Http2Options limits;
  int streams;
  int data_sent;
  std::vector<FrameHead> allowed;  // how often it is
  int times;
  std::string_view detail;  // of the fault that the next one is; empty: none
};

class FloodRule : public ::testing::TestWithParam<Flood> {};

TEST_P(FloodRule, AllowsSoManyAndNotOneMore) {
  const Flood& c = GetParam();
  FloodGuard guard(c.limits);
  for (int i = 0; i < c.streams; ++i) guard.stream_opened();
  for (int i = 0; i < c.data_sent; ++i) guard.data_frame_sent();
  for (int i = 0; i < c.times; ++i) {
    for (const FrameHead& frame : c.allowed) ASSERT_EQ(guard.on_frame(frame), nullptr) << i;
  }
  const Fault* const fault = guard.on_frame(c.allowed.front());
  EXPECT_EQ(fault ? fault->detail : "", c.detail);
  EXPECT_TRUE(!fault || fault->error_code == NGHTTP2_ENHANCE_YOUR_CALM);
}

constexpr std::string_view kEmpty = "http2.inbound_empty_frames_flood";
constexpr std::string_view kPriority = "http2.inbound_priority_frames_flood";
constexpr std::string_view kWindow = "http2.inbound_window_update_frames_flood";

INSTANTIATE_TEST_SUITE_P(
    Table, FloodRule,
    ::testing::Values(
        Flood{"EmptyData", {}, 1, 0, {head(FrameType::kData, 1, 0)}, 1, kEmpty},
        Flood{"EmptyHeaders", {}, 1, 0, {head(FrameType::kHeaders, 1, 0)}, 1, kEmpty},
        Flood{"EmptyContinuations", {}, 1, 0, {head(FrameType::kContinuation, 1, 0)}, 1, kEmpty},
        Flood{"ContinuationsHaveNoEnd",
              {},
              1,
              0,
              {head(FrameType::kContinuation, 1, 0, true)},
              1,
              kEmpty},
        Flood{"AsManyAsConfigured",
              {.max_consecutive_empty_frames = 7},
              1,
              0,
              {head(FrameType::kData, 1, 0)},
              7,
              kEmpty},
        Flood{"NoneAtAll",
              {.max_consecutive_empty_frames = 0},
              1,
              0,
              {head(FrameType::kData, 1, 0)},
              0,
              kEmpty},
        Flood{"EmptyFramesThatEndMean", {}, 1, 0, {head(FrameType::kData, 1, 0, true)}, 99, ""},
        Flood{"OnlyThoseInARow",
              {},
              1,
              0,
              {head(FrameType::kData, 1, 0), head(FrameType::kData, 1, 9)},
              99,
              ""},
        Flood{"PriorityBeforeAnyStream",
              {},
              0,
              0,
              {head(FrameType::kPriority, 1, 5)},
              100,
              kPriority},
        Flood{"PriorityByStreams",
              {.max_priority_frames_per_stream = 2},
              3,
              0,
              {head(FrameType::kPriority, 1, 5)},
              8,
              kPriority},
        Flood{
            "WindowBeforeAnyStream", {}, 0, 0, {head(FrameType::kWindowUpdate, 0, 4)}, 5, kWindow},
        Flood{"WindowByStreams", {}, 10, 0, {head(FrameType::kWindowUpdate, 0, 4)}, 25, kWindow},
        Flood{"WindowByDataSent",
              {.max_window_updates_per_data_frame = 3},
              1,
              4,
              {head(FrameType::kWindowUpdate, 0, 4)},
              31,
              kWindow},
        Flood{"OthersAreNotCounted",
              {},
              0,
              0,
              {head(FrameType::kSettings, 0, 0), head(FrameType::kPing, 0, 8),
               head(FrameType::kRstStream, 1, 4), head(FrameType::kGoaway, 0, 8),
               head(FrameType::kPushPromise, 1, 9), head(static_cast<FrameType>(0xfe), 1, 0)},
              5000,
              ""}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(FloodGuard, APriorityFrameMustNameAStreamAndNotDependOnItself) {
  const config::Http2Options limits;
  for (const FrameHead& bad :
       {head(FrameType::kPriority, 0, 5, false, 1), head(FrameType::kPriority, 3, 5, false, 3)}) {
    FloodGuard guard(limits);
    const Fault* const fault = guard.on_frame(bad);
    ASSERT_NE(fault, nullptr);
    EXPECT_EQ(fault->error_code, std::uint32_t{NGHTTP2_PROTOCOL_ERROR});
  }
}

// As a server knows it: 5, 7 and 13 were opened; of these 7 was reset by us while its request came.
ClosedStreams some_streams() {
  ClosedStreams streams;
  for (const StreamId id : {5, 7, 13}) streams.opened(id);
  streams.left_by_us(7);
  return streams;
}

TEST(ClosedStreams, JudgesWhatComesOnAStreamThatIsNotOpen) {
  struct Case {
    FrameHead frame;
    std::uint32_t error;  // 0: none
  };
  const Case cases[] = {{head(FrameType::kHeaders, 5), NGHTTP2_STREAM_CLOSED},
                        {head(FrameType::kData, 5), NGHTTP2_STREAM_CLOSED},
                        {head(FrameType::kData, 13), NGHTTP2_STREAM_CLOSED},
                        {head(FrameType::kHeaders, 7), 0},
                        {head(FrameType::kData, 7), 0},
                        {head(FrameType::kHeaders, 1), NGHTTP2_PROTOCOL_ERROR},
                        {head(FrameType::kHeaders, 3), NGHTTP2_PROTOCOL_ERROR},
                        {head(FrameType::kHeaders, 9), NGHTTP2_PROTOCOL_ERROR},
                        {head(FrameType::kData, 11), NGHTTP2_PROTOCOL_ERROR},
                        {head(FrameType::kHeaders, 15), 0},
                        {head(FrameType::kHeaders, 6), 0},
                        {head(FrameType::kData, 0), 0},
                        {head(FrameType::kWindowUpdate, 5), 0},
                        {head(FrameType::kRstStream, 5), 0},
                        {head(FrameType::kPriority, 9), 0}};
  const ClosedStreams streams = some_streams();
  for (const Case& c : cases) {
    const Fault* const fault = streams.judge(c.frame);
    EXPECT_EQ(fault ? fault->error_code : 0, c.error) << text(c.frame);
  }
}

TEST(ClosedStreams, KnowWhichIdsAreNew) {
  const ClosedStreams streams = some_streams();
  EXPECT_TRUE(streams.is_new(15));
  EXPECT_FALSE(streams.is_new(13));
  EXPECT_FALSE(streams.is_new(9));
  EXPECT_TRUE(ClosedStreams().is_new(1));
}

TEST(ClosedStreams, ForgiveWhatTheyHaveForgotten) {
  ClosedStreams streams;
  StreamId id = 1;
  for (int i = 0; i < 1100; ++i, id += 2) {
    streams.opened(id);
    streams.left_by_us(id);
  }
  EXPECT_EQ(streams.judge(head(FrameType::kData, 1)), nullptr);
  EXPECT_EQ(streams.judge(head(FrameType::kData, id - 2)), nullptr);
  streams.opened(id);
  EXPECT_NE(streams.judge(head(FrameType::kData, id)), nullptr);
}

}  // namespace
}  // namespace damper::http::h2
