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

// The gRPC status that stands for an HTTP status (gRPC's http-grpc-status-mapping; 504 is a
// deadline, semantics.md §5).
int grpc_status_of(int http_status);

// grpc-message: everything but printable ASCII, and '%', is percent-encoded.
std::string encode_grpc_message(std::string_view text);

}  // namespace damper::stream
