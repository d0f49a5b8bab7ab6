// One side of a TCP connection on the loop. Who derives from it is told what came and, once, that
// it ended; whoever owns it then hands it to Loop::destroy_later().
#pragma once
#include <string>
#include <string_view>

#include "bench/demo/socket.h"
#include "event/io_handle.h"
#include "event/loop.h"

namespace damper::demo {

class Connection : public event::Disposable, private event::IoTarget {
 public:
  Connection(event::Loop& loop, Socket socket);

  // What the peer does not take at once waits here. Nothing after the end.
  void send(std::string_view bytes);
  // Ends it: with an RST instead of a FIN if `reset`. on_end() is not called.
  void close(bool reset = false);

 protected:
  bool ended() const { return ended_; }
  std::string& received() { return received_; }  // and not yet taken

  virtual void on_received() = 0;
  virtual void on_end(const Error& why) = 0;  // by the peer, or by an error

 private:
  void on_readable() override;
  void on_writable() override;
  void end(const Error& why);

  Socket socket_;
  event::IoHandle io_;
  std::string received_;
  std::string unsent_;
  bool ended_ = false;
};

}  // namespace damper::demo
