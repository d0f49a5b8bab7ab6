// HTTP/2 with a client (RFC 9113), on nghttp2. A request whose head is too large or no request is
// answered with a status; what breaks the protocol ends its stream or the connection with the error
// code that the RFC names. Extended CONNECT (RFC 8441) is read as the upgrade that it stands for.
#pragma once
#include <memory>

#include "http/codec.h"
#include "http/h2_session.h"

namespace damper::http {

class H2ServerCodec final : public ServerCodec, private h2::Session::Owner {
 public:
  explicit H2ServerCodec(std::shared_ptr<const H2Options> options);

  Status receive(Buffer& in, ServerSink& sink) override;

  void send_interim(StreamId id, const ResponseHead& head) override;
  void send_head(StreamId id, const ResponseHead& head, bool end) override;
  void send_body(StreamId id, Buffer& body, bool end) override;
  void send_trailers(StreamId id, const Fields& trailers) override;
  void reset(StreamId id, Reset why) override;
  void consumed(StreamId id, std::size_t bytes) override { session_.consumed(id, bytes); }

  void go_away() override;
  void pull(Buffer& out) override { session_.pull(out); }
  std::size_t unsent_bytes(StreamId id) const override { return session_.unsent_bytes(id); }

  bool idle() const override { return session_.empty() && session_.started(); }
  bool in_head() const override { return !session_.started() || session_.in_head(); }
  bool finished() const override;

  bool multiplexes() const override { return true; }
  bool has_reports() const override { return session_.has_reports(); }
  const Error* failure() const override { return session_.failure(); }
  void ping() override { session_.ping(); }

 private:
  // h2::Session::Owner
  void on_head(StreamId id, h2::Block&& block, bool end) override;
  void on_body(StreamId id, Buffer& body, bool end) override;
  void on_trailers(StreamId id, h2::Block&& block) override;
  void on_reset(StreamId id, Reset why) override;

  void refuse(StreamId id, const h2::Block::Refusal& refusal);

  const std::shared_ptr<const H2Options> options_;
  h2::Session session_;
  ServerSink* sink_ = nullptr;  // while receive() runs
  bool going_away_ = false;
};

}  // namespace damper::http
