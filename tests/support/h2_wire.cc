#include "tests/support/h2_wire.h"

#include "base/check.h"

namespace damper::tests::h2 {
namespace {

constexpr std::size_t kHeadBytes = 9;

std::string number(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

std::uint32_t number(std::string_view bytes) {
  std::uint32_t out = 0;
  for (const char c : bytes) out = out << 8 | static_cast<unsigned char>(c);
  return out;
}

std::uint32_t id(StreamId stream) { return static_cast<std::uint32_t>(stream); }

// RFC 7541 §5.1 with a prefix of 7 bits.
std::string hpack_text(std::string_view text) {
  std::string out;
  std::size_t n = text.size();
  if (n < 127) {
    out += static_cast<char>(n);
  } else {
    out += static_cast<char>(127);
    for (n -= 127; n >= 128; n /= 128) out += static_cast<char>(n % 128 + 128);
    out += static_cast<char>(n);
  }
  return out.append(text);
}

}  // namespace

std::string frame(std::uint8_t type, std::uint8_t flags, StreamId stream,
                  std::string_view payload) {
  return number(payload.size(), 3) + static_cast<char>(type) + static_cast<char>(flags) +
         number(id(stream), 4) + std::string(payload);
}

std::string hpack(const FieldList& fields) {
  std::string out;
  for (const auto& [name, value] : fields) out += '\0' + hpack_text(name) + hpack_text(value);
  return out;
}

std::string headers(StreamId stream, const FieldList& fields, bool end) {
  const int flags = NGHTTP2_FLAG_END_HEADERS | (end ? NGHTTP2_FLAG_END_STREAM : 0);
  return frame(NGHTTP2_HEADERS, static_cast<std::uint8_t>(flags), stream, hpack(fields));
}

std::string data(StreamId stream, std::string_view bytes, bool end) {
  return frame(NGHTTP2_DATA, end ? NGHTTP2_FLAG_END_STREAM : NGHTTP2_FLAG_NONE, stream, bytes);
}

std::string rst_stream(StreamId stream, std::uint32_t error_code) {
  return frame(NGHTTP2_RST_STREAM, 0, stream, number(error_code, 4));
}

std::string settings(std::initializer_list<std::pair<std::uint16_t, std::uint32_t>> entries) {
  std::string payload;
  for (const auto& [name, value] : entries) payload += number(name, 2) + number(value, 4);
  return frame(NGHTTP2_SETTINGS, 0, 0, payload);
}

std::string settings_ack() { return frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0); }

std::string ping(std::string_view eight_bytes, bool ack) {
  return frame(NGHTTP2_PING, ack ? NGHTTP2_FLAG_ACK : NGHTTP2_FLAG_NONE, 0, eight_bytes);
}

std::string goaway(StreamId last, std::uint32_t error_code) {
  return frame(NGHTTP2_GOAWAY, 0, 0, number(id(last), 4) + number(error_code, 4));
}

std::string window_update(StreamId stream, std::uint32_t bytes) {
  return frame(NGHTTP2_WINDOW_UPDATE, 0, stream, number(bytes, 4));
}

std::string priority(StreamId stream, StreamId depends_on) {
  return frame(NGHTTP2_PRIORITY, 0, stream, number(id(depends_on), 4) + '\x10');
}

FieldList request_fields(std::string_view method, const FieldList& more) {
  FieldList out = {{":method", std::string(method)},
                   {":scheme", "http"},
                   {":authority", "a.test"},
                   {":path", "/"}};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

FrameText::FrameText() {
  nghttp2_hd_inflater* inflater = nullptr;
  DAMPER_CHECK(nghttp2_hd_inflate_new(&inflater) == 0);
  inflater_.reset(inflater);
}

FrameText::~FrameText() = default;

std::string FrameText::read(std::string_view bytes) {
  waiting_ += bytes;
  std::string out;
  std::string_view rest = waiting_;
  if (rest.starts_with(kPreface)) rest.remove_prefix(kPreface.size());
  while (rest.size() >= kHeadBytes) {
    const std::size_t length = number(rest.substr(0, 3));
    if (rest.size() < kHeadBytes + length) break;
    out += line(static_cast<std::uint8_t>(rest[3]), static_cast<std::uint8_t>(rest[4]),
                static_cast<StreamId>(number(rest.substr(5, 4))), rest.substr(kHeadBytes, length)) +
           "\n";
    rest.remove_prefix(kHeadBytes + length);
  }
  waiting_ = std::string(rest);
  return out;
}

std::string FrameText::block(std::string_view payload) {
  std::string out;
  const auto* at = reinterpret_cast<const std::uint8_t*>(payload.data());
  std::size_t left = payload.size();
  for (;;) {
    nghttp2_nv field;
    int flags = 0;
    const ssize_t n = nghttp2_hd_inflate_hd2(inflater_.get(), &field, &flags, at, left, 1);
    DAMPER_CHECK(n >= 0);
    at += n;
    left -= static_cast<std::size_t>(n);
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
      out += " " + std::string(reinterpret_cast<char*>(field.name), field.namelen) + "=" +
             std::string(reinterpret_cast<char*>(field.value), field.valuelen) + ";";
    }
    if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
  }
  nghttp2_hd_inflate_end_headers(inflater_.get());
  return out;
}

std::string FrameText::line(std::uint8_t type, std::uint8_t flags, StreamId stream,
                            std::string_view payload) {
  constexpr std::size_t kShort = 40;
  const std::string on = " " + std::to_string(stream);
  const std::string end = (flags & NGHTTP2_FLAG_END_STREAM) != 0 ? " end" : "";
  const std::string ack = (flags & NGHTTP2_FLAG_ACK) != 0 ? " ack" : "";
  const auto error = [&](std::size_t offset) {
    return std::string(" ") + nghttp2_http2_strerror(number(payload.substr(offset, 4)));
  };
  switch (type) {
    case NGHTTP2_DATA:
      return "DATA" + on + " " +
             (payload.size() < kShort ? std::string(payload) : std::to_string(payload.size())) +
             end;
    case NGHTTP2_HEADERS: return "HEADERS" + on + end + block(payload);
    case NGHTTP2_RST_STREAM: return "RST_STREAM" + on + error(0);
    case NGHTTP2_SETTINGS: {
      std::string out = "SETTINGS" + ack;
      for (std::size_t i = 0; i + 6 <= payload.size(); i += 6)
        out += " " + std::to_string(number(payload.substr(i, 2))) + "=" +
               std::to_string(number(payload.substr(i + 2, 4)));
      return out;
    }
    case NGHTTP2_PING:
      return "PING" + ack + " " + std::string(payload.substr(0, payload.find(char{})));
    case NGHTTP2_GOAWAY: return "GOAWAY " + std::to_string(number(payload.substr(0, 4))) + error(4);
    case NGHTTP2_WINDOW_UPDATE: return "WINDOW_UPDATE" + on + " " + std::to_string(number(payload));
    default: return "type " + std::to_string(type) + on;
  }
}

}  // namespace damper::tests::h2
