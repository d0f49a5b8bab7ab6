// The meaning of an HTTP/1 section that LineReader has found: framing, hop-by-hop fields and the
// request target become members of the head, and what is left becomes its fields (RFC 9112 §3.2,
// §6; RFC 9110 §7.6.1, §7.8).
#pragma once
#include <cstdint>

#include "http/h1_lines.h"
#include "http/h1_options.h"
#include "http/message.h"

namespace damper::http::h1 {

enum class Framing : std::uint8_t { kNone, kLength, kChunked, kUntilClose };

// What a head says that is not for those who handle the message.
struct Traits {
  Framing framing = Framing::kNone;
  bool close = false;  // the peer ends the connection after this message
};

// The reader has read a head into the arena of `head.fields`. Null, or why the message is refused.
const Fault* parse_request(const LineReader& reader, const H1ServerOptions& options,
                           RequestHead& head, Traits& traits);
// `to_head`: it answers a HEAD request.
const Fault* parse_response(const LineReader& reader, bool to_head, ResponseHead& head,
                            Traits& traits);
// The reader has read trailers into the arena of `trailers`. Drops what may not stand there.
void parse_trailers(const LineReader& reader, Fields& trailers);

// host [ ":" port ]. Userinfo is none of it: it is used to deceive (RFC 9110 §4.2.4).
bool valid_authority(std::string_view text);

// Fields that frame, route, authenticate or control a message come too late in its trailers (RFC
// 9110 §6.5.1).
bool allowed_in_trailers(const Field& field);

}  // namespace damper::http::h1
