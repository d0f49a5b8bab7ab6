// An HTTP client on the loop with keep-alive. Never sends a request twice, so that whatever a
// service receives beyond what was sent here was a proxy's doing; and hangs up when its patience
// ends.
#pragma once
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "bench/demo/http1.h"
#include "bench/demo/socket.h"
#include "event/loop.h"

namespace damper::demo {

class Client {
 public:
  using Done = std::function<void(const Result<Response>&)>;

  Client(event::Loop& loop, Address target);
  ~Client();

  // `done` is called once, later: with the answer, or with kTimeout after `patience` (0: no
  // limit), or with what broke the connection.
  void send(const Request& request, Duration patience, Done done);

 private:
  class Peer;
  Peer* connect();
  void release(Peer& peer);  // idle from now on
  void remove(Peer& peer);

  event::Loop& loop_;
  Address target_;
  std::unordered_map<Peer*, std::unique_ptr<Peer>> peers_;
  std::vector<Peer*> idle_;
};

}  // namespace damper::demo
