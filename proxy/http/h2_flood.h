// What a peer may send without meaning: frames that cost us work and bring no message nearer.
// Counts only, no clock. Envoy Http2ProtocolOptions
// (max_consecutive_inbound_frames_with_empty_payload and its neighbours); RST_STREAM, PING and
// SETTINGS floods are bounded by nghttp2 itself.
#pragma once
#include <cstdint>
#include <nghttp2/nghttp2.h>
#include <string_view>

#include "config/model/common.h"

namespace damper::http::h2 {

class FloodGuard {
 public:
  explicit FloodGuard(const config::Http2Options& limits) : limits_(limits) {}

  // Each frame that begins. Empty, or what there is too much of.
  std::string_view on_frame(const nghttp2_frame_hd& frame);
  void stream_opened() { ++streams_; }
  void data_frame_sent() { ++data_frames_sent_; }

 private:
  const config::Http2Options& limits_;
  std::uint64_t streams_ = 0;
  std::uint64_t data_frames_sent_ = 0;
  std::uint64_t priority_frames_ = 0;
  std::uint64_t window_updates_ = 0;
  std::uint32_t empty_frames_ = 0;  // in a row
};

}  // namespace damper::http::h2
