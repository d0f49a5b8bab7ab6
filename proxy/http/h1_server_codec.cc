#include "http/h1_server_codec.h"

#include <utility>

#include "base/check.h"
#include "http/h1_parser.h"
#include "http/h1_writer.h"

namespace damper::http {

H1ServerCodec::H1ServerCodec(std::shared_ptr<const H1ServerOptions> options)
    : options_(std::move(options)), body_reader_(lines_) {
  await_request();
}

Status H1ServerCodec::receive(Buffer& in, ServerSink& sink) {
  while (!in.empty()) {
    if (finished()) reading_ = Reading::kStopped;
    switch (reading_) {
      case Reading::kHead: read_head(in, sink); break;
      case Reading::kBody: read_body(in, sink); break;
      case Reading::kComplete: return Ok{};
      case Reading::kRaw:
        sink.on_request_body(id_, in, false);
        in.clear();
        break;
      case Reading::kStopped: in.clear(); break;
    }
  }
  return Ok{};
}

void H1ServerCodec::await_request() {
  reading_ = Reading::kHead;
  lines_.begin(h1::Section::kRequest,
               {.max_bytes = options_->max_head_bytes, .max_fields = options_->max_headers});
}

void H1ServerCodec::read_head(Buffer& in, ServerSink& sink) {
  RequestHead head;
  const h1::Step step = lines_.read(in, head.fields.arena());
  if (step == h1::Step::kMore) return;
  if (step == h1::Step::kBad) return refuse(lines_.fault(), sink);
  h1::Traits traits;
  if (const h1::Fault* fault = h1::parse_request(lines_, *options_, head, traits))
    return refuse(*fault, sink);

  open_stream(std::exchange(next_id_, next_id_ + 2));
  to_head_ = head.is_head();
  to_http10_ = head.protocol == Protocol::kHttp10;
  asks_upgrade_ = !head.upgrade.empty();
  // What follows CONNECT is not ours to read, whatever comes of it.
  close_ = traits.close || to_http10_ || head.method == "CONNECT";
  const bool end = traits.framing == h1::Framing::kNone;
  reading_ = Reading::kBody;
  if (end) end_request();
  body_reader_.begin(traits.framing, head.content_length.value_or(0));
  sink.on_request_head(id_, std::move(head), end);
}

void H1ServerCodec::read_body(Buffer& in, ServerSink& sink) {
  Buffer body;
  Fields trailers;
  const h1::Step step = body_reader_.read(in, body, trailers);
  const bool with_trailers = !trailers.empty() && options_->enable_trailers;
  if (step == h1::Step::kDone && !with_trailers) {
    end_request();
    return sink.on_request_body(id_, body, true);
  }
  if (!body.empty()) sink.on_request_body(id_, body, false);
  if (reading_ != Reading::kBody || step == h1::Step::kMore)
    return;  // the sink may have ended the stream
  if (step == h1::Step::kBad) return refuse(body_reader_.fault(), sink);
  end_request();
  sink.on_request_trailers(id_, std::move(trailers));
}

void H1ServerCodec::end_request() { reading_ = upgraded_ ? Reading::kRaw : Reading::kComplete; }

// The answer to a request whose head was not reported needs a stream too.
void H1ServerCodec::refuse(const h1::Fault& fault, ServerSink& sink) {
  if (writing_ == Writing::kNothing) open_stream(std::exchange(next_id_, next_id_ + 2));
  stop_reading();
  sink.on_bad_request(id_, fault.status, to_error(fault, Side::kDownstream));
}

void H1ServerCodec::open_stream(StreamId id) {
  id_ = id;
  writing_ = Writing::kHead;
  to_head_ = to_http10_ = asks_upgrade_ = upgraded_ = close_ = false;
}

void H1ServerCodec::stop_reading() {
  reading_ = Reading::kStopped;
  close_ = true;
}

void H1ServerCodec::send_interim(StreamId id, const ResponseHead& head) {
  if (!is_open(id) || writing_ != Writing::kHead || to_http10_) return;
  h1::write_response_head(head, {}, false, out_);
}

void H1ServerCodec::send_head(StreamId id, const ResponseHead& head, bool end) {
  if (id == kUnreadRequest && reading_ == Reading::kHead) {
    open_stream(id);
    stop_reading();
  }
  if (!is_open(id)) return;
  DAMPER_CHECK(writing_ == Writing::kHead);
  writing_ = Writing::kBody;
  h1::Delivery delivery = h1::response_delivery(head, end, to_head_, to_http10_);
  if (!end && options_->enable_trailers && !to_http10_ && head.protocol == Protocol::kHttp2)
    h1::leave_room_for_trailers(delivery);
  if (head.status == 101) {
    switch_protocols();
  } else {
    // What of the request is still to come cannot be waited for, and what follows a refused upgrade
    // may not be HTTP.
    close_ = close_ || draining_ || asks_upgrade_ || reading_ != Reading::kComplete;
    body_writer_.begin(delivery.framing, delivery.content_length.value_or(0));
  }
  h1::write_response_head(head, delivery, close_, out_);
  if (end) end_response();
}

void H1ServerCodec::switch_protocols() {
  upgraded_ = true;
  close_ = true;
  if (reading_ == Reading::kComplete) end_request();
  body_writer_.begin(h1::Framing::kUntilClose, 0);
}

void H1ServerCodec::send_body(StreamId id, Buffer& body, bool end) {
  if (!is_open(id)) return body.clear();
  body_writer_.write(body, end, out_);
  if (end) end_response();
}

void H1ServerCodec::send_trailers(StreamId id, const Fields& trailers) {
  if (!is_open(id)) return;
  body_writer_.write_trailers(trailers, options_->enable_trailers, out_);
  end_response();
}

void H1ServerCodec::end_response() {
  if (close_ || body_writer_.incomplete()) return close_stream();
  writing_ = Writing::kNothing;
  await_request();
}

void H1ServerCodec::reset(StreamId id, Reset) {
  if (!is_open(id)) return;
  cut_response_ = writing_ == Writing::kBody && body_writer_.ends_with_connection();
  close_stream();
}

void H1ServerCodec::close_stream() {
  writing_ = Writing::kNothing;
  reading_ = Reading::kStopped;
}

void H1ServerCodec::pull(Buffer& out) {
  if (out.empty()) {
    out.swap(out_);
  } else {
    out.append(std::move(out_));
  }
}

bool H1ServerCodec::finished() const {
  return writing_ == Writing::kNothing && (reading_ == Reading::kStopped || (draining_ && idle()));
}

}  // namespace damper::http
