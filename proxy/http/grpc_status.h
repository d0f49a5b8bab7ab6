// The status of gRPC calls: its numbers, its names, and what a plain HTTP status stands for.
#pragma once
#include <optional>
#include <string_view>

#include "http/fields.h"

namespace damper::http {

// What grpc-status says; nothing if it is missing or no number.
std::optional<int> grpc_status(const Fields& head_or_trailers);

// What a client makes of an answer without a grpc-status (gRPC's "HTTP to gRPC Status Code
// Mapping").
int grpc_status_for(int http_status);
// The other way round, as Envoy's outlier detection reads statuses: UNAVAILABLE is 503,
// DEADLINE_EXCEEDED 504, RESOURCE_EXHAUSTED 429, INTERNAL and what gRPC does not define 500, …
int http_status_for(int grpc_status);

// "DeadlineExceeded", "DEADLINE_EXCEEDED"; empty for a number that gRPC does not define.
std::string_view grpc_camel_name(int status);
std::string_view grpc_snake_name(int status);

}  // namespace damper::http
