// The user: sends requests and tells what became of them. Never sends a request twice, so that
// whatever a service receives beyond them was a proxy's doing.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "bench/demo/socket.h"

namespace damper::demo {

struct Load {
  Address target;
  std::string path = "/";
  std::uint64_t requests = 100;
  std::uint32_t concurrency = 1;
  // Requests a second, at fixed instants whatever the answers do (open loop); 0: each connection
  // sends the next request after an answer (closed loop). Concurrency bounds both.
  double rate = 0;
};

struct Report {
  std::map<int, std::uint64_t> statuses;
  std::uint64_t errors = 0;  // no answer came
  std::vector<Duration>
      latencies;  // of answers; in an open loop from the instant the request was due
  Duration duration{};

  void merge(const Report& other);
};

Report drive(const Load& load);

// The smallest latency that `percent` of them do not exceed; 0 of none. `sorted` is in ascending
// order.
Duration percentile(const std::vector<Duration>& sorted, double percent);
std::string to_json(Report report);

}  // namespace damper::demo
