#include "http/h2_server_codec.h"

#include <utility>

namespace damper::http {

H2ServerCodec::H2ServerCodec(std::shared_ptr<const H2Options> options)
    : options_(std::move(options)),
      session_(*this, h2::Role::kServer, *options_, Side::kDownstream) {}

Status H2ServerCodec::receive(Buffer& in, ServerSink& sink) {
  sink_ = &sink;
  session_.receive(in);
  sink_ = nullptr;
  return Ok{};
}

void H2ServerCodec::on_head(StreamId id, h2::Block&& block, bool end) {
  auto head = block.to_request();
  if (const auto* refusal = std::get_if<const h2::Block::Refusal*>(&head)) {
    return refuse(id, **refusal);
  }
  auto& request = std::get<RequestHead>(head);
  const bool tunnel = !request.upgrade.empty();
  if (tunnel) session_.set_tunnel(id);
  // Like an upgrade in HTTP/1 it has no body until it is granted.
  sink_->on_request_head(id, std::move(request), end || tunnel);
}

void H2ServerCodec::on_body(StreamId id, Buffer& body, bool end) {
  sink_->on_request_body(id, body, end);
}

void H2ServerCodec::on_trailers(StreamId id, h2::Block&& block) {
  if (const auto* refusal = block.refusal()) return refuse(id, *refusal);
  sink_->on_request_trailers(id, block.to_trailers());
}

void H2ServerCodec::on_reset(StreamId id, Reset why) { sink_->on_request_reset(id, why); }

void H2ServerCodec::refuse(StreamId id, const h2::Block::Refusal& refusal) {
  session_.ignore(id);
  sink_->on_bad_request(id, refusal.status, h1::to_error(refusal, Side::kDownstream));
}

void H2ServerCodec::send_interim(StreamId id, const ResponseHead& head) {
  session_.send_interim(id, head);
}

void H2ServerCodec::send_head(StreamId id, const ResponseHead& head, bool end) {
  session_.respond(id, head, end);
}

void H2ServerCodec::send_body(StreamId id, Buffer& body, bool end) {
  session_.send_body(id, body, end);
}

void H2ServerCodec::send_trailers(StreamId id, const Fields& trailers) {
  session_.send_trailers(id, trailers);
}

void H2ServerCodec::reset(StreamId id, Reset why) { session_.reset(id, h2::error_code(why)); }

void H2ServerCodec::go_away() {
  if (std::exchange(going_away_, true)) return session_.shut_down();
  session_.announce_shutdown();
}

bool H2ServerCodec::finished() const {
  return session_.over() || (session_.shut() && session_.empty());
}

}  // namespace damper::http
