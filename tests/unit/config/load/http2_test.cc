#include "config/load/http2.h"

#include <gtest/gtest.h>

#include "tests/support/config_text.h"

namespace damper::config {
namespace {

Http2Options of_listener(const std::string& fields) {
  return load_listener("http2_protocol_options: { " + fields + " }").http.http2;
}

TEST(Http2Options, EveryFieldIsRead) {
  EXPECT_EQ(
      of_listener("hpack_table_size: 1024, max_concurrent_streams: 7, "
                  "initial_stream_window_size: 65535, initial_connection_window_size: 70000, "
                  "allow_connect: true, max_outbound_frames: 11, max_outbound_control_frames: 12, "
                  "max_consecutive_inbound_frames_with_empty_payload: 13, "
                  "max_inbound_priority_frames_per_stream: 14, "
                  "max_inbound_window_update_frames_per_data_frame_sent: 15, "
                  "connection_keepalive: { interval: 30s, timeout: 2s, interval_jitter: 20% }"),
      (Http2Options{.hpack_table_bytes = 1024,
                    .max_concurrent_streams = 7,
                    .stream_window_bytes = 65535,
                    .connection_window_bytes = 70000,
                    .allow_connect = true,
                    .max_outbound_frames = 11,
                    .max_outbound_control_frames = 12,
                    .max_consecutive_empty_frames = 13,
                    .max_priority_frames_per_stream = 14,
                    .max_window_updates_per_data_frame = 15,
                    .keepalive_interval = 30s,
                    .keepalive_timeout = 2s,
                    .keepalive_jitter_percent = 20}));
}

TEST(Http2Options, WhatIsNotWrittenHasItsDefault) {
  EXPECT_EQ(of_listener(""), Http2Options());
  EXPECT_EQ(load_listener("").http.http2, Http2Options());
}

TEST(Http2Options, ZeroIsAllowedWhereItMeansNone) {
  const Http2Options options = of_listener(
      "hpack_table_size: 0, max_consecutive_inbound_frames_with_empty_payload: 0, "
      "max_inbound_priority_frames_per_stream: 0");
  EXPECT_EQ(options.hpack_table_bytes, 0u);
  EXPECT_EQ(options.max_consecutive_empty_frames, 0u);
  EXPECT_EQ(options.max_priority_frames_per_stream, 0u);
}

TEST(Http2Options, OfAClusterAreReadTheSameWay) {
  EXPECT_EQ(load_cluster("http2_protocol_options: { max_concurrent_streams: 7 }").http2,
            (Http2Options{.max_concurrent_streams = 7}));
}

}  // namespace
}  // namespace damper::config
