// The grpc-timeout header: at most eight digits and a unit (gRPC over HTTP/2, "Timeout").
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace damper::http {

std::optional<Duration> parse_grpc_timeout(std::string_view text);

// In milliseconds, rounded down; at least 1m.
std::string format_grpc_timeout(Duration timeout);

}  // namespace damper::http
