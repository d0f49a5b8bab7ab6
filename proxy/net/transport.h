// The byte seam: moves bytes between a socket and memory. Knows nothing of events, timers or HTTP.
// Implemented by PlainTransport and, for tests, ScriptedTransport; TLS comes behind the same seam.
#pragma once
#include <cstddef>
#include <memory>
#include <string_view>

#include "base/buffer.h"
#include "base/result.h"

namespace damper::net {

struct Progress {
  enum class Next {
    kMore,       // go on at once
    kWantRead,   // nothing further until the socket is readable
    kWantWrite,  // … writable
    kEof,        // the peer ended its side (read only)
  };
  std::size_t bytes = 0;
  Next next = Next::kMore;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual Result<Progress> handshake(int fd) = 0;  // kMore: done
  virtual Result<Progress> read(int fd, char* into, std::size_t at_most) = 0;
  virtual Result<Progress> write(int fd, Buffer& from) = 0;  // drains what it sent
  virtual void shutdown(int fd) = 0;  // best effort: FIN, or close_notify and FIN
  virtual std::string_view alpn() const = 0;
};

std::unique_ptr<Transport> make_plain_transport();

}  // namespace damper::net
