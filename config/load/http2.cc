#include "config/load/http2.h"

namespace damper::config {
namespace {

constexpr std::uint32_t kMostInt = 0x7fffffff;
constexpr Range<std::uint32_t> kAtLeastOne{.least = 1};

void read_keep_alive(Cursor c, Http2Options& out) {
  if (!c) return;
  constexpr Duration kShortest = 1ms;
  c.read("interval", out.keepalive_interval, kShortest);
  if (!c.has("timeout")) c.missing("timeout");
  c.read("timeout", out.keepalive_timeout, kShortest);
  c.read_percent("interval_jitter", out.keepalive_jitter_percent);
  c.no_other_keys("KeepaliveSettings");
}

void read_floods(Cursor& c, Http2Options& out) {
  c.read("max_outbound_frames", out.max_outbound_frames, kAtLeastOne);
  c.read("max_outbound_control_frames", out.max_outbound_control_frames, kAtLeastOne);
  c.read("max_consecutive_inbound_frames_with_empty_payload", out.max_consecutive_empty_frames);
  c.read("max_inbound_priority_frames_per_stream", out.max_priority_frames_per_stream);
  c.read("max_inbound_window_update_frames_per_data_frame_sent",
         out.max_window_updates_per_data_frame, kAtLeastOne);
}

}  // namespace

void read_http2_options(Cursor c, Http2Options& out) {
  if (!c) return;
  constexpr Range<std::uint32_t> kWindow{.least = 65535, .most = kMostInt};
  c.read("hpack_table_size", out.hpack_table_bytes);
  c.read("max_concurrent_streams", out.max_concurrent_streams,
         Range<std::uint32_t>{.least = 1, .most = kMostInt});
  c.read("initial_stream_window_size", out.stream_window_bytes, kWindow);
  c.read("initial_connection_window_size", out.connection_window_bytes, kWindow);
  c.read("allow_connect", out.allow_connect);
  read_floods(c, out);
  read_keep_alive(c.object("connection_keepalive"), out);
  c.no_other_keys("Http2ProtocolOptions");
}

}  // namespace damper::config
