// What an operator has said about the retries of a cluster while the process runs (semantics.md
// §12).
#pragma once
#include <cstdint>

namespace damper::upstream {

enum class LiveMode : std::uint8_t {
  kNormal,
  kConnectFailureOnly,  // only what surely was not processed, for want of a connection, is retried
  kOff,                 // nothing is retried
};

}  // namespace damper::upstream
