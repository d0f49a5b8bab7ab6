// One clock for the whole program. Only event::Loop and server/ read it; everything else is told.
#pragma once
#include <chrono>

namespace damper {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Duration = Clock::duration;
using WallTime = std::chrono::system_clock::time_point;

// Whole milliseconds, rounded down, as headers and logs carry them.
inline std::int64_t milliseconds(Duration d) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
}

}  // namespace damper
