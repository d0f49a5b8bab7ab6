#include "http/server_connection.h"

#include <algorithm>
#include <utility>

#include "http/h2_frames.h"

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
  if (options_.codec_type == config::CodecType::kHttp2 || connection_.alpn() == "h2") {
    settle(Protocol::kHttp2);
    connection_.flush_later();
  } else if (options_.codec_type == config::CodecType::kHttp1) {
    settle(Protocol::kHttp11);
  }
  timeouts_.idle.restart(*this);
}

void ServerConnection::settle(Protocol protocol) {
  settled_ = true;
  if (auto codec = owner_.choose_codec(*this, protocol)) codec_ = std::move(codec);
  multiplexed_ = codec_->multiplexes();
  if (multiplexed_) {
    keep_alive_ = KeepAlive::make(connection_, options_.http2, id_, [this] { codec_->ping(); });
  }
}

// False: too little has come to tell.
bool ServerConnection::settle_protocol(const Buffer& in) {
  using h2::kPreface;
  char bytes[kPreface.size()];
  const std::string_view begin(bytes, in.copy_front(bytes, kPreface.size()));
  if (!kPreface.starts_with(begin)) {
    settle(Protocol::kHttp11);
  } else if (begin.size() == kPreface.size()) {
    settle(Protocol::kHttp2);
  }
  return settled_;
}

Status ServerConnection::on_bytes(Buffer& in) {
  Status status = Ok{};
  if (settled_ || settle_protocol(in)) status = codec_->receive(in, *this);
  if (connection_.closed()) return Ok{};
  connection_.flush_later();
  if (!status) {  // what could be answered has been; close_if_finished() ends it unless a stream
                  // still answers
    close_if_finished(true);
    return Ok{};
  }
  const bool in_head = streams_.empty() && (!settled_ || codec_->in_head());
  if (in_head && !head_timed_ && timeouts_.head.timeout() > Duration::zero()) {
    timeouts_.head.restart(*this);
    head_timed_ = true;
  } else if (!in_head && streams_.empty() && std::exchange(head_timed_, false)) {
    timeouts_.idle.restart(*this);  // it was HTTP/2's preface, and no request came with it
  }
  return Ok{};
}

void ServerConnection::collect(Buffer& out) {
  codec_->pull(out);
  if (!multiplexed_ || connection_.closing()) return;
  if (codec_->failure()) return end_broken();
  if (codec_->has_reports()) connection_.deliver_later();
  close_if_finished(true);
}

// The GOAWAY that says why is on its way; no stream can be answered any more.
void ServerConnection::end_broken() {
  leave();
  end_streams(*codec_->failure());
  connection_.close_when_flushed(options_.delayed_close_timeout, true);
}

// A half-closed client cannot be told from one that has left; like its peers Damper stops working
// for it.
Status ServerConnection::on_eof(Buffer&) {
  return Error{Errc::kClosed, Side::kDownstream, "the client closed the connection"};
}

void ServerConnection::on_drained() {
  const bool others_wait = tell_drained(
      streams_, net::Connection::kLowMark,
      [this](StreamId id) { return multiplexed_ ? codec_->unsent_bytes(id) : 0; },
      [this] { return connection_.closed(); });
  if (others_wait) connection_.notify_when_drained();
}

void ServerConnection::on_closed(const Error& why) {
  leave();
  max_age_.reset();
  keep_alive_.reset();
  end_streams(why);
  owner_.on_closed(*this, why);
}

void ServerConnection::end_streams(const Error& why) {
  while (!streams_.empty()) {
    Entry last = streams_.pop();
    last.stream->on_connection_closed(why);
    connection_.loop().destroy_later(std::move(last.stream));
  }
}

void ServerConnection::on_timeout() {
  const bool waits_for_client = multiplexed_ && !codec_->idle();
  if (waits_for_client) {
    owner_.on_timeout_of(*this, head_timed_);
    return connection_.close({Errc::kTimeout, Side::kDownstream, "the client takes nothing"});
  }
  // Without a head timeout that of idleness ends it too.
  const bool in_head = head_timed_ || !codec_->idle();
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
  return *streams_.push({.id = id, .stream = owner_.make_stream(*this, id)}).stream;
}

void ServerConnection::on_request_head(StreamId id, RequestHead&& head, bool end) {
  ServerStream& stream = open(id);
  streams_.back().request_ended = end;
  if (last_request_ || requests_ == options_.max_requests_per_connection) codec_->go_away();
  stream.on_request_head(std::move(head), end);
}

void ServerConnection::on_request_body(StreamId id, Buffer& body, bool end) {
  Entry* entry = streams_.find(id);
  if (!entry) return;
  entry->request_ended = end;
  const std::size_t bytes = body.size();
  entry->stream->on_request_body(body, end);
  if (multiplexed_ && bytes > 0) body_delivered(streams_, *codec_, id, bytes);
}

void ServerConnection::on_request_trailers(StreamId id, Fields&& trailers) {
  Entry* entry = streams_.find(id);
  if (!entry) return;
  entry->request_ended = true;
  entry->stream->on_request_trailers(std::move(trailers));
}

void ServerConnection::on_request_reset(StreamId id, Reset why) {
  if (Entry* entry = streams_.find(id)) entry->stream->on_request_reset(why);
}

void ServerConnection::on_bad_request(StreamId id, int status, const Error& why) {
  Entry* entry = streams_.find(id);
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

void ServerConnection::pause_body(StreamId id) {
  if (!multiplexed_) return connection_.pause(net::Connection::kBackPressure);
  if (Entry* entry = streams_.find(id)) entry->paused = true;
}

void ServerConnection::resume_body(StreamId id) {
  if (!multiplexed_) return connection_.resume(net::Connection::kBackPressure);
  if (body_resumed(streams_, *codec_, id)) connection_.flush_later();
}

void ServerConnection::notify_when_drained(StreamId id) {
  if (Entry* entry = streams_.find(id)) entry->wants_drained = true;
  connection_.notify_when_drained();
}

std::size_t ServerConnection::unsent_bytes(StreamId id) const {
  return connection_.unsent_bytes() + codec_->unsent_bytes(id);
}

void ServerConnection::end_stream(StreamId id) {
  Entry* entry = streams_.find(id);
  if (!entry) return;
  const bool linger = !entry->request_ended;
  connection_.loop().destroy_later(std::move(entry->stream));
  streams_.erase(entry);
  if (!multiplexed_) connection_.resume(net::Connection::kBackPressure);
  close_if_finished(linger);
  if (connection_.closing()) return;
  if (connection_.has_input()) connection_.deliver_later();
  if (!streams_.empty()) return;
  streams_.release_memory();  // thousands of connections may rest
  const bool held_back = multiplexed_ && codec_->unsent_bytes(id) > 0;
  (held_back ? timeouts_.flush : timeouts_.idle).restart(*this);
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
  close_if_finished(multiplexed_);
  if (!multiplexed_ || connection_.closing() || std::exchange(draining_, true)) return;
  // Once more for a client that does not answer the announcement.
  if (!max_age_) max_age_ = connection_.loop().timer([this] { drain(); });
  max_age_->arm(options_.delayed_close_timeout);
}

}  // namespace damper::http
