#include "server/memory.h"

#include <algorithm>
#include <fstream>
#include <thread>
#include <unistd.h>

#include "base/text.h"

namespace damper::server {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The folder of our cgroup in the unified hierarchy, from "0::/a/b".
std::string cgroup_folder() {
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("0::")) return "/sys/fs/cgroup" + line.substr(3);
  }
  return "/sys/fs/cgroup";
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  return parse_number(trim(first_line(path)));
}

}  // namespace

std::optional<std::uint64_t> memory_limit_bytes() {
  // Limits of folders further up hold too, and in a container ours may be mounted as the root.
  constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 60;
  std::optional<std::uint64_t> least;
  for (const std::string& path :
       {cgroup_folder() + "/memory.max", std::string("/sys/fs/cgroup/memory.max"),
        std::string("/sys/fs/cgroup/memory/memory.limit_in_bytes")}) {
    const auto limit = number_in(path);
    if (limit && *limit < kUnlimited) least = std::min(least.value_or(*limit), *limit);
  }
  return least;
}

std::uint64_t resident_bytes() {
  const auto parts = first_line("/proc/self/statm");
  const auto fields = split(parts, ' ');
  const auto pages = fields.size() > 1 ? parse_number(fields[1]) : std::nullopt;
  return pages.value_or(0) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

MemoryPressure pressure_of(std::uint64_t used_bytes, std::uint64_t limit_bytes) {
  if (used_bytes >= limit_bytes / 10 * 9) return MemoryPressure::kCritical;
  if (used_bytes >= limit_bytes / 4 * 3) return MemoryPressure::kHigh;
  return MemoryPressure::kNone;
}

unsigned available_cores() {
  const unsigned cores = std::max(std::thread::hardware_concurrency(), 1u);
  const auto quota = first_line(cgroup_folder() + "/cpu.max");
  const auto fields = split(quota, ' ');
  if (fields.size() != 2) return cores;
  const auto allowed = parse_number(fields[0]);
  const auto period = parse_number(fields[1]);
  if (!allowed || !period || *period == 0) return cores;
  const auto rounded_up = static_cast<unsigned>((*allowed + *period - 1) / *period);
  return std::clamp(rounded_up, 1u, cores);
}

}  // namespace damper::server
