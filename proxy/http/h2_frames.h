// Where the frames of HTTP/2 begin and end (RFC 9113 §4.1), and which of them a peer may send.
//
// nghttp2 is lenient: it ignores DATA on a stream that is over, and PRIORITY frames altogether once
// they have no effect. So we look at each frame's head before it does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>

#include "config/model/common.h"
#include "http/codec.h"

namespace damper::http::h2 {

// What a client begins with (RFC 9113 §3.4), and no request of HTTP/1 does.
inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

enum class FrameType : std::uint8_t {
  kData,
  kHeaders,
  kPriority,
  kRstStream,
  kSettings,
  kPushPromise,
  kPing,
  kGoaway,
  kWindowUpdate,
  kContinuation
};

struct FrameHead {
  std::uint32_t length = 0;
  FrameType type = FrameType::kData;
  bool end_stream = false;
  StreamId stream = 0;
  StreamId depends_on = 0;  // PRIORITY only
};

// Cuts a stream of bytes at the ends of frames.
class FrameScanner {
 public:
  // `preface_bytes` come before the first frame.
  explicit FrameScanner(std::size_t preface_bytes) : left_(preface_bytes) {}

  // How many of the bytes, at least one, belong to the frame that is under way or begins here.
  // `head_complete`: with them its head() is known.
  std::size_t next(std::string_view bytes, bool& head_complete);
  const FrameHead& head() const { return head_; }

 private:
  static constexpr std::size_t kHeadBytes = 9;
  static constexpr std::size_t kPriorityBytes = 5;

  void parse();

  std::size_t left_;  // of the payload
  std::size_t have_ = 0;
  std::size_t need_ = kHeadBytes;
  std::uint8_t bytes_[kHeadBytes + sizeof(StreamId)];
  FrameHead head_;
};

// Why a connection ends.
struct Fault {
  std::uint32_t error_code;  // RFC 9113 §7
  std::string_view detail;
};

// What a peer may send without meaning: frames that cost us work and bring no message nearer.
// Envoy Http2ProtocolOptions (max_consecutive_inbound_frames_with_empty_payload and its
// neighbours); floods of RST_STREAM, PING and SETTINGS are bounded by nghttp2 itself.
class FloodGuard {
 public:
  explicit FloodGuard(const config::Http2Options& limits) : limits_(limits) {}

  const Fault* on_frame(const FrameHead& frame);  // null, or what there is too much of
  // A client that resets most of what it asks for, before it is answered (rapid reset,
  // CVE-2023-44487).
  const Fault* on_early_reset();
  void stream_opened() { ++streams_; }
  void data_frame_sent() { ++data_frames_sent_; }

 private:
  const config::Http2Options& limits_;
  std::uint64_t streams_ = 0;
  std::uint64_t data_frames_sent_ = 0;
  std::uint64_t priority_frames_ = 0;
  std::uint64_t window_updates_ = 0;
  std::uint64_t early_resets_ = 0;
  std::uint32_t empty_frames_ = 0;  // in a row
};

// The ids that a client has used (RFC 9113 §5.1.1), as far as it matters which frames may still
// come. Bounded: what it has forgotten it takes to be in order.
class ClosedStreams {
 public:
  bool is_new(StreamId id) const { return id > last_; }
  void opened(StreamId id);
  void left_by_us(StreamId id);  // reset before the peer had ended it: more may be under way
  // A message's frame on a stream that is not open.
  const Fault* judge(const FrameHead& frame) const;

 private:
  static constexpr std::size_t kMostSkipped = 64;
  static constexpr std::size_t kMostLeft = 1024;

  StreamId last_ = -1;
  std::deque<std::pair<StreamId, StreamId>> skipped_;  // never opened, from and to
  std::deque<StreamId> left_;
};

}  // namespace damper::http::h2
