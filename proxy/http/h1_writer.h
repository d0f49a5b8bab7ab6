// Heads as HTTP/1 puts them on the wire. Everything is generated from the message: nothing that
// came in is copied out without having been understood. Names are written in lower case, as the
// fields hold them.
#pragma once
#include <cstdint>
#include <optional>

#include "base/buffer.h"
#include "http/h1_parser.h"
#include "http/message.h"

namespace damper::http::h1 {

// How the body of a message is to be sent, and which length its head tells.
struct Delivery {
  Framing framing = Framing::kNone;
  std::optional<std::uint64_t> content_length;
};

// `end`: no body follows. RFC 9112 §6.3, RFC 9110 §8.6.
Delivery request_delivery(const RequestHead& head, bool end);
// `to_head`: the answer to a HEAD request; `to_http10`: to a client that does not know chunked.
// In HTTP/2 trailers may follow a body of known length; here only the chunks of an unknown one.
void leave_room_for_trailers(Delivery& delivery);
Delivery response_delivery(const ResponseHead& head, bool end, bool to_head, bool to_http10);

// `te`: announces that trailers are welcome, if the request says so.
void write_request_head(const RequestHead& head, const Delivery& delivery, bool te, Buffer& out);
// With status 101 the connection changes to `head.upgrade`; otherwise `close` announces its end.
void write_response_head(const ResponseHead& head, const Delivery& delivery, bool close,
                         Buffer& out);
// Field lines only, without what may not stand in trailers.
void write_trailer_fields(const Fields& trailers, Buffer& out);

}  // namespace damper::http::h1
