// An upstream connection whose server a test plays. Its stream notes what it is told; timeouts are
// moved by hand.
#pragma once
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/client_connection.h"
#include "http/h1_client_codec.h"
#include "tests/support/h2_wire.h"
#include "tests/support/heads.h"
#include "tests/support/manual_scheduler.h"
#include "tests/support/sockets.h"

namespace damper::http {

struct NotingClientStream final : ClientStream {
  explicit NotingClientStream(std::vector<std::string>& log_) : log(log_) {}
  void on_interim(ResponseHead&& head) override { note("interim", head.status, false); }
  void on_response_head(ResponseHead&& head, bool end) override {
    note("head", head.status, end);
    if (head_hook) head_hook();
  }
  void on_response_body(Buffer& body, bool end) override {
    log.push_back(body.to_string() + (end ? " end" : ""));
    if (body_hook) body_hook();
  }
  void on_response_trailers(Fields&& trailers) override {
    log.push_back("trailers " + std::string(trailers.begin()->name));
  }
  void on_stream_failed(const StreamFailure& f) override {
    log.push_back("failed: " + f.detail);
    failure = f;
  }
  void on_drained() override { log.push_back("drained"); }

  void note(const char* what, int status, bool end) {
    log.push_back(std::string(what) + " " + std::to_string(status) + (end ? " end" : ""));
  }

  std::vector<std::string>& log;
  std::function<void()> head_hook;
  std::function<void()> body_hook;
  std::optional<StreamFailure> failure;
};

class ClientBench : public ClientConnection::Owner {
 public:
  explicit ClientBench(H1ClientOptions options = {})
      : ClientBench(std::make_unique<H1ClientCodec>(options)) {}
  explicit ClientBench(std::unique_ptr<ClientCodec> codec)
      : drain_(time, std::chrono::seconds(1)),
        connection(std::make_unique<ClientConnection>(*this, loop, block_, std::move(sockets_.ours),
                                                      net::make_plain_transport(), std::move(codec),
                                                      drain_, 7)),
        peer(std::move(sockets_.peer)) {
    connection->begin();
    EXPECT_FALSE(connection->can_open());
    EXPECT_EQ(turn(), (std::vector<std::string>{"connected"}));
  }

  void on_connected(ClientConnection&) override { log.push_back("connected"); }
  void on_available(ClientConnection&) override { log.push_back("available"); }
  void on_retired(ClientConnection&) override { log.push_back("retired"); }
  void on_idle_timeout(ClientConnection& c) override {
    log.push_back("timeout");
    c.close({Errc::kTimeout, Side::kLocal, "idle"});
  }
  void on_closed(ClientConnection& c, const Error& why) override {
    log.push_back("closed: " + why.detail);
    lost_race = c.lost_race();
    loop.destroy_later(std::move(connection));
  }

  std::vector<std::string> hear(std::string_view bytes) {
    peer.send(bytes);
    return turn();
  }
  std::vector<std::string> turn() {
    loop.run_once();
    return std::exchange(log, {});
  }
  // A request without a body, sent.
  StreamId get(std::string_view method = "GET") {
    const StreamId id = connection->open(stream, tests::request("x", "/", {}, method), true);
    loop.run_once();
    return id;
  }
  StreamId post(std::size_t length) {
    auto head = tests::request("x", "/", {}, "POST");
    head.content_length = length;
    return connection->open(stream, head, false);
  }
  void send_body(StreamId id, std::string_view bytes, bool end) {
    Buffer body;
    body.append(bytes);
    connection->send_body(id, body, end);
  }
  bool gone() const { return connection == nullptr; }
  // HTTP/2: the frames that have come to the upstream.
  std::string said() { return frames_.read(peer.take()); }

  std::vector<std::string> log;
  NotingClientStream stream{log};
  bool lost_race = false;
  event::Loop loop;
  tests::ManualScheduler time;

 private:
  event::TimeoutQueue drain_;
  net::ReadBlock block_;
  tests::SocketPair sockets_;
  tests::h2::FrameText frames_;

 public:
  std::unique_ptr<ClientConnection> connection;
  tests::Peer peer;
};

}  // namespace damper::http
