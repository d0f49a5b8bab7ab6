#include "bench/demo/server.h"

#include <cstdio>
#include <utility>

#include "bench/demo/connection.h"

namespace damper::demo {

// A connection of a caller. It has at most one request in progress, so that its id names that
// request too.
class Server::Peer final : public Connection {
 public:
  Peer(event::Loop& loop, Socket socket, Server& server, std::uint64_t id)
      : Connection(loop, std::move(socket)), server_(server), id_(id) {}

  void answer(const Response& response) {
    waiting_ = false;
    send(to_bytes(response));
    if (closing_) {
      close();
      server_.remove(id_);
    } else if (!received().empty()) {
      on_received();
    }
  }

 private:
  void on_received() override {
    if (waiting_ || ended()) return;
    const auto request = take_request(received());
    if (!request) {
      close();
      server_.remove(id_);
    } else if (*request) {
      waiting_ = true;
      closing_ = asks_to_close((*request)->fields);
      server_.service_(id_, **request);
    }
  }
  void on_end(const Error&) override { server_.remove(id_); }

  Server& server_;
  const std::uint64_t id_;
  bool waiting_ = false;
  bool closing_ = false;  // after the answer
};

Server::Server(event::Loop& loop, Socket listening, Service service)
    : loop_(loop),
      listening_(std::move(listening)),
      io_(loop, listening_.fd(), *this),
      service_(std::move(service)) {
  io_.want_read(true);
}

Server::~Server() = default;

void Server::on_readable() {
  while (true) {
    auto accepted = accept_from(listening_);
    if (!accepted) return;
    const std::uint64_t id = next_id_++;
    peers_.emplace(id, std::make_unique<Peer>(loop_, std::move(*accepted), *this, id));
  }
}

void Server::remove(std::uint64_t id) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  loop_.destroy_later(std::move(found->second));
  peers_.erase(found);
}

bool Server::answer(Exchange exchange, const Response& response) {
  const auto found = peers_.find(exchange);
  if (found == peers_.end()) return false;
  found->second->answer(response);
  return true;
}

bool Server::reset(Exchange exchange) {
  const auto found = peers_.find(exchange);
  if (found == peers_.end()) return false;
  found->second->close(true);
  remove(exchange);
  return true;
}

Status announce(const Socket& listening, const Address& address) {
  TRY_ASSIGN(const std::uint16_t port, local_port(listening));
  std::printf("listening on %s:%d\n", address.host.c_str(), port);
  std::fflush(stdout);
  return Ok{};
}

}  // namespace damper::demo
