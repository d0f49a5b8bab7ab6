#include "stream/local_reply.h"

#include "base/text.h"
#include "http/grpc_status.h"

namespace damper::stream {

int grpc_status_of(const Reply& reply) {
  constexpr int kDeadlineExceeded = 4;
  const int usual = reply.status == 504 ? kDeadlineExceeded : http::grpc_status_for(reply.status);
  return reply.grpc_status.value_or(usual);
}

std::string encode_grpc_message(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '%') {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

LocalReply make_local_reply(const Reply& reply, const http::RequestHead* request) {
  LocalReply out;
  for (const auto& [id, value] : reply.headers) out.head.fields.add(id, value);
  if (request && request->is_grpc()) {
    out.head.status = 200;
    out.head.fields.add(http::HeaderId::kContentType, "application/grpc");
    std::string status;
    append_number(status, grpc_status_of(reply));
    out.head.fields.add(http::HeaderId::kGrpcStatus, status);
    if (!reply.body.empty()) {
      out.head.fields.add(http::HeaderId::kGrpcMessage, encode_grpc_message(reply.body));
    }
    return out;
  }
  out.head.status = reply.status;
  out.body = reply.body;
  if (!out.body.empty() && !out.head.fields.has(http::HeaderId::kContentType)) {
    out.head.fields.add(http::HeaderId::kContentType, "text/plain");
  }
  const bool bodiless = reply.status == 204 || reply.status == 304;
  if (!bodiless) out.head.content_length = out.body.size();
  if (bodiless || (request && request->is_head())) out.body.clear();
  return out;
}

}  // namespace damper::stream
