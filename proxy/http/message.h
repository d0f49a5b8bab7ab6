// What a codec makes of bytes, the same for HTTP/1 and HTTP/2. Framing is no header here: the
// length of a body is a number in the head, and content-length, transfer-encoding, host and upgrade
// never stand among the fields.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/fields.h"

namespace damper::http {

enum class Protocol : std::uint8_t { kHttp10, kHttp11, kHttp2 };

std::string_view name(Protocol protocol);  // "HTTP/1.1"

bool is_grpc(const Fields& head);  // content-type: application/grpc or application/grpc+…

struct RequestHead {
  // Views into fields.arena() or static text. `path` is the request target in origin-form with its
  // query, or "*".
  std::string_view method;
  std::string_view scheme = "http";
  std::string_view authority;
  std::string_view path;
  std::string_view upgrade;  // the protocol asked for ("websocket"), RFC 9110 §7.8; empty: none
  Fields fields;
  std::optional<std::uint64_t>
      content_length;  // empty with a body: length unknown (chunked, HTTP/2)
  Protocol protocol = Protocol::kHttp11;
  bool expect_continue = false;  // RFC 9110 §10.1.1; the field itself is removed

  bool is_head() const { return method == "HEAD"; }
  // The method; of a gRPC request the path without its query: "/package.Service/Method".
  std::string_view operation() const;
  bool is_grpc() const { return http::is_grpc(fields); }

  // Copies the text into the head's own arena.
  void set_path(std::string_view text) { path = fields.arena().copy(text); }
  void set_authority(std::string_view text) { authority = fields.arena().copy(text); }

  RequestHead clone() const;
};

struct ResponseHead {
  int status = 0;
  Fields fields;
  std::optional<std::uint64_t> content_length;  // of the body, or what a HEAD or 304 tells about it
  Protocol protocol = Protocol::kHttp11;
  bool is_grpc() const { return http::is_grpc(fields); }
  std::string_view upgrade;  // with 101: the protocol switched to
};

std::string_view reason_phrase(int status);

}  // namespace damper::http
