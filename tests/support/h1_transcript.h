// What an HTTP/1 codec reports, as text that tests can compare: one line an event, body pieces
// joined, so that it does not depend on how the bytes were cut.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "http/h1_client_codec.h"
#include "http/h1_server_codec.h"

namespace damper::http {

// Bytes in a slice of their own, as a read from a socket leaves them.
inline void append_as_slice(Buffer& to, std::string_view bytes) {
  Block* const block = Block::create(bytes.size());
  bytes.copy(block->bytes(), bytes.size());
  block->used_bytes = static_cast<std::uint32_t>(bytes.size());
  to.append_slice(BlockRef(block), 0, bytes.size());
}

class Transcript {
 public:
  void line(std::string_view text) {
    if (in_body_) text_ += '\n';
    in_body_ = false;
    text_.append(text).append("\n");
  }
  void body(Buffer& body, bool end) {
    if (!body.empty()) {
      if (!in_body_) text_ += "body ";
      in_body_ = true;
      text_ += body.to_string();
    }
    if (end) line("end");
  }
  void section(std::string what, const Fields& fields) {
    for (const Field& f : fields)
      what.append(" ").append(f.name).append("=").append(f.value).append(";");
    line(what);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  bool in_body_ = false;
};

// Answers each request as soon as it is complete, and each fault.
class RecordingServerSink : public ServerSink {
 public:
  explicit RecordingServerSink(H1ServerCodec& codec) : codec_(codec) {}

  void on_request_head(StreamId id, RequestHead&& head, bool end) override {
    std::string line = "#" + std::to_string(id) + " ";
    line.append(head.method).append(" ").append(head.scheme).append("://").append(head.authority);
    line.append(" ").append(head.path);
    if (head.protocol == Protocol::kHttp10) line += " 1.0";
    if (head.content_length) line += " length " + std::to_string(*head.content_length);
    if (head.expect_continue) line += " expects";
    if (!head.upgrade.empty()) line.append(" upgrade ").append(head.upgrade);
    transcript.section(line, head.fields);
    heads.push_back(std::move(head));
    if (end) complete(id);
  }
  void on_request_body(StreamId id, Buffer& body, bool end) override {
    transcript.body(body, end);
    if (end) answer(id);
  }
  void on_request_trailers(StreamId id, Fields&& fields) override {
    transcript.section("trailers", fields);
    answer(id);
  }
  void on_request_reset(StreamId, Reset) override { transcript.line("reset"); }
  void on_bad_request(StreamId id, int status, const Error& error) override {
    transcript.section("bad " + std::to_string(status) + " " + error.detail, {});
    ResponseHead head;
    head.status = status;
    codec_.send_head(id, head, true);
  }

  Transcript transcript;
  std::vector<RequestHead> heads;
  bool answers = true;

 private:
  void complete(StreamId id) {
    transcript.line("end");
    answer(id);
  }
  void answer(StreamId id) {
    if (!answers) return;
    ResponseHead head;
    head.status = 200;
    codec_.send_head(id, head, true);
  }

  H1ServerCodec& codec_;
};

class RecordingClientSink : public ClientSink {
 public:
  void on_interim(StreamId, ResponseHead&& head) override {
    transcript.section("interim " + std::to_string(head.status), head.fields);
  }
  void on_response_head(StreamId, ResponseHead&& head, bool end) override {
    std::string line = std::to_string(head.status);
    if (head.protocol == Protocol::kHttp10) line += " 1.0";
    if (head.content_length) line += " length " + std::to_string(*head.content_length);
    if (!head.upgrade.empty()) line.append(" upgrade ").append(head.upgrade);
    transcript.section(line, head.fields);
    if (end) transcript.line("end");
  }
  void on_response_body(StreamId, Buffer& body, bool end) override { transcript.body(body, end); }
  void on_response_trailers(StreamId, Fields&& fields) override {
    transcript.section("trailers", fields);
  }
  void on_response_reset(StreamId, Reset) override { transcript.line("reset"); }

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
