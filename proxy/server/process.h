// The few numbers that all threads of the process look at. Everything else is passed by Loop::post.
#pragma once
#include <atomic>
#include <cstdint>

namespace damper::server {

enum class MemoryPressure : int {
  kNone,
  kHigh,      // replay copies are given up
  kCritical,  // no new connection, no new request
};

struct Process {
  std::atomic<std::uint64_t> connections{0};  // downstream, open now
  std::atomic<std::uint64_t> accepted{0};     // downstream, ever
  std::atomic<bool> draining{false};
  std::atomic<MemoryPressure> memory{MemoryPressure::kNone};
};

}  // namespace damper::server
