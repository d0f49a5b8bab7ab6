#include "bench/demo/client.h"

#include <algorithm>
#include <utility>

#include "bench/demo/connection.h"

namespace damper::demo {

class Client::Peer final : public Connection {
 public:
  Peer(event::Loop& loop, Socket socket, Client& client)
      : Connection(loop, std::move(socket)), client_(client), patience_(loop.timer([this] {
          fail({Errc::kTimeout, Side::kLocal, "patience ended"});
        })) {}

  void exchange(const Request& request, Duration patience, Done done) {
    done_ = std::move(done);
    if (patience > Duration::zero()) patience_->arm(patience);
    send(to_bytes(request, client_.target_.host));
  }

 private:
  void on_received() override {
    const auto response = take_response(received());
    if (!response || !done_) {  // not HTTP, or an answer to nothing
      fail({Errc::kProtocol, Side::kLocal, "not a response"});
    } else if (*response) {
      finish(**response);
    }
  }
  void on_end(const Error& why) override { fail(why); }

  void finish(const Response& response) {
    patience_->cancel();
    const Done done = std::exchange(done_, nullptr);
    if (asks_to_close(response.fields)) {
      close();
      client_.remove(*this);
    } else {
      client_.release(*this);
    }
    done(response);
  }

  void fail(const Error& why) {
    close();
    patience_->cancel();
    const Done done = std::exchange(done_, nullptr);
    client_.remove(*this);
    if (done) done(why);
  }

  Client& client_;
  std::unique_ptr<event::Timer> patience_;
  Done done_;  // empty: idle
};

Client::Client(event::Loop& loop, Address target) : loop_(loop), target_(std::move(target)) {}
Client::~Client() = default;

void Client::send(const Request& request, Duration patience, Done done) {
  Peer* peer = nullptr;
  if (idle_.empty()) {
    peer = connect();
  } else {
    peer = idle_.back();
    idle_.pop_back();
  }
  if (peer) {
    peer->exchange(request, patience, std::move(done));
  } else {
    loop_.post([done = std::move(done)] {
      done(Error{Errc::kRefused, Side::kLocal, "no connection"});
    });
  }
}

Client::Peer* Client::connect() {
  auto socket = connect_to(target_);
  if (!socket) return nullptr;
  auto peer = std::make_unique<Peer>(loop_, std::move(*socket), *this);
  Peer* const out = peer.get();
  peers_.emplace(out, std::move(peer));
  return out;
}

void Client::release(Peer& peer) { idle_.push_back(&peer); }

void Client::remove(Peer& peer) {
  std::erase(idle_, &peer);
  const auto found = peers_.find(&peer);
  if (found == peers_.end()) return;
  loop_.destroy_later(std::move(found->second));
  peers_.erase(found);
}

}  // namespace damper::demo
