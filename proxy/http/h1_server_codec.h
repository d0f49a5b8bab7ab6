// HTTP/1.0 and HTTP/1.1 with a client (RFC 9112). Reads one request at a time: the next one stays
// in the caller's buffer until the response is complete.
//
// Faults are final. receive() reports them by on_bad_request() and returns Ok; from then on it
// drops what it is given, and finished() is true once the answer has been sent or the stream reset.
// A fault within a body may come when the response has begun: reset() is then all that is left to
// do. A request whose head does not come to its end can be answered too (408), as kUnreadRequest.
#pragma once
#include <memory>

#include "http/codec.h"
#include "http/h1_body.h"
#include "http/h1_lines.h"
#include "http/h1_options.h"

namespace damper::http {

class H1ServerCodec final : public ServerCodec {
 public:
  static constexpr StreamId kUnreadRequest = 0;

  explicit H1ServerCodec(H1ServerOptions options)
      : H1ServerCodec(std::make_shared<const H1ServerOptions>(std::move(options))) {}
  explicit H1ServerCodec(std::shared_ptr<const H1ServerOptions> options);  // all of a listener's

  Status receive(Buffer& in, ServerSink& sink) override;

  // Calls for a stream that is over are ignored, and their body is dropped.
  void send_interim(StreamId id, const ResponseHead& head) override;
  void send_head(StreamId id, const ResponseHead& head, bool end) override;
  void send_body(StreamId id, Buffer& body, bool end) override;
  void send_trailers(StreamId id, const Fields& trailers) override;
  void reset(StreamId id, Reset reason) override;
  void consumed(StreamId, std::size_t) override {}

  void go_away() override { draining_ = true; }
  void pull(Buffer& out) override;
  std::size_t unsent_bytes(StreamId) const override { return out_.size(); }

  bool idle() const override { return writing_ == Writing::kNothing && !lines_.started(); }
  bool finished() const override;
  // A response ends short of what its head announced. Where only the end of the connection tells
  // (HTTP/1.0), the client cannot see it unless the connection is reset rather than closed.
  bool cut_response() const override { return cut_response_; }

 private:
  enum class Reading : std::uint8_t { kHead, kBody, kComplete, kRaw, kStopped };
  enum class Writing : std::uint8_t { kNothing, kHead, kBody };

  void await_request();
  void read_head(Buffer& in, ServerSink& sink);
  void read_body(Buffer& in, ServerSink& sink);
  void end_request();
  void refuse(const h1::Fault& fault, ServerSink& sink);
  void open_stream(StreamId id);
  void stop_reading();
  void switch_protocols();
  void end_response();
  void close_stream();
  bool is_open(StreamId id) const { return id == id_ && writing_ != Writing::kNothing; }

  const std::shared_ptr<const H1ServerOptions> options_;
  h1::LineReader lines_;
  h1::BodyReader body_reader_;
  h1::BodyWriter body_writer_;
  Buffer out_;
  StreamId id_ = kUnreadRequest;
  StreamId next_id_ = 1;
  Reading reading_ = Reading::kHead;
  Writing writing_ = Writing::kNothing;
  // Of the current request.
  bool to_head_ = false;
  bool to_http10_ = false;
  bool asks_upgrade_ = false;
  bool upgraded_ = false;
  bool close_ = false;  // the connection ends with its response

  bool draining_ = false;
  bool cut_response_ = false;
};

}  // namespace damper::http
