// What admission tells the deadline filter of the same listener: while requests wait, an answer
// takes longer than at rest.
#pragma once
#include <atomic>
#include <cstdint>

namespace damper::admission {

struct Load {
  std::atomic<std::uint32_t> queued{0};  // requests that wait, of all workers
};

}  // namespace damper::admission
