// A downstream connection whose client a test plays. Its streams note what they are told, and
// answer when the test says so; timeouts are moved by hand.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/h1_server_codec.h"
#include "http/h2_server_codec.h"
#include "http/server_connection.h"
#include "tests/support/h2_wire.h"
#include "tests/support/manual_scheduler.h"
#include "tests/support/sockets.h"

namespace damper::http {

class ServerBench;

struct NotingServerStream final : ServerStream {
  NotingServerStream(ServerBench& bench_, StreamId id_) : bench(bench_), id(id_) {}
  ~NotingServerStream() override;

  void on_request_head(RequestHead&& head, bool end) override;
  void on_request_body(Buffer& body, bool end) override;
  void on_request_trailers(Fields&& trailers) override;
  void on_bad_request(int status, const Error& why) override;
  void on_request_reset(Reset why) override;
  void on_connection_closed(const Error& why) override;
  void on_drained() override;

  void note(const std::string& what);

  ServerBench& bench;
  const StreamId id;
};

struct ServerSettings {
  Duration idle = std::chrono::seconds(10);
  Duration head = std::chrono::seconds(1);
  config::HttpOptions options{};
  H1ServerOptions codec{};
};

class ServerBench : public ServerConnection::Owner {
 public:
  explicit ServerBench(ServerSettings settings = {})
      : options_(settings.options),
        idle_(time, settings.idle),
        head_(time, settings.head),
        flush_(time, settings.idle),
        connection(std::make_unique<ServerConnection>(
            *this, options_,
            ServerConnection::Timeouts{.idle = idle_, .head = head_, .flush = flush_}, loop, block_,
            std::move(sockets_.ours), net::make_plain_transport(),
            std::make_unique<H1ServerCodec>(settings.codec),
            *net::Address::from_ip("10.0.0.7", 1234), 42)),
        peer(std::move(sockets_.peer)) {
    connection->begin();
  }

  std::unique_ptr<ServerStream> make_stream(ServerConnection&, StreamId id) override {
    return std::make_unique<NotingServerStream>(*this, id);
  }
  std::unique_ptr<ServerCodec> choose_codec(ServerConnection&, Protocol protocol) override {
    if (protocol != Protocol::kHttp2) return nullptr;
    return std::make_unique<H2ServerCodec>(
        std::make_shared<const H2Options>(H2Options{.http2 = options_.http2}));
  }
  void on_timeout_of(ServerConnection&, bool in_head) override {
    log.push_back(in_head ? "head timeout" : "idle timeout");
  }
  void on_closed(ServerConnection&, const Error&) override {
    log.push_back("closed");
    loop.destroy_later(std::move(connection));
  }

  // What the client says, and the log of what comes of it in one turn.
  std::vector<std::string> hear(std::string_view bytes) {
    peer.send(bytes);
    return turn();
  }
  std::vector<std::string> turn() {
    loop.run_once();
    return std::exchange(log, {});
  }
  std::vector<std::string> advance(Duration by) {
    time.advance(by);
    return turn();
  }
  void answer(StreamId id, std::string_view body = "ok") {
    send_head(id, body.size());
    send_body(id, body, true);
    connection->end_stream(id);
  }
  void send_head(StreamId id, std::optional<std::size_t> length) {
    ResponseHead head;
    head.status = 200;
    head.content_length = length;
    connection->send_head(id, head, false);
  }
  void send_body(StreamId id, std::string_view bytes, bool end) {
    Buffer body;
    body.append(bytes);
    connection->send_body(id, body, end);
  }
  bool gone() const { return connection == nullptr; }
  // HTTP/2: the frames that have come to the client.
  std::string said() { return frames_.read(peer.take()); }

  std::vector<std::string> log;  // outlives the loop, which may bury streams that write to it
  std::function<void(StreamId)> on_complete;  // called when a request is
  event::Loop loop;
  tests::ManualScheduler time;

 private:
  const config::HttpOptions options_;
  event::TimeoutQueue idle_;
  event::TimeoutQueue head_;
  event::TimeoutQueue flush_;
  net::ReadBlock block_;
  tests::SocketPair sockets_;
  tests::h2::FrameText frames_;

 public:
  std::unique_ptr<ServerConnection> connection;
  tests::Peer peer;
};

inline NotingServerStream::~NotingServerStream() { note("destroyed"); }
inline void NotingServerStream::note(const std::string& what) {
  bench.log.push_back(std::to_string(id) + " " + what);
}
inline void NotingServerStream::on_request_head(RequestHead&& head, bool end) {
  note(std::string(head.method) + (end ? " end" : ""));
  if (end && bench.on_complete) bench.on_complete(id);
}
inline void NotingServerStream::on_request_body(Buffer& body, bool end) {
  note(body.to_string() + (end ? " end" : ""));
  if (end && bench.on_complete) bench.on_complete(id);
}
inline void NotingServerStream::on_request_trailers(Fields&& trailers) {
  note("trailers " + std::string(trailers.begin()->name));
}
inline void NotingServerStream::on_bad_request(int status, const Error& why) {
  note("bad " + std::to_string(status) + " " + why.detail);
  ResponseHead head;
  head.status = status;
  bench.connection->send_head(id, head, true);
  bench.connection->end_stream(id);
}
inline void NotingServerStream::on_request_reset(Reset) { note("reset"); }
inline void NotingServerStream::on_connection_closed(const Error& why) {
  note("gone: " + why.detail);
}
inline void NotingServerStream::on_drained() { note("drained"); }

}  // namespace damper::http
