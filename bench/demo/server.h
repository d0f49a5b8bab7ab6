// An HTTP server on the loop, for the services of the demo. A request may be answered at any later
// time; meanwhile its caller may leave, which the service learns when it answers.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "bench/demo/http1.h"
#include "bench/demo/socket.h"
#include "event/io_handle.h"
#include "event/loop.h"

namespace damper::demo {

class Server final : private event::IoTarget {
 public:
  using Exchange = std::uint64_t;  // a request that waits for its answer
  using Service = std::function<void(Exchange, const Request&)>;

  Server(event::Loop& loop, Socket listening, Service service);
  ~Server() override;

  // False if the caller has left.
  bool answer(Exchange exchange, const Response& response);
  // Breaks the caller's connection instead of an answer. False if the caller has left.
  bool reset(Exchange exchange);

 private:
  class Peer;
  void on_readable() override;
  void on_writable() override {}
  void remove(std::uint64_t id);

  event::Loop& loop_;
  Socket listening_;
  event::IoHandle io_;
  Service service_;
  std::uint64_t next_id_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Peer>> peers_;
};

// Prints "listening on 127.0.0.1:PORT" for whoever started the process.
Status announce(const Socket& listening, const Address& address);

}  // namespace damper::demo
