#include "http/h2_frames.h"

#include <algorithm>
#include <nghttp2/nghttp2.h>

namespace damper::http::h2 {
namespace {

constexpr Fault kEmptyFrames{NGHTTP2_ENHANCE_YOUR_CALM, "http2.inbound_empty_frames_flood"};
constexpr Fault kPriorityFrames{NGHTTP2_ENHANCE_YOUR_CALM, "http2.inbound_priority_frames_flood"};
constexpr Fault kWindowUpdates{NGHTTP2_ENHANCE_YOUR_CALM,
                               "http2.inbound_window_update_frames_flood"};
constexpr Fault kResets{NGHTTP2_ENHANCE_YOUR_CALM, "http2.early_resets_flood"};
constexpr Fault kBadPriority{NGHTTP2_PROTOCOL_ERROR, "http2.bad_priority"};
constexpr Fault kIdGoesBack{NGHTTP2_PROTOCOL_ERROR, "http2.stream_id_goes_back"};
constexpr Fault kClosedStream{NGHTTP2_STREAM_CLOSED, "http2.frame_on_closed_stream"};

std::uint32_t number(const std::uint8_t* bytes, int n) {
  std::uint32_t out = 0;
  for (int i = 0; i < n; ++i) out = out << 8 | bytes[i];
  return out;
}

StreamId stream_id(const std::uint8_t* bytes) {
  return static_cast<StreamId>(number(bytes, 4) & 0x7fffffff);
}

}  // namespace

std::size_t FrameScanner::next(std::string_view bytes, bool& head_complete) {
  head_complete = false;
  std::size_t taken = 0;
  if (left_ == 0) {
    while (taken < bytes.size() && have_ < need_) {
      bytes_[have_++] = static_cast<std::uint8_t>(bytes[taken++]);
      if (have_ == kHeadBytes) parse();
    }
    if (have_ < need_) return taken;
    head_complete = true;
    if (need_ > kHeadBytes) head_.depends_on = stream_id(bytes_ + kHeadBytes);
    left_ = head_.length - (need_ - kHeadBytes);
    have_ = 0;
    need_ = kHeadBytes;
  }
  const std::size_t payload = std::min(left_, bytes.size() - taken);
  left_ -= payload;
  return taken + payload;
}

void FrameScanner::parse() {
  head_ = {.length = number(bytes_, 3),
           .type = static_cast<FrameType>(bytes_[3]),
           .end_stream = (bytes_[4] & NGHTTP2_FLAG_END_STREAM) != 0,
           .stream = stream_id(bytes_ + 5)};
  const bool with_dependency = head_.type == FrameType::kPriority && head_.length == kPriorityBytes;
  if (with_dependency) need_ = kHeadBytes + sizeof(StreamId);
}

const Fault* FloodGuard::on_frame(const FrameHead& frame) {
  switch (frame.type) {
    case FrameType::kData:
    case FrameType::kHeaders:
    case FrameType::kContinuation: {
      const bool ends = frame.end_stream && frame.type != FrameType::kContinuation;
      empty_frames_ = frame.length == 0 && !ends ? empty_frames_ + 1 : 0;
      return empty_frames_ > limits_.max_consecutive_empty_frames ? &kEmptyFrames : nullptr;
    }
    case FrameType::kPriority: {
      if (frame.stream == 0 || frame.stream == frame.depends_on) return &kBadPriority;
      const bool too_many =
          ++priority_frames_ > limits_.max_priority_frames_per_stream * (1 + streams_);
      return too_many ? &kPriorityFrames : nullptr;
    }
    case FrameType::kWindowUpdate: {
      // As Envoy counts: two for each stream and the connection besides those that data earns.
      constexpr std::uint64_t kFree = 5;
      const std::uint64_t earned =
          kFree + 2 * (streams_ + limits_.max_window_updates_per_data_frame * data_frames_sent_);
      return ++window_updates_ > earned ? &kWindowUpdates : nullptr;
    }
    case FrameType::kRstStream:
    case FrameType::kSettings:
    case FrameType::kPushPromise:
    case FrameType::kPing:
    case FrameType::kGoaway: return nullptr;
  }
  return nullptr;  // of an extension: nghttp2 ignores it
}

// As Envoy counts: some hundreds are free, so that many calls may meet their deadline together.
const Fault* FloodGuard::on_early_reset() {
  constexpr std::uint64_t kFree = 500;
  return 2 * ++early_resets_ > std::max(kFree, streams_) ? &kResets : nullptr;
}

void ClosedStreams::opened(StreamId id) {
  if (id > last_ + 2) {
    skipped_.emplace_back(last_ + 2, id - 2);
    if (skipped_.size() > kMostSkipped) skipped_.pop_front();
  }
  last_ = std::max(last_, id);
}

void ClosedStreams::left_by_us(StreamId id) {
  left_.push_back(id);
  if (left_.size() > kMostLeft) left_.pop_front();
}

const Fault* ClosedStreams::judge(const FrameHead& frame) const {
  const bool message = frame.type == FrameType::kHeaders || frame.type == FrameType::kData;
  const StreamId id = frame.stream;
  if (!message || id == 0 || id > last_ || id % 2 == 0) return nullptr;  // nghttp2 sees to those
  const bool skipped = std::any_of(skipped_.begin(), skipped_.end(), [id](const auto& range) {
    return range.first <= id && id <= range.second;
  });
  if (skipped) return &kIdGoesBack;
  const bool forgotten = left_.size() == kMostLeft && id < left_.front();
  if (forgotten || std::find(left_.begin(), left_.end(), id) != left_.end()) return nullptr;
  return &kClosedStream;
}

}  // namespace damper::http::h2
