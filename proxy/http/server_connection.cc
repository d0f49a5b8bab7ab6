#include "http/server_connection.h"

#include <algorithm>
#include <utility>

#include "http/stream_entries.h"

namespace damper::http {

ServerConnection::ServerConnection(Owner& owner, const config::HttpOptions& options,
                                   Timeouts timeouts, event::Loop& loop, net::ReadBlock& block,
                                   net::Fd fd, std::unique_ptr<net::Transport> transport,
                                   std::unique_ptr<ServerCodec> codec, const net::Address& peer,
                                   std::uint64_t id)
    : owner_(owner),
      options_(options),
      timeouts_(timeouts),
      codec_(std::move(codec)),
      peer_text_(peer.to_string()),
      id_(id),
      connection_(loop, block, std::move(fd), std::move(transport), *this,
                  net::Connection::Start::kAccepted) {}

const std::string& ServerConnection::local_text() {
  if (!local_text_) {
    local_text_ =
        std::make_shared<const std::string>(net::Address::local_of(connection_.fd()).to_string());
  }
  return *local_text_;
}

std::string_view ServerConnection::peer_ip() const {
  const std::size_t colon = peer_text_.rfind(':');
  if (colon == std::string::npos || peer_text_.front() == '/') return {};  // a unix socket
  std::string_view ip = std::string_view(peer_text_).substr(0, colon);
  if (ip.starts_with('[')) ip = ip.substr(1, ip.size() - 2);
  return ip;
}

void ServerConnection::on_connected() {
  if (options_.max_connection_duration > Duration::zero()) {
    max_age_ = connection_.loop().timer([this] { drain(); });
    max_age_->arm(options_.max_connection_duration);
  }
  timeouts_.idle.restart(*this);
}

Status ServerConnection::on_bytes(Buffer& in) {
  const Status status = codec_->receive(in, *this);
  if (connection_.closed()) return Ok{};
  connection_.flush_later();
  if (!status) {  // what could be answered has been; close_if_finished() ends it unless a stream
                  // still answers
    close_if_finished(true);
    return Ok{};
  }
  const bool in_head = streams_.empty() && !codec_->idle();
  if (in_head && !head_timed_ && timeouts_.head.timeout() > Duration::zero()) {
    timeouts_.head.restart(*this);
    head_timed_ = true;
  }
  return Ok{};
}

// A half-closed client cannot be told from one that has left; like its peers Damper stops working
// for it.
Status ServerConnection::on_eof(Buffer&) {
  return Error{Errc::kClosed, Side::kDownstream, "the client closed the connection"};
}

void ServerConnection::on_drained() {
  tell_drained(streams_, [this] { return connection_.closed(); });
}

void ServerConnection::on_closed(const Error& why) {
  leave();
  max_age_.reset();
  while (!streams_.empty()) {
    Entry last = std::move(streams_.back());
    streams_.pop_back();
    last.stream->on_connection_closed(why);
    connection_.loop().destroy_later(std::move(last.stream));
  }
  owner_.on_closed(*this, why);
}

void ServerConnection::on_timeout() {
  const bool in_head = !codec_->idle();  // without a head timeout that of idleness ends it too
  owner_.on_timeout_of(*this, in_head);
  if (in_head) {
    on_bad_request(0, 408, {Errc::kTimeout, Side::kDownstream, "request_header_timeout"});
  } else {
    drain();
  }
}

ServerStream& ServerConnection::open(StreamId id) {
  leave();
  head_timed_ = false;
  ++requests_;
  streams_.push_back({.id = id, .stream = owner_.make_stream(*this, id)});
  return *streams_.back().stream;
}

void ServerConnection::on_request_head(StreamId id, RequestHead&& head, bool end) {
  ServerStream& stream = open(id);
  streams_.back().request_ended = end;
  if (last_request_ || requests_ == options_.max_requests_per_connection) codec_->go_away();
  stream.on_request_head(std::move(head), end);
}

void ServerConnection::on_request_body(StreamId id, Buffer& body, bool end) {
  Entry* entry = find_entry(streams_, id);
  if (!entry) return;
  entry->request_ended = end;
  entry->stream->on_request_body(body, end);
}

void ServerConnection::on_request_trailers(StreamId id, Fields&& trailers) {
  Entry* entry = find_entry(streams_, id);
  if (!entry) return;
  entry->request_ended = true;
  entry->stream->on_request_trailers(std::move(trailers));
}

void ServerConnection::on_request_reset(StreamId id, Reset why) {
  if (Entry* entry = find_entry(streams_, id)) entry->stream->on_request_reset(why);
}

void ServerConnection::on_bad_request(StreamId id, int status, const Error& why) {
  Entry* entry = find_entry(streams_, id);
  ServerStream& stream = entry ? *entry->stream : open(id);
  stream.on_bad_request(status, why);
}

void ServerConnection::send_interim(StreamId id, const ResponseHead& head) {
  codec_->send_interim(id, head);
  connection_.flush_later();
}

void ServerConnection::send_head(StreamId id, const ResponseHead& head, bool end) {
  codec_->send_head(id, head, end);
  connection_.flush_later();
}

void ServerConnection::send_body(StreamId id, Buffer& body, bool end) {
  codec_->send_body(id, body, end);
  connection_.flush_later();
}

void ServerConnection::send_trailers(StreamId id, const Fields& trailers) {
  codec_->send_trailers(id, trailers);
  connection_.flush_later();
}

void ServerConnection::reset(StreamId id, Reset why) {
  codec_->reset(id, why);
  connection_.flush_later();
}

void ServerConnection::pause_body(StreamId) { connection_.pause(net::Connection::kBackPressure); }

void ServerConnection::resume_body(StreamId) { connection_.resume(net::Connection::kBackPressure); }

std::size_t ServerConnection::unsent_bytes(StreamId id) const {
  return connection_.unsent_bytes() + codec_->unsent_bytes(id);
}

void ServerConnection::end_stream(StreamId id) {
  Entry* entry = find_entry(streams_, id);
  if (!entry) return;
  const bool linger = !entry->request_ended;
  connection_.loop().destroy_later(std::move(entry->stream));
  streams_.erase(streams_.begin() + (entry - streams_.data()));
  connection_.resume(net::Connection::kBackPressure);
  close_if_finished(linger);
  if (connection_.closing()) return;
  if (connection_.has_input()) connection_.deliver_later();
  if (!streams_.empty()) return;
  streams_.shrink_to_fit();  // thousands of connections may rest
  timeouts_.idle.restart(*this);
}

void ServerConnection::close_if_finished(bool linger) {
  if (!codec_->finished() || !streams_.empty()) return;
  leave();
  const Duration patience = options_.delayed_close_timeout;
  if (codec_->cut_response()) return connection_.abort_when_flushed(patience);
  connection_.close_when_flushed(patience, linger || connection_.has_input());
}

void ServerConnection::drain() {
  codec_->go_away();
  connection_.flush_later();
  close_if_finished(false);
}

}  // namespace damper::http
