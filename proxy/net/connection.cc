#include "net/connection.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <utility>

#include "base/check.h"

namespace damper::net {

ReadBlock::Space ReadBlock::space() {
  constexpr std::size_t kLeast = 16 * 1024;
  if (block_ && !block_->shared()) block_->used_bytes = 0;
  if (!block_ || block_->free_bytes() < kLeast) block_ = BlockRef(Block::create(kBytes));
  return {block_, block_->used_bytes, block_->free_bytes()};
}

Connection::Connection(event::Loop& loop, ReadBlock& block, Fd fd,
                       std::unique_ptr<Transport> transport, ConnectionOwner& owner, Start start)
    : loop_(loop),
      block_(block),
      owner_(owner),
      fd_(std::move(fd)),
      transport_(std::move(transport)),
      state_(start == Start::kConnecting ? State::kConnecting : State::kHandshaking) {
  io_.emplace(loop_, fd_.get(), *this);
}

void Connection::begin() {
  if (state_ == State::kConnecting) {
    io_->want_write(true);
  } else {
    handshake();
  }
}

Connection::~Connection() { loop_.forget(*this); }

void Connection::handshake() {
  const auto progress = transport_->handshake(fd_.get());
  if (!progress) return close(progress.error());
  io_->want_read(progress->next != Progress::Next::kWantWrite);
  io_->want_write(progress->next == Progress::Next::kWantWrite);
  if (progress->next != Progress::Next::kMore) return wait_for_handshake();
  last_wait_.reset();
  state_ = State::kOpen;
  io_->want_read(paused_ == 0);
  owner_.on_connected();
  // The first request may have come along with the end of the handshake.
  if (may_read() && !closing_ && transport_->has_buffered()) read_once();
}

void Connection::wait_for_handshake() {
  const Duration patience = transport_->handshake_timeout();
  if (last_wait_ || patience == Duration::zero()) return;
  last_wait_ = loop_.timer([this] {
    close({Errc::kTimeout, Side::kDownstream, "the handshake took too long"});
  });
  last_wait_->arm(patience);
}

void Connection::on_readable() {
  switch (state_) {
    case State::kHandshaking: return handshake();
    case State::kOpen:
      if (write_wants_read_) return at_end_of_turn();
      return closing_ ? discard_input() : read_once();
    case State::kLingering: return discard_input();
    case State::kConnecting:
    case State::kClosed: return;
  }
}

void Connection::on_writable() {
  switch (state_) {
    case State::kConnecting:
      if (const int error = connect_error(fd_.get()); error != 0) {
        return close({Errc::kRefused, Side::kUpstream, std::strerror(error)});
      }
      state_ = State::kHandshaking;
      return handshake();
    case State::kHandshaking: return handshake();
    case State::kOpen: return read_wants_write_ ? read_once() : at_end_of_turn();
    case State::kLingering:
    case State::kClosed: return;
  }
}

void Connection::read_once() {
  const ReadBlock::Space space = block_.space();
  const auto progress =
      transport_->read(fd_.get(), space.block->bytes() + space.offset, space.bytes);
  if (!progress) return close(progress.error());
  if (progress->next == Progress::Next::kEof) {
    io_->want_read(false);
    if (const Status status = owner_.on_eof(in_); !status) close(status.error());
    return;
  }
  wait_to_read(progress->next);
  if (progress->bytes == 0) return;
  bytes_read_ += progress->bytes;
  space.block->used_bytes += static_cast<std::uint32_t>(progress->bytes);
  in_.append_slice(space.block, space.offset, progress->bytes);
  deliver();
  read_buffered();
}

// The socket tells of its own bytes alone. Not at once: others have their turn in between.
void Connection::read_buffered() {
  if (!may_read() || closing_ || !transport_->has_buffered()) return;
  if (!next_reading_) {
    next_reading_ = loop_.timer([this] {
      if (may_read() && !closing_) read_once();
    });
  }
  next_reading_->arm(Duration::zero());
}

void Connection::wait_to_read(Progress::Next next) {
  const bool blocked = next == Progress::Next::kWantWrite;
  if (std::exchange(read_wants_write_, blocked) == blocked) return;
  io_->want_write(blocked || !out_.empty());
}

void Connection::deliver() {
  const Status status = owner_.on_bytes(in_);
  if (closed()) return;
  if (!status) return close(status.error());
  if (closing_) in_.clear();
  if (!in_.empty()) in_.compact();
  if (in_.size() > kBacklogBytes) pause(kBacklog);
}

void Connection::deliver_later() {
  deliver_ = true;
  flush_later();
}

void Connection::discard_input() {
  const ReadBlock::Space space = block_.space();
  const auto progress =
      transport_->read(fd_.get(), space.block->bytes() + space.offset, space.bytes);
  if (!progress || progress->next == Progress::Next::kEof) {
    close({Errc::kClosed, Side::kLocal, "closed after the last answer"});
  }
}

void Connection::at_end_of_turn() {
  if (state_ == State::kHandshaking && closing_) {  // nothing has been sent, and nothing can be
    return close({Errc::kClosed, Side::kLocal, "closed within the handshake"});
  }
  if (state_ != State::kOpen) return;
  if (std::exchange(deliver_, false) && !closing_) {
    resume(kBacklog);
    deliver();
    if (state_ != State::kOpen) return;
  }
  owner_.collect(out_);
  write_out();
}

void Connection::write_out() {
  const std::uint64_t before = bytes_written_;
  if (std::exchange(write_wants_read_, false)) io_->want_read(paused_ == 0);
  while (!out_.empty()) {
    const auto progress = transport_->write(fd_.get(), out_);
    if (!progress) return on_write_failed(progress.error());
    bytes_written_ += progress->bytes;
    if (progress->next != Progress::Next::kMore) {
      write_wants_read_ = progress->next == Progress::Next::kWantRead;
      break;
    }
    if (out_.empty()) owner_.collect(out_);
  }
  io_->want_write(read_wants_write_ || (!out_.empty() && !write_wants_read_));
  if (write_wants_read_) io_->want_read(true);
  if (notify_drained_ && out_.size() <= kLowMark) {
    notify_drained_ = false;
    owner_.on_drained();
    if (closed()) return;
  }
  if (!closing_) return;
  if (out_.empty()) return end_writing();
  if (bytes_written_ != before || !last_wait_) wait_for_peer();
}

// The peer takes nothing more, but what it said before may still wait to be read: an early answer,
// for example.
void Connection::on_write_failed(const Error& why) {
  constexpr int kReads = 16;
  out_.clear();
  for (int i = 0; i < kReads && state_ == State::kOpen && paused_ == 0; ++i) {
    const std::uint64_t before = bytes_read_;
    read_once();
    if (bytes_read_ == before) break;
  }
  close(why);
}

void Connection::close_when_flushed(Duration patience, bool linger) {
  if (closing()) return;
  closing_ = true;
  patience_ = patience;
  linger_ = linger && patience > Duration::zero();
  flush_later();
}

void Connection::abort_when_flushed(Duration patience) {
  if (closing()) return;
  abortive_ = true;
  set_abortive_close(fd_.get());
  close_when_flushed(patience, false);
}

void Connection::end_writing() {
  if (!linger_) {
    if (!abortive_) transport_->finish(fd_.get());
    return close({Errc::kClosed, Side::kLocal, "closed after the last answer"});
  }
  state_ = State::kLingering;
  in_.clear();
  transport_->shutdown(fd_.get());
  io_->want_read(true);
  wait_for_peer();
}

void Connection::wait_for_peer() {
  if (patience_ == Duration::zero()) return;
  if (!last_wait_) {
    last_wait_ = loop_.timer([this] { close({Errc::kTimeout, Side::kLocal, "waited to close"}); });
  }
  last_wait_->arm(patience_);
}

void Connection::pause(Pause reason) {
  paused_ |= reason;
  if (state_ == State::kOpen) io_->want_read(write_wants_read_);
}

void Connection::resume(Pause reason) {
  paused_ &= ~static_cast<unsigned>(reason);
  if (!may_read()) return;
  io_->want_read(true);
  read_buffered();
}

void Connection::close(const Error& why) {
  if (std::exchange(state_, State::kClosed) == State::kClosed) return;
  const Error kept = why;  // `why` may live in what the owner is about to drop
  io_.reset();
  fd_ = Fd();
  last_wait_.reset();
  next_reading_.reset();
  in_.clear();
  out_.clear();
  owner_.on_closed(kept);
}

bool Connection::has_unread() const {
  char byte = 0;
  const ssize_t n = ::recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n >= 0 || (errno != EAGAIN && errno != EINTR);
}

}  // namespace damper::net
