// Any bytes, cut anywhere, through both HTTP/1 codecs. Beyond memory safety it holds them to two
// promises: what they make of an input does not depend on how it was cut, and what the server codec
// has read, the client codec writes so that it reads back as the same request.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "http/h1_client_codec.h"
#include "http/h1_server_codec.h"
#include "tests/support/transcript.h"

namespace damper::http {
namespace {

// Two bytes of input: what kind of conversation, and the lengths of its pieces.
struct Settings {
  std::uint8_t kind;
  std::uint8_t pieces;
};

std::vector<std::size_t> cuts_of(std::size_t size, std::uint8_t pieces) {
  std::vector<std::size_t> cuts;
  for (std::size_t at = pieces % 16 + 1; at < size; at += (pieces / 16 + at * 7) % 13 + 1)
    cuts.push_back(at);
  return cuts;
}

H1ServerOptions server_options(std::uint8_t kind) {
  return {.accept_http_10 = (kind & 1) != 0,
          .default_host_for_http_10 = "default.test",
          .enable_trailers = (kind & 2) != 0,
          .max_head_bytes = 4096,
          .proxy_100_continue = (kind & 4) != 0};
}

struct Served {
  std::string read;
  std::string written;
  std::vector<RequestHead> heads;
};

Served serve(const H1ServerOptions& options, std::string_view bytes,
             const std::vector<std::size_t>& cuts) {
  H1ServerCodec codec(options);
  RecordingServerSink sink(codec);
  Buffer in, out;
  cut(bytes, cuts, [&](std::string_view piece) {
    append_as_slice(in, piece);
    DAMPER_CHECK(codec.receive(in, sink));
    codec.pull(out);
  });
  return {sink.transcript.text(), out.to_string(), std::move(sink.heads)};
}

void check_round_trip(const RequestHead& head) {
  if (head.method == "CONNECT") return;  // never passed on
  H1ClientCodec client({.enable_trailers = true});
  client.send_head(head, true);
  Buffer wire;
  client.pull(wire);
  const Served again =
      serve({.max_head_bytes = 8192, .max_headers = 200, .proxy_100_continue = true},
            wire.to_string(), {});
  DAMPER_CHECK(again.heads.size() == 1);
  const RequestHead& back = again.heads.front();
  DAMPER_CHECK(back.method == head.method && back.path == head.path &&
               back.authority == head.authority);
  DAMPER_CHECK(back.upgrade == head.upgrade && back.fields.size() == head.fields.size());
}

void fuzz_server(const Settings& settings, std::string_view bytes) {
  const H1ServerOptions options = server_options(settings.kind);
  const Served whole = serve(options, bytes, {});
  const Served pieces = serve(options, bytes, cuts_of(bytes.size(), settings.pieces));
  DAMPER_CHECK(whole.read == pieces.read && whole.written == pieces.written);
  for (const RequestHead& head : whole.heads) check_round_trip(head);
}

std::string answer(const Settings& settings, std::string_view bytes,
                   const std::vector<std::size_t>& cuts) {
  H1ClientCodec codec({.max_head_bytes = 4096, .enable_trailers = (settings.kind & 2) != 0});
  RecordingClientSink sink;
  RequestHead request;
  request.method = (settings.kind & 4) != 0 ? "HEAD" : "GET";
  request.path = "/";
  request.authority = "a.test";
  if ((settings.kind & 8) != 0) request.upgrade = "websocket";
  codec.send_head(request, true);
  Buffer in;
  std::string error;
  cut(bytes, cuts, [&](std::string_view piece) {
    append_as_slice(in, piece);
    const Status status = codec.receive(in, sink);
    if (!status && error.empty()) error = status.error().detail;
    in.clear();
  });
  const bool reusable = codec.reusable();
  if (const Status status = codec.on_eof(sink); !status && error.empty())
    error = status.error().detail;
  return sink.transcript.text() + error + (reusable ? " reusable" : "");
}

void fuzz_client(const Settings& settings, std::string_view bytes) {
  DAMPER_CHECK(answer(settings, bytes, {}) ==
               answer(settings, bytes, cuts_of(bytes.size(), settings.pieces)));
}

}  // namespace
}  // namespace damper::http

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const damper::http::Settings settings{.kind = data[0], .pieces = data[1]};
  const std::string_view bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  if ((settings.kind & 128) != 0) {
    damper::http::fuzz_client(settings, bytes);
  } else {
    damper::http::fuzz_server(settings, bytes);
  }
  return 0;
}
