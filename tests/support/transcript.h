// What a codec reports, as text that tests can compare: one line an event, body pieces joined, so
// that it does not depend on how the bytes were cut.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/codec.h"

namespace damper::http {

// Bytes in a slice of their own, as a read from a socket leaves them.
inline void append_as_slice(Buffer& to, std::string_view bytes) {
  Block* const block = Block::create(bytes.size());
  bytes.copy(block->bytes(), bytes.size());
  block->used_bytes = static_cast<std::uint32_t>(bytes.size());
  to.append_slice(BlockRef(block), 0, bytes.size());
}

inline std::string text_of(const Fields& fields) {
  std::string out;
  for (const Field& f : fields) out.append(" ").append(f.name).append("=").append(f.value) += ';';
  return out;
}

// `PUT http://a.test /path length 5 x-a=b;`
inline std::string text_of(const RequestHead& head) {
  std::string out;
  out.append(head.method).append(" ").append(head.scheme).append("://").append(head.authority);
  out.append(" ").append(head.path);
  if (head.protocol == Protocol::kHttp10) out += " 1.0";
  if (head.content_length) out += " length " + std::to_string(*head.content_length);
  if (head.expect_continue) out += " expects";
  if (!head.upgrade.empty()) out.append(" upgrade ").append(head.upgrade);
  return out + text_of(head.fields);
}

inline std::string text_of(const ResponseHead& head) {
  std::string out = std::to_string(head.status);
  if (head.protocol == Protocol::kHttp10) out += " 1.0";
  if (head.content_length) out += " length " + std::to_string(*head.content_length);
  if (!head.upgrade.empty()) out.append(" upgrade ").append(head.upgrade);
  return out + text_of(head.fields);
}

inline std::string_view text_of(Reset why) {
  switch (why) {
    case Reset::kCancel: return "cancel";
    case Reset::kRefused: return "refused";
    case Reset::kGoAway: return "goaway";
    case Reset::kProtocol: return "protocol";
    case Reset::kInternal: return "internal";
    case Reset::kNoError: return "no error";
  }
  return "";
}

// Events of the first stream stand as they are, those of the others behind their id.
class Transcript {
 public:
  void line(StreamId id, std::string_view text) {
    end_body();
    text_ += mark(id);
    text_.append(text).append("\n");
  }
  void body(StreamId id, Buffer& body, bool end) {
    if (!body.empty()) {
      if (body_of_ != id) {
        end_body();
        text_ += mark(id) + "body ";
      }
      body_of_ = id;
      text_ += body.to_string();
    }
    if (end) line(id, "end");
  }
  const std::string& text() const { return text_; }
  std::string take() {
    end_body();
    return std::exchange(text_, {});
  }

 private:
  static std::string mark(StreamId id) { return id == 1 ? "" : "#" + std::to_string(id) + " "; }
  void end_body() {
    if (std::exchange(body_of_, kNone) != kNone) text_ += '\n';
  }

  static constexpr StreamId kNone = -1;
  std::string text_;
  StreamId body_of_ = kNone;  // the line that is not ended yet
};

// Answers each request as soon as it is complete, and each fault.
class RecordingServerSink : public ServerSink {
 public:
  explicit RecordingServerSink(ServerCodec& codec) : codec_(codec) {}

  void on_request_head(StreamId id, RequestHead&& head, bool end) override {
    transcript.line(id, text_of(head));
    heads.push_back(std::move(head));
    if (end) complete(id);
  }
  void on_request_body(StreamId id, Buffer& body, bool end) override {
    transcript.body(id, body, end);
    if (end) answer(id);
  }
  void on_request_trailers(StreamId id, Fields&& fields) override {
    transcript.line(id, "trailers" + text_of(fields));
    answer(id);
  }
  void on_request_reset(StreamId id, Reset why) override {
    transcript.line(id, "reset: " + std::string(text_of(why)));
  }
  void on_bad_request(StreamId id, int status, const Error& error) override {
    transcript.line(id, "bad " + std::to_string(status) + " " + error.detail);
    ResponseHead head;
    head.status = status;
    codec_.send_head(id, head, true);
  }

  Transcript transcript;
  std::vector<RequestHead> heads;
  bool answers = true;

 private:
  void complete(StreamId id) {
    transcript.line(id, "end");
    answer(id);
  }
  void answer(StreamId id) {
    if (!answers) return;
    ResponseHead head;
    head.status = 200;
    codec_.send_head(id, head, true);
  }

  ServerCodec& codec_;
};

class RecordingClientSink : public ClientSink {
 public:
  void on_interim(StreamId id, ResponseHead&& head) override {
    transcript.line(id, "interim " + text_of(head));
  }
  void on_response_head(StreamId id, ResponseHead&& head, bool end) override {
    transcript.line(id, text_of(head));
    if (end) transcript.line(id, "end");
  }
  void on_response_body(StreamId id, Buffer& body, bool end) override {
    transcript.body(id, body, end);
  }
  void on_response_trailers(StreamId id, Fields&& fields) override {
    transcript.line(id, "trailers" + text_of(fields));
  }
  void on_response_reset(StreamId id, Reset why) override {
    transcript.line(id, "reset: " + std::string(text_of(why)));
  }

  Transcript transcript;
};

// Where to cut a conversation: whole, byte by byte, and in two at every position (at most `splits`
// of them).
inline std::vector<std::vector<std::size_t>> all_cuts(std::size_t size, std::size_t splits = 400) {
  std::vector<std::vector<std::size_t>> out = {{}, {}};
  for (std::size_t i = 1; i < size; ++i) out[1].push_back(i);
  const std::size_t step = size / splits + 1;
  for (std::size_t i = 1; i < size; i += step) out.push_back({i});
  return out;
}

// Calls `deliver` with each piece.
template <class F>
void cut(std::string_view bytes, const std::vector<std::size_t>& at, F deliver) {
  std::size_t from = 0;
  for (const std::size_t to : at) {
    deliver(bytes.substr(from, to - from));
    from = to;
  }
  deliver(bytes.substr(from));
}

}  // namespace damper::http
