#include "http/h2_flood.h"

namespace damper::http::h2 {

std::string_view FloodGuard::on_frame(const nghttp2_frame_hd& frame) {
  switch (frame.type) {
    case NGHTTP2_DATA:
    case NGHTTP2_HEADERS:
    case NGHTTP2_CONTINUATION: {
      const bool ends = (frame.flags & NGHTTP2_FLAG_END_STREAM) != 0;
      const bool empty = frame.length == 0 && !(ends && frame.type != NGHTTP2_CONTINUATION);
      empty_frames_ = empty ? empty_frames_ + 1 : 0;
      return empty_frames_ > limits_.max_consecutive_empty_frames
                 ? "http2.inbound_empty_frames_flood"
                 : "";
    }
    case NGHTTP2_PRIORITY:
      return ++priority_frames_ > limits_.max_priority_frames_per_stream * (1 + streams_)
                 ? "http2.inbound_priority_frames_flood"
                 : "";
    case NGHTTP2_WINDOW_UPDATE: {
      // As Envoy counts: two for each stream and the connection besides those that data earns.
      constexpr std::uint64_t kFree = 5;
      const std::uint64_t earned =
          kFree + 2 * (streams_ + limits_.max_window_updates_per_data_frame * data_frames_sent_);
      return ++window_updates_ > earned ? "http2.inbound_window_update_frames_flood" : "";
    }
    default: return {};
  }
}

}  // namespace damper::http::h2
