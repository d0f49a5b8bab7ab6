// HTTP/1.1 with an upstream (RFC 9112): one request at a time, never pipelined.
//
// receive() returns an Error for a response that cannot be read. Bytes that belong to no response
// are dropped and make the connection useless: ask reusable() after every receive(), also on an
// idle connection.
#pragma once
#include <string>

#include "http/codec.h"
#include "http/h1_body.h"
#include "http/h1_lines.h"
#include "http/h1_options.h"

namespace damper::http {

class H1ClientCodec final : public ClientCodec {
 public:
  explicit H1ClientCodec(H1ClientOptions options = {}) : options_(options), body_reader_(lines_) {}

  Status receive(Buffer& in, ClientSink& sink) override;
  Status on_eof(ClientSink& sink) override;

  // A 101 to an upgrade reopens both halves: from then on bodies are raw bytes, ended by EOF.
  // Calls for a request that is over are ignored, and their body is dropped.
  StreamId send_head(const RequestHead& head, bool end) override;
  void send_body(StreamId id, Buffer& body, bool end) override;
  void send_trailers(StreamId id, const Fields& trailers) override;
  void reset(StreamId id, Reset reason) override;
  void consumed(StreamId, std::size_t) override {}

  void pull(Buffer& out) override;
  std::size_t unsent_bytes(StreamId) const override { return out_.size(); }

  bool can_open() const override { return idle() && reusable(); }
  // Not while a response is complete whose request is not.
  bool reusable() const override { return !broken_ && (sent_ || reading_ != Reading::kNothing); }
  bool idle() const override { return reading_ == Reading::kNothing && sent_; }

 private:
  enum class Reading : std::uint8_t { kNothing, kHead, kBody };

  void await_head();
  Status read_head(Buffer& in, ClientSink& sink);
  Status take_interim(ResponseHead&& head, ClientSink& sink);
  Status take_upgrade(ResponseHead&& head, ClientSink& sink);
  Status read_body(Buffer& in, ClientSink& sink);
  void end_response(const Buffer& in);
  void end_request();
  void abandon();
  Error fail(const h1::Fault& fault);
  bool is_sending(StreamId id) const { return id == id_ && !sent_; }

  const H1ClientOptions options_;
  h1::LineReader lines_;
  h1::BodyReader body_reader_;
  h1::BodyWriter body_writer_;
  Buffer out_;
  StreamId id_ = -1;
  Reading reading_ = Reading::kNothing;
  bool sent_ = true;     // the request is complete
  bool broken_ = false;  // no further request may be sent
  // Of the current request.
  bool to_head_ = false;
  int interim_responses_ = 0;
  std::string upgrade_;
};

}  // namespace damper::http
