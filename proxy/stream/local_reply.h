// The answers that Damper makes itself, in HTTP's shape or gRPC's.
#pragma once
#include "http/message.h"
#include "stream/filter.h"

namespace damper::stream {

struct LocalReply {
  http::ResponseHead head;
  std::string body;  // empty for gRPC: its message stands in the head
};

LocalReply make_local_reply(const Reply& reply, const http::RequestHead* request);

// What a gRPC client is told. Unlike a 504 that a client finds on the wire, which gRPC calls
// UNAVAILABLE, one that we make says that the time is over: DEADLINE_EXCEEDED.
int grpc_status_of(const Reply& reply);

// grpc-message: everything but printable ASCII, and '%', is percent-encoded.
std::string encode_grpc_message(std::string_view text);

}  // namespace damper::stream
