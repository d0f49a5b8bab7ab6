// One socket with its buffers: reads into the worker's block, writes at the end of the turn, and
// has one way to die.
#pragma once
#include <memory>
#include <optional>

#include "base/buffer.h"
#include "base/result.h"
#include "event/io_handle.h"
#include "event/loop.h"
#include "net/socket.h"
#include "net/transport.h"

namespace damper::net {

// The memory that all connections of a worker read into. What a connection keeps it shares by
// reference; the block is used again as soon as nobody keeps any of it.
class ReadBlock {
 public:
  static constexpr std::size_t kBytes = 256 * 1024;

  struct Space {
    BlockRef block;
    std::size_t offset;
    std::size_t bytes;
  };
  Space space();

 private:
  BlockRef block_;
};

class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  virtual void on_connected() {}  // the connect and the handshake have ended well
  // `in` holds all bytes not yet taken. An Error closes the connection.
  virtual Status on_bytes(Buffer& in) = 0;
  virtual Status on_eof(Buffer& in) = 0;  // the peer ended its side
  // Moves what is to be written now; asked again when that has been, until there is nothing.
  virtual void collect(Buffer& out) = 0;
  virtual void on_drained() = 0;  // asked for by notify_when_drained()
  virtual void on_closed(
      const Error& why) = 0;  // exactly once; the owner then hands itself to destroy_later()
};

class Connection final : public event::IoTarget, public event::EndOfTurn {
 public:
  // notify_when_drained() means: not more than this is left.
  static constexpr std::size_t kLowMark = 64 * 1024;

  enum class Start { kConnecting, kAccepted };
  // Why reading stands still. Reading goes on when no reason is left.
  enum Pause : unsigned { kBackPressure = 1, kBacklog = 2 };

  Connection(event::Loop& loop, ReadBlock& block, Fd fd, std::unique_ptr<Transport> transport,
             ConnectionOwner& owner, Start start);
  ~Connection() override;
  void begin();  // the owner is ready to be called

  // Writes what the owner has, once this turn's events have been handled.
  void flush_later() { loop_.at_end_of_turn(*this); }
  // The owner can take bytes again that it left in `in`: on_bytes() follows at the end of the turn.
  void deliver_later();
  void notify_when_drained() { notify_drained_ = true; }

  void pause(Pause reason);
  void resume(Pause reason);

  // Closes once everything is written; from now on the peer is not listened to. With `linger` it
  // may go on sending, so that it reads our last answer instead of a reset. A peer that takes
  // nothing, or does not end its side, is waited for as long as `patience`; zero: for what is
  // unsent without end, but no lingering (Envoy's delayed_close_timeout).
  void close_when_flushed(Duration patience, bool linger);
  void abort_when_flushed(Duration patience);  // with RST: the peer must see that something is
                                               // missing
  void close(const Error& why);

  bool closed() const { return state_ == State::kClosed; }
  bool closing() const { return closing_ || closed(); }
  std::size_t unsent_bytes() const { return out_.size(); }
  bool has_input() const { return !in_.empty(); }
  std::string_view alpn() const { return transport_->alpn(); }
  const Transport& transport() const { return *transport_; }
  // By a look at the socket: is there anything that has not been delivered, bytes, an end or an
  // error?
  bool has_unread() const;
  int fd() const { return fd_.get(); }
  std::uint64_t bytes_read() const { return bytes_read_; }
  std::uint64_t bytes_written() const { return bytes_written_; }
  event::Loop& loop() { return loop_; }

  void on_readable() override;
  void on_writable() override;
  void at_end_of_turn() override;

 private:
  enum class State { kConnecting, kHandshaking, kOpen, kLingering, kClosed };

  void handshake();
  void wait_for_handshake();
  void read_once();
  void read_buffered();
  void wait_to_read(Progress::Next next);
  bool may_read() const { return state_ == State::kOpen && paused_ == 0; }
  void deliver();
  void discard_input();
  void write_out();
  void on_write_failed(const Error& why);
  void end_writing();
  void wait_for_peer();

  static constexpr std::size_t kBacklogBytes = 128 * 1024;

  event::Loop& loop_;
  ReadBlock& block_;
  ConnectionOwner& owner_;
  Fd fd_;
  std::unique_ptr<Transport> transport_;
  std::optional<event::IoHandle> io_;
  std::unique_ptr<event::Timer> last_wait_;     // for the handshake, then for the end
  std::unique_ptr<event::Timer> next_reading_;  // of what the transport has buffered
  Buffer in_;
  Buffer out_;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t bytes_written_ = 0;
  Duration patience_{};
  unsigned paused_ = 0;
  State state_;
  bool deliver_ = false;
  bool notify_drained_ = false;
  bool closing_ = false;
  bool linger_ = false;
  bool abortive_ = false;
  bool read_wants_write_ = false;  // TLS: to go on reading something must be written first,
  bool write_wants_read_ = false;  //   and the other way round
};

}  // namespace damper::net
