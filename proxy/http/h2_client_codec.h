// HTTP/2 with an upstream (RFC 9113), on nghttp2: as many streams at a time as the peer's SETTINGS
// and ours allow, and one until they have come.
#pragma once
#include <memory>

#include "http/codec.h"
#include "http/h2_session.h"

namespace damper::http {

class H2ClientCodec final : public ClientCodec, private h2::Session::Owner {
 public:
  explicit H2ClientCodec(std::shared_ptr<const H2Options> options);

  Status receive(Buffer& in, ClientSink& sink) override;
  Status on_eof(ClientSink& sink) override;

  StreamId send_head(const RequestHead& head, bool end) override;
  void send_body(StreamId id, Buffer& body, bool end) override;
  void send_trailers(StreamId id, const Fields& trailers) override;
  void reset(StreamId id, Reset why) override;
  void consumed(StreamId id, std::size_t bytes) override { session_.consumed(id, bytes); }

  void pull(Buffer& out) override { session_.pull(out); }
  std::size_t unsent_bytes(StreamId id) const override { return session_.unsent_bytes(id); }
  bool on_wire(StreamId id) const override { return session_.head_sent(id); }

  bool can_open() const override;
  bool reusable() const override { return session_.may_open(); }
  bool idle() const override { return session_.empty(); }

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

  // The upstream's message cannot be taken.
  void refuse(StreamId id);

  const std::shared_ptr<const H2Options> options_;
  h2::Session session_;
  ClientSink* sink_ = nullptr;  // while receive() runs
};

}  // namespace damper::http
