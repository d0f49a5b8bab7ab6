// HTTP/2 as bytes: frames made by hand, right or wrong, and what a codec wrote as text.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nghttp2/nghttp2.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace damper::tests::h2 {

using StreamId = std::int32_t;
using FieldList = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

std::string frame(std::uint8_t type, std::uint8_t flags, StreamId stream,
                  std::string_view payload = {});

// A field block without tables: each field is a literal that is not indexed (RFC 7541 §6.2.2).
std::string hpack(const FieldList& fields);

std::string headers(StreamId stream, const FieldList& fields, bool end);
std::string data(StreamId stream, std::string_view bytes, bool end);
std::string rst_stream(StreamId stream, std::uint32_t error_code);
std::string settings(std::initializer_list<std::pair<std::uint16_t, std::uint32_t>> entries = {});
std::string settings_ack();
std::string ping(std::string_view eight_bytes, bool ack = false);
std::string goaway(StreamId last, std::uint32_t error_code);
std::string window_update(StreamId stream, std::uint32_t bytes);
std::string priority(StreamId stream, StreamId depends_on);

// A request as most tests want it, and its fields.
FieldList request_fields(std::string_view method, const FieldList& more = {});
inline std::string get(StreamId stream, const FieldList& more = {}) {
  return headers(stream, request_fields("GET", more), true);
}
inline std::string post(StreamId stream, const FieldList& more = {}) {
  return headers(stream, request_fields("POST", more), false);
}

// One peer's frames in turn, a line each: `HEADERS 1 end :status=200;`, `DATA 1 hello end` (long
// ones by their size), `RST_STREAM 1 CANCEL`, `GOAWAY 5 NO_ERROR`, `WINDOW_UPDATE 0 100`,
// `SETTINGS 4=65535`, `SETTINGS ack`, `PING ack 12345678`.
class FrameText {
 public:
  FrameText();
  ~FrameText();

  // Whole frames, and a client's preface if there is one; what is left over waits.
  std::string read(std::string_view bytes);

 private:
  struct FreeInflater {
    void operator()(nghttp2_hd_inflater* inflater) const { nghttp2_hd_inflate_del(inflater); }
  };

  std::string block(std::string_view payload);
  std::string line(std::uint8_t type, std::uint8_t flags, StreamId stream,
                   std::string_view payload);

  std::unique_ptr<nghttp2_hd_inflater, FreeInflater> inflater_;
  std::string waiting_;
};

}  // namespace damper::tests::h2
