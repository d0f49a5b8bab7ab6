// gRPC calls as they stand on an HTTP/1 connection whose both sides keep trailers.
#pragma once
#include <string>

#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {

inline const std::string kWithTrailers = "http_protocol_options: { enable_trailers: true }";

// one_route() that lets trailers pass.
inline std::string grpc_route(const std::string& endpoints, const std::string& route = "",
                              const std::string& cluster = "", const std::string& listener = "") {
  return one_route(endpoints, route, kWithTrailers + (cluster.empty() ? "" : ", " + cluster),
                   kWithTrailers + (listener.empty() ? "" : ", " + listener));
}

// A retry policy for methods that may be repeated.
inline std::string grpc_retry(const std::string& retry_on, const std::string& more = "") {
  return retry(retry_on, "idempotent: true" + (more.empty() ? "" : ", " + more));
}

inline std::string grpc_call(const std::string& headers = "") {
  return "POST /s/M HTTP/1.1\r\nhost: a\r\ncontent-type: application/grpc\r\nte: trailers\r\n" +
         headers + "content-length: 2\r\n\r\nhi";
}

// The same whose end is still to come.
inline std::string grpc_call_begins(const std::string& headers = "") {
  return "POST /s/M HTTP/1.1\r\nhost: a\r\ncontent-type: application/grpc\r\nte: trailers\r\n" +
         headers + "transfer-encoding: chunked\r\n\r\n";
}

inline std::string chunk(const std::string& text) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  return size + text + "\r\n";
}

inline const std::string kGrpcHead =
    "HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\ntransfer-encoding: chunked\r\n\r\n";
inline std::string grpc_end(int status, const std::string& more = "") {
  return "0\r\ngrpc-status: " + std::to_string(status) + "\r\n" + more + "\r\n";
}
inline std::string early_trailers(int status, const std::string& more = "") {
  return kGrpcHead + grpc_end(status, more);
}
inline std::string late_trailers(int status, const std::string& more = "") {
  return kGrpcHead + chunk("message") + grpc_end(status, more);
}
inline std::string trailers_only(int status, const std::string& more = "") {
  return http_response(
      200, "",
      "content-type: application/grpc\r\ngrpc-status: " + std::to_string(status) + "\r\n" + more);
}

inline std::string trailer(const WireMessage& message, std::string_view name) {
  for (const auto& [key, value] : message.trailers) {
    if (key == name) return value;
  }
  return "-";
}

// As a client reads it, from the head or from the trailers; "-" if there is none.
inline std::string grpc_status(const WireMessage& answer) {
  return answer.field("grpc-status").value_or(trailer(answer, "grpc-status"));
}

}  // namespace damper::tests
