// Two connected sockets for the tests of the demo services.
#pragma once
#include <array>
#include <sys/socket.h>

#include "base/check.h"
#include "bench/demo/socket.h"

namespace damper::demo {

inline std::array<Socket, 2> socket_pair() {
  int fds[2];
  DAMPER_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
  return {Socket(fds[0]), Socket(fds[1])};
}

}  // namespace damper::demo
