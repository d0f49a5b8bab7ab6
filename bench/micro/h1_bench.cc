// CPU of the HTTP/1 codecs for one exchange, without any I/O: ns a request.
#include <benchmark/benchmark.h>
#include <string_view>

#include "http/h1_client_codec.h"
#include "http/h1_server_codec.h"

namespace damper::http {
namespace {

constexpr std::string_view kSmallGet =
    "GET /api/v1/items/42?fields=name HTTP/1.1\r\nHost: shop.example:8080\r\nUser-Agent: "
    "bench/1.0\r\n"
    "Accept: */*\r\nX-Request-Id: 5f1f3c1e-6d5b-4f6e-9c3a-0c6d3f0a1b2c\r\n\r\n";

constexpr std::string_view kBrowserGet =
    "GET /catalogue/shoes/running?page=3&sort=price HTTP/1.1\r\nHost: shop.example\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Firefox/115.0\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\nAccept-Language: "
    "en-GB,en;q=0.5\r\n"
    "Accept-Encoding: gzip, deflate, br\r\nConnection: keep-alive\r\nCookie: "
    "session=0123456789abcdef\r\n"
    "Cache-Control: max-age=0\r\n\r\n";

constexpr std::string_view kResponse =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Tue, 15 Nov 1994 08:12:31 GMT\r\n"
    "Content-Length: 13\r\n\r\n{\"ok\": true}\n";

// Keeps the head of a request, or the whole of a response.
class Keeper : public ServerSink, public ClientSink {
 public:
  void on_request_head(StreamId id, RequestHead&& head, bool) override {
    stream = id;
    request = std::move(head);
  }
  void on_request_body(StreamId, Buffer&, bool) override {}
  void on_request_trailers(StreamId, Fields&&) override {}
  void on_request_reset(StreamId, Reset) override {}
  void on_bad_request(StreamId, int, const Error&) override {}
  void on_interim(StreamId, ResponseHead&&) override {}
  void on_response_head(StreamId, ResponseHead&& head, bool) override {
    response = std::move(head);
  }
  void on_response_body(StreamId, Buffer& bytes, bool) override { body.append(std::move(bytes)); }
  void on_response_trailers(StreamId, Fields&&) override {}
  void on_response_reset(StreamId, Reset) override {}

  StreamId stream = 0;
  RequestHead request;
  ResponseHead response;
  Buffer body;
};

// A block with the message in it, as the worker's read block holds it.
BlockRef block_of(std::string_view bytes) {
  Block* const block = Block::create(16 * 1024);
  bytes.copy(block->bytes(), bytes.size());
  block->used_bytes = static_cast<std::uint32_t>(bytes.size());
  return BlockRef(block);
}

// A request from a client to an upstream, and the response back.
void exchange(benchmark::State& state, std::string_view request, std::string_view response) {
  H1ServerCodec server({});
  H1ClientCodec client;
  Keeper keeper;
  const BlockRef request_block = block_of(request);
  const BlockRef response_block = block_of(response);
  for (auto _ : state) {
    Buffer in, to_upstream, from_upstream, out;
    in.append_slice(request_block, 0, request.size());
    (void)server.receive(in, keeper);
    client.send_head(keeper.request, true);
    client.pull(to_upstream);
    from_upstream.append_slice(response_block, 0, response.size());
    (void)client.receive(from_upstream, keeper);
    server.send_head(keeper.stream, keeper.response, false);
    server.send_body(keeper.stream, keeper.body, true);
    server.pull(out);
    benchmark::DoNotOptimize(out.size() + to_upstream.size());
  }
}

void read_request(benchmark::State& state, std::string_view request) {
  Keeper keeper;
  const BlockRef block = block_of(request);
  H1ServerCodec server({});
  ResponseHead no_content;
  no_content.status = 204;
  for (auto _ : state) {
    Buffer in, out;
    in.append_slice(block, 0, request.size());
    (void)server.receive(in, keeper);
    server.send_head(keeper.stream, no_content, true);
    server.pull(out);
    benchmark::DoNotOptimize(out.size());
  }
}

BENCHMARK_CAPTURE(read_request, small_get_and_204, kSmallGet);
BENCHMARK_CAPTURE(read_request, browser_get_and_204, kBrowserGet);
BENCHMARK_CAPTURE(exchange, small_get, kSmallGet, kResponse);
BENCHMARK_CAPTURE(exchange, browser_get, kBrowserGet, kResponse);

}  // namespace
}  // namespace damper::http

BENCHMARK_MAIN();
