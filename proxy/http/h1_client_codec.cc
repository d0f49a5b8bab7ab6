#include "http/h1_client_codec.h"

#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "http/h1_parser.h"
#include "http/h1_writer.h"

namespace damper::http {
namespace {

constexpr int kMaxInterimResponses = 20;

}  // namespace

Status H1ClientCodec::receive(Buffer& in, ClientSink& sink) {
  while (!in.empty()) {
    switch (reading_) {
      case Reading::kHead: TRY(read_head(in, sink)); break;
      case Reading::kBody: TRY(read_body(in, sink)); break;
      case Reading::kNothing:
        broken_ = true;
        in.clear();
        break;
    }
  }
  return Ok{};
}

Status H1ClientCodec::on_eof(ClientSink& sink) {
  const bool complete =
      reading_ == Reading::kNothing || (reading_ == Reading::kBody && body_reader_.ends_at_eof());
  const bool open = reading_ != Reading::kNothing;
  abandon();
  if (!complete) return Error{Errc::kClosed, Side::kUpstream, "connection_termination"};
  Buffer nothing;
  if (open) sink.on_response_body(id_, nothing, true);
  return Ok{};
}

void H1ClientCodec::await_head() {
  reading_ = Reading::kHead;
  lines_.begin(h1::Section::kResponse,
               {.max_bytes = options_.max_head_bytes, .max_fields = options_.max_headers});
}

Status H1ClientCodec::read_head(Buffer& in, ClientSink& sink) {
  ResponseHead head;
  const h1::Step step = lines_.read(in, head.fields.arena());
  if (step == h1::Step::kMore) return Ok{};
  if (step == h1::Step::kBad) return fail(lines_.fault());
  h1::Traits traits;
  if (const h1::Fault* fault = h1::parse_response(lines_, to_head_, head, traits))
    return fail(*fault);
  if (head.status == 101) return take_upgrade(std::move(head), sink);
  if (head.status < 200) return take_interim(std::move(head), sink);
  broken_ = broken_ || traits.close || traits.framing == h1::Framing::kUntilClose;
  body_reader_.begin(traits.framing, head.content_length.value_or(0));
  const bool end = traits.framing == h1::Framing::kNone;
  reading_ = Reading::kBody;
  if (end) end_response(in);
  sink.on_response_head(id_, std::move(head), end);
  return Ok{};
}

Status H1ClientCodec::take_interim(ResponseHead&& head, ClientSink& sink) {
  if (++interim_responses_ > kMaxInterimResponses) return fail(h1::kTooManyInterim);
  await_head();
  sink.on_interim(id_, std::move(head));
  return Ok{};
}

Status H1ClientCodec::take_upgrade(ResponseHead&& head, ClientSink& sink) {
  const bool asked = sent_ && !upgrade_.empty() && equals_ignoring_case(head.upgrade, upgrade_);
  if (!asked) return fail(h1::kUnexpectedUpgrade);
  broken_ = true;
  sent_ = false;
  reading_ = Reading::kBody;
  body_reader_.begin(h1::Framing::kUntilClose, 0);
  body_writer_.begin(h1::Framing::kUntilClose, 0);
  sink.on_response_head(id_, std::move(head), false);
  return Ok{};
}

Status H1ClientCodec::read_body(Buffer& in, ClientSink& sink) {
  Buffer body;
  Fields trailers;
  const h1::Step step = body_reader_.read(in, body, trailers);
  const bool with_trailers = !trailers.empty() && options_.enable_trailers;
  if (step == h1::Step::kDone && !with_trailers) {
    end_response(in);
    sink.on_response_body(id_, body, true);
    return Ok{};
  }
  if (!body.empty()) sink.on_response_body(id_, body, false);
  if (reading_ != Reading::kBody || step == h1::Step::kMore)
    return Ok{};  // the sink may have reset it
  if (step == h1::Step::kBad) return fail(body_reader_.fault());
  end_response(in);
  sink.on_response_trailers(id_, std::move(trailers));
  return Ok{};
}

// Bytes behind a response answer a request that was never sent. That is noted before the end is
// reported: the sink may use the connection again at once.
void H1ClientCodec::end_response(const Buffer& in) {
  reading_ = Reading::kNothing;
  if (!in.empty()) broken_ = true;
}

void H1ClientCodec::abandon() {
  reading_ = Reading::kNothing;
  sent_ = true;
  broken_ = true;
}

Error H1ClientCodec::fail(const h1::Fault& fault) {
  abandon();
  return to_error(fault, Side::kUpstream);
}

StreamId H1ClientCodec::send_head(const RequestHead& head, bool end) {
  DAMPER_CHECK(can_open());
  id_ += 2;
  to_head_ = head.is_head();
  upgrade_ = head.upgrade;
  interim_responses_ = 0;
  sent_ = false;
  await_head();
  h1::Delivery delivery = h1::request_delivery(head, end);
  if (!end && options_.enable_trailers && head.protocol == Protocol::kHttp2)
    h1::leave_room_for_trailers(delivery);
  body_writer_.begin(delivery.framing, delivery.content_length.value_or(0));
  h1::write_request_head(head, delivery, options_.enable_trailers, out_);
  if (end) end_request();
  return id_;
}

void H1ClientCodec::send_body(StreamId id, Buffer& body, bool end) {
  if (!is_sending(id)) return body.clear();
  body_writer_.write(body, end, out_);
  if (end) end_request();
}

void H1ClientCodec::send_trailers(StreamId id, const Fields& trailers) {
  if (!is_sending(id)) return;
  body_writer_.write_trailers(trailers, options_.enable_trailers, out_);
  end_request();
}

void H1ClientCodec::end_request() {
  sent_ = true;
  if (body_writer_.incomplete()) broken_ = true;
}

void H1ClientCodec::reset(StreamId id, Reset) {
  if (id != id_ || idle()) return;
  abandon();
  out_.clear();
}

void H1ClientCodec::pull(Buffer& out) {
  if (out.empty()) {
    out.swap(out_);
  } else {
    out.append(std::move(out_));
  }
}

}  // namespace damper::http
