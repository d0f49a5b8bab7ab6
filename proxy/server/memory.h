// The memory that this process may use, and how much of that it does. Replay copies go first, then
// new work is refused: a sidecar that is killed for its memory takes its application's traffic with
// it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "server/process.h"

namespace damper::server {

// The limit of our cgroup (v2 memory.max, v1 memory.limit_in_bytes); nothing: there is none.
std::optional<std::uint64_t> memory_limit_bytes();
std::uint64_t resident_bytes();

// High from 75% of the limit, critical from 90%.
MemoryPressure pressure_of(std::uint64_t used_bytes, std::uint64_t limit_bytes);

// Cores that our cgroup may use (cpu.max), rounded up; at most those there are.
unsigned available_cores();

}  // namespace damper::server
