#include "http/client_connection.h"

#include <algorithm>
#include <utility>

namespace damper::http {

ClientConnection::ClientConnection(Owner& owner, event::Loop& loop, net::ReadBlock& block,
                                   net::Fd fd, std::unique_ptr<net::Transport> transport,
                                   std::unique_ptr<ClientCodec> codec,
                                   event::TimeoutQueue& drain_timeout, std::uint64_t id)
    : owner_(owner),
      codec_(std::move(codec)),
      drain_timeout_(drain_timeout),
      id_(id),
      multiplexed_(codec_->multiplexes()),
      connection_(loop, block, std::move(fd), std::move(transport), *this,
                  net::Connection::Start::kConnecting) {}

const std::string& ClientConnection::local_text() {
  if (local_text_.empty()) local_text_ = net::Address::local_of(connection_.fd()).to_string();
  return local_text_;
}

void ClientConnection::on_connected() {
  connected_ = true;
  owner_.on_connected(*this);
  if (multiplexed_) connection_.flush_later();
}

void ClientConnection::set_codec(std::unique_ptr<ClientCodec> codec) {
  codec_ = std::move(codec);
  multiplexed_ = codec_->multiplexes();
}

void ClientConnection::keep_alive(const config::Http2Options& options) {
  keep_alive_ = KeepAlive::make(connection_, options, id_, [this] { codec_->ping(); });
}

void ClientConnection::collect(Buffer& out) {
  codec_->pull(out);
  if (!multiplexed_ || connection_.closing()) return;
  if (codec_->has_reports()) connection_.deliver_later();
  if (const Error* broken = codec_->failure()) {
    constexpr std::chrono::seconds kPatience(1);
    connection_.close_when_flushed(kPatience, false);
    fail_streams(*broken);
  }
}

StreamId ClientConnection::open(ClientStream& stream, const RequestHead& head, bool end) {
  leave();
  const StreamId id = codec_->send_head(head, end);
  streams_.push({.id = id,
                 .stream = &stream,
                 .read_before = connection_.bytes_read(),
                 .written_before = connection_.bytes_written(),
                 .reused = requests_ > 0});
  ++requests_;
  if (multiplexed_) could_open_ = codec_->can_open();
  connection_.flush_later();
  return id;
}

void ClientConnection::send_body(StreamId id, Buffer& body, bool end) {
  codec_->send_body(id, body, end);
  connection_.flush_later();
}

void ClientConnection::send_trailers(StreamId id, const Fields& trailers) {
  codec_->send_trailers(id, trailers);
  connection_.flush_later();
}

void ClientConnection::pause_body(StreamId id) {
  if (!multiplexed_) return connection_.pause(net::Connection::kBackPressure);
  if (Entry* entry = streams_.find(id)) entry->paused = true;
}

void ClientConnection::resume_body(StreamId id) {
  if (!multiplexed_) return connection_.resume(net::Connection::kBackPressure);
  if (body_resumed(streams_, *codec_, id)) connection_.flush_later();
}

void ClientConnection::notify_when_drained(StreamId id) {
  if (Entry* entry = streams_.find(id)) entry->wants_drained = true;
  connection_.notify_when_drained();
}

std::size_t ClientConnection::unsent_bytes(StreamId id) const {
  return connection_.unsent_bytes() + codec_->unsent_bytes(id);
}

bool ClientConnection::on_wire(StreamId id) const {
  const Entry* entry = streams_.find(id);
  return entry && connection_.bytes_written() > entry->written_before && codec_->on_wire(id);
}

void ClientConnection::reset(StreamId id) {
  if (!remove(id)) return;
  if (!multiplexed_) connection_.resume(net::Connection::kBackPressure);
  codec_->reset(id, Reset::kCancel);
  if (!codec_->reusable() && streams_.empty()) {
    connection_.close({Errc::kClosed, Side::kLocal, "a request was cancelled"});
    return;
  }
  if (multiplexed_) return connection_.deliver_later();  // its place is free
  connection_.flush_later();
}

void ClientConnection::abandon(StreamId id) {
  if (multiplexed_) return reset(id);
  Entry* entry = streams_.find(id);
  if (!entry) return;
  entry->stream = nullptr;
  drained_bytes_ = 0;
  drain_timeout_.restart(*this);
  connection_.resume(net::Connection::kBackPressure);
}

Status ClientConnection::on_bytes(Buffer& in) {
  // Nobody has asked: an answer to nothing (408 of a server that tired of waiting) must never meet
  // the next request.
  if (streams_.empty() && !multiplexed_) {
    return Error{Errc::kProtocol, Side::kUpstream, "bytes without a request"};
  }
  TRY(codec_->receive(in, *this));
  if (multiplexed_) connection_.flush_later();  // SETTINGS, PING and windows want their answers
  if (drained_bytes_ > kDrainBytes) {
    return Error{Errc::kLimit, Side::kLocal, "the rest of an abandoned response is too long"};
  }
  end_turn_of_streams();
  return Ok{};
}

Status ClientConnection::on_eof(Buffer&) {
  if (streams_.empty()) return Error{Errc::kClosed, Side::kUpstream, "closed by the upstream"};
  TRY(codec_->on_eof(*this));
  end_turn_of_streams();
  return Error{Errc::kClosed, Side::kUpstream, "closed by the upstream"};
}

// After the codec has returned: a stream that ended has freed its place.
void ClientConnection::end_turn_of_streams() {
  if (connection_.closing()) return;
  const bool freed = std::exchange(stream_ended_, false);
  if (!freed && !multiplexed_) return;
  if (!codec_->reusable()) {
    if (streams_.empty()) {
      connection_.close({Errc::kClosed, Side::kLocal, "cannot be used again"});
    } else if (multiplexed_ && !std::exchange(retired_, true)) {
      owner_.on_retired(*this);
    }
    return;
  }
  const bool raised = codec_->can_open() && !could_open_;
  could_open_ = codec_->can_open();
  if (could_open_ && (freed || raised)) owner_.on_available(*this);
}

void ClientConnection::on_drained() {
  const bool others_wait = tell_drained(
      streams_, net::Connection::kLowMark,
      [this](StreamId id) { return multiplexed_ ? codec_->unsent_bytes(id) : 0; },
      [this] { return connection_.closed(); });
  if (others_wait) connection_.notify_when_drained();
}

void ClientConnection::on_closed(const Error& why) {
  leave();
  keep_alive_.reset();
  fail_streams(why);
  const Error* broken = codec_->failure();  // its GOAWAY went out before the connection closed
  owner_.on_closed(*this, broken ? *broken : why);
}

void ClientConnection::fail_streams(const Error& why) {
  while (!streams_.empty()) {
    const Entry last = streams_.pop();
    const StreamFailure failure = failure_of(last, why);
    lost_race_ = lost_race_ || failure.reused_and_silent;
    if (last.stream) last.stream->on_stream_failed(failure);
  }
}

StreamFailure ClientConnection::failure_of(const Entry& entry, const Error& why) const {
  const bool silent = connection_.bytes_read() == entry.read_before;
  return {.code = why.code,
          .detail = why.detail,
          .request_on_wire =
              connection_.bytes_written() > entry.written_before && codec_->on_wire(entry.id),
          .reused_and_silent =
              entry.reused && silent && (why.code == Errc::kReset || why.code == Errc::kClosed)};
}

// Forgets the stream; null if it was abandoned or is not there.
ClientStream* ClientConnection::remove(StreamId id) {
  Entry* entry = streams_.find(id);
  if (!entry) return nullptr;
  ClientStream* stream = entry->stream;
  streams_.erase(entry);
  stream_ended_ = true;
  return stream;
}

void ClientConnection::on_interim(StreamId id, ResponseHead&& head) {
  if (Entry* entry = streams_.find(id); entry && entry->stream)
    entry->stream->on_interim(std::move(head));
}

void ClientConnection::on_response_head(StreamId id, ResponseHead&& head, bool end) {
  Entry* entry = streams_.find(id);
  if (!entry) return;
  ClientStream* stream = end ? remove(id) : entry->stream;
  if (stream) stream->on_response_head(std::move(head), end);
}

void ClientConnection::on_response_body(StreamId id, Buffer& body, bool end) {
  Entry* entry = streams_.find(id);
  if (!entry) return;
  const std::size_t bytes = body.size();
  if (!entry->stream) drained_bytes_ += bytes;
  ClientStream* stream = end ? remove(id) : entry->stream;
  if (stream) stream->on_response_body(body, end);
  if (multiplexed_ && !end) body_delivered(streams_, *codec_, id, bytes);
}

void ClientConnection::on_response_trailers(StreamId id, Fields&& trailers) {
  if (ClientStream* stream = remove(id)) stream->on_response_trailers(std::move(trailers));
}

void ClientConnection::on_response_reset(StreamId id, Reset why) {
  Entry* entry = streams_.find(id);
  if (!entry) return;
  const Errc code = why == Reset::kProtocol ? Errc::kProtocol : Errc::kReset;
  StreamFailure failure = failure_of(*entry, {code, Side::kUpstream, "reset by the upstream"});
  failure.stream_only = true;
  failure.cancelled = why == Reset::kCancel;
  failure.graceful = why == Reset::kGoAway;
  failure.refused = why == Reset::kRefused || failure.graceful;
  failure.reused_and_silent = false;
  if (ClientStream* stream = remove(id)) stream->on_stream_failed(failure);
}

}  // namespace damper::http
