// Any frames, cut anywhere, through both HTTP/2 codecs. Beyond memory safety it holds them to three
// promises: a stream is not heard of after its end, what they make of an input does not depend on
// how it was cut, and what a codec holds back is bounded.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "http/h2_client_codec.h"
#include "http/h2_server_codec.h"
#include "tests/support/transcript.h"

namespace damper::http {
namespace {

constexpr std::string_view kSettings("\0\0\0\4\0\0\0\0\0", 9);

std::shared_ptr<const H2Options> options() {
  H2Options out;
  out.max_head_bytes = 4096;
  out.http2.allow_connect = true;
  return std::make_shared<const H2Options>(out);
}

std::vector<std::size_t> cuts_of(std::size_t size, std::uint8_t pieces) {
  std::vector<std::size_t> cuts;
  for (std::size_t at = pieces % 16 + 1; at < size; at += (pieces / 16 + at * 7) % 13 + 1)
    cuts.push_back(at);
  return cuts;
}

// Checks the order of what is said of each stream.
class Order {
 public:
  void head(StreamId id, bool end) {
    DAMPER_CHECK(!ended_.contains(id));
    ended_[id] = end;
  }
  void rest(StreamId id, bool end) {
    DAMPER_CHECK(ended_.contains(id) && !ended_[id]);
    ended_[id] = end;
  }
  void over(StreamId id) {  // may come after the end of its message
    over_.try_emplace(id, true);
  }
  bool is_over(StreamId id) const { return over_.contains(id); }

 private:
  std::map<StreamId, bool> ended_;
  std::map<StreamId, bool> over_;
};

// A body that turns out longer than its message said is refused where that is seen, and so much of
// it has been delivered as came in pieces of its own. So of a stream that was reset, or fell with
// its connection, no body is compared.
class Bodies {
 public:
  void add(StreamId id, Buffer& body) { held_[id].append(std::move(body)); }
  Buffer take(StreamId id) {
    Buffer out = std::move(held_[id]);
    held_.erase(id);
    return out;
  }
  void drop(StreamId id) { held_.erase(id); }
  std::map<StreamId, Buffer> take_all() { return std::exchange(held_, {}); }

 private:
  std::map<StreamId, Buffer> held_;
};

class OrderedServerSink final : public RecordingServerSink {
 public:
  using RecordingServerSink::RecordingServerSink;

  void on_request_head(StreamId id, RequestHead&& head, bool end) override {
    order_.head(id, end);
    RecordingServerSink::on_request_head(id, std::move(head), end);
  }
  void on_request_body(StreamId id, Buffer& body, bool end) override {
    DAMPER_CHECK(!order_.is_over(id));
    order_.rest(id, end);
    bodies_.add(id, body);
    if (!end) return;
    Buffer all = bodies_.take(id);
    RecordingServerSink::on_request_body(id, all, true);
  }
  void on_request_trailers(StreamId id, Fields&& fields) override {
    DAMPER_CHECK(!order_.is_over(id));
    order_.rest(id, true);
    Buffer all = bodies_.take(id);
    RecordingServerSink::on_request_body(id, all, false);
    RecordingServerSink::on_request_trailers(id, std::move(fields));
  }
  void on_request_reset(StreamId id, Reset why) override {
    DAMPER_CHECK(!order_.is_over(id));
    order_.over(id);
    bodies_.drop(id);
    RecordingServerSink::on_request_reset(id, why);
  }
  void finish() {
    for (auto& [id, body] : bodies_.take_all()) {
      RecordingServerSink::on_request_body(id, body, false);
    }
  }

 private:
  Order order_;
  Bodies bodies_;
};

std::string serve(std::string_view bytes, const std::vector<std::size_t>& cuts) {
  H2ServerCodec codec(options());
  OrderedServerSink sink(codec);
  Buffer in;
  append_as_slice(in, h2::kPreface);
  append_as_slice(in, kSettings);
  cut(bytes, cuts, [&](std::string_view piece) {
    if (!piece.empty()) append_as_slice(in, piece);
    DAMPER_CHECK(codec.receive(in, sink));
    DAMPER_CHECK(in.empty());
  });
  Buffer out;
  codec.pull(out);
  Buffer nothing;
  DAMPER_CHECK(codec.receive(nothing, sink));
  if (!codec.failure()) sink.finish();
  return sink.transcript.take();
}

class OrderedClientSink final : public RecordingClientSink {
 public:
  void on_response_head(StreamId id, ResponseHead&& head, bool end) override {
    order_.head(id, end);
    RecordingClientSink::on_response_head(id, std::move(head), end);
  }
  void on_response_body(StreamId id, Buffer& body, bool end) override {
    DAMPER_CHECK(!order_.is_over(id));
    order_.rest(id, end);
    bodies_.add(id, body);
    if (!end) return;
    Buffer all = bodies_.take(id);
    RecordingClientSink::on_response_body(id, all, true);
  }
  void on_response_trailers(StreamId id, Fields&& fields) override {
    DAMPER_CHECK(!order_.is_over(id));
    order_.rest(id, true);
    Buffer all = bodies_.take(id);
    RecordingClientSink::on_response_body(id, all, false);
    RecordingClientSink::on_response_trailers(id, std::move(fields));
  }
  void on_response_reset(StreamId id, Reset why) override {
    DAMPER_CHECK(!order_.is_over(id));
    order_.over(id);
    bodies_.drop(id);
    RecordingClientSink::on_response_reset(id, why);
  }
  void finish() {
    for (auto& [id, body] : bodies_.take_all()) {
      RecordingClientSink::on_response_body(id, body, false);
    }
  }

 private:
  Order order_;
  Bodies bodies_;
};

std::string ask(std::string_view bytes, const std::vector<std::size_t>& cuts) {
  H2ClientCodec codec(options());
  OrderedClientSink sink;
  Buffer in;
  append_as_slice(in, kSettings);
  DAMPER_CHECK(codec.receive(in, sink));
  for (const char* path : {"/a", "/b", "/c"}) {
    RequestHead request;
    request.method = "GET";
    request.path = path;
    request.authority = "a.test";
    if (codec.can_open()) codec.send_head(request, *path == '/');
  }
  Buffer out;
  codec.pull(out);
  cut(bytes, cuts, [&](std::string_view piece) {
    if (!piece.empty()) append_as_slice(in, piece);
    DAMPER_CHECK(codec.receive(in, sink));
    DAMPER_CHECK(in.empty());
  });
  codec.pull(out);
  DAMPER_CHECK(codec.receive(in, sink));
  if (!codec.failure()) sink.finish();
  return sink.transcript.take();
}

}  // namespace
}  // namespace damper::http

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  const auto cuts = damper::http::cuts_of(bytes.size(), data[1]);
  if ((data[0] & 128) != 0) {
    DAMPER_CHECK(damper::http::ask(bytes, {}) == damper::http::ask(bytes, cuts));
  } else {
    DAMPER_CHECK(damper::http::serve(bytes, {}) == damper::http::serve(bytes, cuts));
  }
  return 0;
}
