// The byte seam: moves bytes between a socket and memory. Knows nothing of events, timers or HTTP.
// Implemented by PlainTransport, TlsTransport and, for tests, ScriptedTransport.
#pragma once
#include <cstddef>
#include <memory>
#include <string_view>

#include "base/buffer.h"
#include "base/result.h"
#include "base/time.h"

namespace damper::net {

struct TlsFacts;

struct Progress {
  enum class Next {
    kMore,       // go on at once
    kWantRead,   // nothing further until the socket is readable
    kWantWrite,  // … writable. With TLS reading may wait for that, and writing for the other.
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
  virtual void finish(int) {}         // best effort: what says that all was sent (close_notify)
  virtual void shutdown(int fd) = 0;  // best effort: finish(), and FIN
  virtual std::string_view alpn() const = 0;  // what was agreed on; empty: nothing

  // There is something to read of which the socket says nothing: decrypted bytes, or an end.
  virtual bool has_buffered() const { return false; }
  virtual const TlsFacts* tls() const { return nullptr; }    // null: plain, or before the handshake
  virtual Duration handshake_timeout() const { return {}; }  // its own; 0: somebody else waits
};

std::unique_ptr<Transport> make_plain_transport();

}  // namespace damper::net
