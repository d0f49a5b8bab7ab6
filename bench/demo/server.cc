#include "bench/demo/server.h"

#include <cstdio>
#include <thread>
#include <utility>

namespace damper::demo {

void serve_connection(Connection connection, const Answer& answer) {
  while (!connection.closing()) {
    const auto request = connection.read_request();
    if (!request || !connection.write(answer(*request))) return;
  }
}

Error serve(const Address& address, const Answer& answer) {
  auto listening = listen_on(address);
  if (!listening) return listening.error();
  const auto port = local_port(*listening);
  if (!port) return port.error();
  std::printf("listening on %s:%d\n", address.host.c_str(), *port);
  std::fflush(stdout);

  while (true) {
    auto accepted = accept_from(*listening);
    if (!accepted) return accepted.error();
    // Detached: the thread ends with its connection, or with the process, which is how a demo
    // service stops.
    std::thread([&answer, connection = Connection(std::move(*accepted))]() mutable {
      serve_connection(std::move(connection), answer);
    }).detach();
  }
}

}  // namespace damper::demo
