// An application in the middle of a chain: for every request it calls another service, and answers
// with the status that it got. It knows nothing of deadlines and retries: of what it received it
// hands on a tracing id and nothing else, and it works on when its caller has left.
#pragma once
#include <string>
#include <vector>

#include "bench/demo/client.h"
#include "bench/demo/server.h"

namespace damper::demo {

struct RelayOptions {
  Address target;
  Duration timeout{};  // of its call; 0: none. Then it answers 504
  std::vector<std::string> handed_on = {"traceparent", "tracestate"};  // names of fields
};

class Relay {
 public:
  Relay(event::Loop& loop, Socket listening, const RelayOptions& options);

 private:
  void receive(Server::Exchange exchange, const Request& request);

  RelayOptions options_;
  Client client_;
  Server server_;
};

}  // namespace damper::demo
