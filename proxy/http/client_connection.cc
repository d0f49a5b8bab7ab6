#include "http/client_connection.h"

#include <algorithm>
#include <utility>

#include "http/stream_entries.h"

namespace damper::http {

ClientConnection::ClientConnection(Owner& owner, event::Loop& loop, net::ReadBlock& block,
                                   net::Fd fd, std::unique_ptr<net::Transport> transport,
                                   std::unique_ptr<ClientCodec> codec,
                                   event::TimeoutQueue& drain_timeout, std::uint64_t id)
    : owner_(owner),
      codec_(std::move(codec)),
      drain_timeout_(drain_timeout),
      id_(id),
      connection_(loop, block, std::move(fd), std::move(transport), *this,
                  net::Connection::Start::kConnecting) {}

const std::string& ClientConnection::local_text() {
  if (local_text_.empty()) local_text_ = net::Address::local_of(connection_.fd()).to_string();
  return local_text_;
}

void ClientConnection::on_connected() {
  connected_ = true;
  owner_.on_connected(*this);
}

StreamId ClientConnection::open(ClientStream& stream, const RequestHead& head, bool end) {
  leave();
  const StreamId id = codec_->send_head(head, end);
  streams_.push_back({.id = id,
                      .stream = &stream,
                      .read_before = connection_.bytes_read(),
                      .written_before = connection_.bytes_written(),
                      .reused = requests_ > 0});
  ++requests_;
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

void ClientConnection::pause_body(StreamId) { connection_.pause(net::Connection::kBackPressure); }

void ClientConnection::resume_body(StreamId) { connection_.resume(net::Connection::kBackPressure); }

std::size_t ClientConnection::unsent_bytes(StreamId id) const {
  return connection_.unsent_bytes() + codec_->unsent_bytes(id);
}

bool ClientConnection::on_wire(StreamId id) const {
  const Entry* entry = find_entry(streams_, id);
  return entry && connection_.bytes_written() > entry->written_before;
}

void ClientConnection::reset(StreamId id) {
  if (!remove(id)) return;
  connection_.resume(net::Connection::kBackPressure);
  codec_->reset(id, Reset::kCancel);
  if (!codec_->reusable() && streams_.empty()) {
    connection_.close({Errc::kClosed, Side::kLocal, "a request was cancelled"});
    return;
  }
  connection_.flush_later();
}

void ClientConnection::abandon(StreamId id) {
  Entry* entry = find_entry(streams_, id);
  if (!entry) return;
  entry->stream = nullptr;
  drained_bytes_ = 0;
  drain_timeout_.restart(*this);
  connection_.resume(net::Connection::kBackPressure);
}

Status ClientConnection::on_bytes(Buffer& in) {
  // Nobody has asked: an answer to nothing (408 of a server that tired of waiting) must never meet
  // the next request.
  if (streams_.empty()) {
    return Error{Errc::kProtocol, Side::kUpstream, "bytes without a request"};
  }
  TRY(codec_->receive(in, *this));
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
  if (connection_.closed() || !std::exchange(stream_ended_, false)) return;
  if (!codec_->reusable()) {
    if (streams_.empty()) {
      connection_.close({Errc::kClosed, Side::kLocal, "cannot be used again"});
    }
    return;
  }
  if (codec_->can_open()) owner_.on_available(*this);
}

void ClientConnection::on_drained() {
  tell_drained(streams_, [this] { return connection_.closed(); });
}

void ClientConnection::on_closed(const Error& why) {
  leave();
  while (!streams_.empty()) {
    const Entry last = streams_.back();
    streams_.pop_back();
    const StreamFailure failure = failure_of(last, why);
    lost_race_ = lost_race_ || failure.reused_and_silent;
    if (last.stream) last.stream->on_stream_failed(failure);
  }
  owner_.on_closed(*this, why);
}

StreamFailure ClientConnection::failure_of(const Entry& entry, const Error& why) const {
  const bool silent = connection_.bytes_read() == entry.read_before;
  return {.code = why.code,
          .detail = why.detail,
          .request_on_wire = connection_.bytes_written() > entry.written_before,
          .reused_and_silent =
              entry.reused && silent && (why.code == Errc::kReset || why.code == Errc::kClosed)};
}

// Forgets the stream; null if it was abandoned or is not there.
ClientStream* ClientConnection::remove(StreamId id) {
  Entry* entry = find_entry(streams_, id);
  if (!entry) return nullptr;
  ClientStream* stream = entry->stream;
  streams_.erase(streams_.begin() + (entry - streams_.data()));
  stream_ended_ = true;
  return stream;
}

void ClientConnection::on_interim(StreamId id, ResponseHead&& head) {
  if (Entry* entry = find_entry(streams_, id); entry && entry->stream)
    entry->stream->on_interim(std::move(head));
}

void ClientConnection::on_response_head(StreamId id, ResponseHead&& head, bool end) {
  Entry* entry = find_entry(streams_, id);
  if (!entry) return;
  ClientStream* stream = end ? remove(id) : entry->stream;
  if (stream) stream->on_response_head(std::move(head), end);
}

void ClientConnection::on_response_body(StreamId id, Buffer& body, bool end) {
  Entry* entry = find_entry(streams_, id);
  if (!entry) return;
  if (!entry->stream) drained_bytes_ += body.size();
  ClientStream* stream = end ? remove(id) : entry->stream;
  if (stream) stream->on_response_body(body, end);
}

void ClientConnection::on_response_trailers(StreamId id, Fields&& trailers) {
  if (ClientStream* stream = remove(id)) stream->on_response_trailers(std::move(trailers));
}

void ClientConnection::on_response_reset(StreamId id, Reset why) {
  Entry* entry = find_entry(streams_, id);
  if (!entry) return;
  StreamFailure failure =
      failure_of(*entry, {Errc::kReset, Side::kUpstream, "reset by the upstream"});
  failure.refused = why == Reset::kRefused;
  if (ClientStream* stream = remove(id)) stream->on_stream_failed(failure);
}

}  // namespace damper::http
