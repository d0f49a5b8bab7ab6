// What an attempt says about its host and its cluster.
#pragma once
#include <cstdint>

namespace damper::upstream {

enum class Evidence : std::uint8_t {
  kNone,  // nothing: the host asked for patience (Retry-After), was told to stop, or we refused
  kGood,
  kError,        // 5xx but no gateway error
  kGateway,      // 502, 503, 504
  kLocalOrigin,  // no connection, reset, timeout
};

}  // namespace damper::upstream
