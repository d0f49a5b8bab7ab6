// The grpc-timeout header: at most eight digits and a unit (gRPC over HTTP/2, "Timeout").
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace damper::http {

std::optional<Duration> parse_grpc_timeout(std::string_view text);

// Whoever is told a timeout may find it over sooner than we do, by less than this.
inline constexpr Duration kGrpcTimeoutStep = std::chrono::milliseconds(1);

// In such steps, rounded down; at least one: "1m".
std::string format_grpc_timeout(Duration timeout);

}  // namespace damper::http
