#include "http/h2_client_codec.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace damper::http {

H2ClientCodec::H2ClientCodec(std::shared_ptr<const H2Options> options)
    : options_(std::move(options)),
      session_(*this, h2::Role::kClient, *options_, Side::kUpstream) {}

Status H2ClientCodec::receive(Buffer& in, ClientSink& sink) {
  sink_ = &sink;
  session_.receive(in);
  sink_ = nullptr;
  return Ok{};
}

Status H2ClientCodec::on_eof(ClientSink&) {
  if (session_.empty()) return Ok{};
  return Error{Errc::kClosed, Side::kUpstream, "connection_termination"};
}

void H2ClientCodec::on_head(StreamId id, h2::Block&& block, bool end) {
  if (block.refusal()) return refuse(id);
  ResponseHead head = block.to_response(session_.is_tunnel(id) ? "websocket" : "");
  if (head.status < 100) return refuse(id);
  if (head.status < 200 && head.status != 101) return sink_->on_interim(id, std::move(head));
  sink_->on_response_head(id, std::move(head), end);
}

void H2ClientCodec::on_body(StreamId id, Buffer& body, bool end) {
  sink_->on_response_body(id, body, end);
}

void H2ClientCodec::on_trailers(StreamId id, h2::Block&& block) {
  if (block.refusal()) return refuse(id);
  sink_->on_response_trailers(id, block.to_trailers());
}

void H2ClientCodec::on_reset(StreamId id, Reset why) { sink_->on_response_reset(id, why); }

void H2ClientCodec::refuse(StreamId id) {
  session_.reset(id, NGHTTP2_ENHANCE_YOUR_CALM);
  sink_->on_response_reset(id, Reset::kProtocol);
}

StreamId H2ClientCodec::send_head(const RequestHead& head, bool end) {
  DAMPER_CHECK(can_open());
  return session_.request(head, end);
}

void H2ClientCodec::send_body(StreamId id, Buffer& body, bool end) {
  session_.send_body(id, body, end);
}

void H2ClientCodec::send_trailers(StreamId id, const Fields& trailers) {
  session_.send_trailers(id, trailers);
}

void H2ClientCodec::reset(StreamId id, Reset why) { session_.reset(id, h2::error_code(why)); }

bool H2ClientCodec::can_open() const {
  const std::size_t limit = session_.started() ? std::min(options_->http2.max_concurrent_streams,
                                                          session_.peer_max_streams())
                                               : 1;
  return session_.streams() < limit && session_.may_open();
}

}  // namespace damper::http
