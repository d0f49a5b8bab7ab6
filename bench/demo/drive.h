// The users: send requests, give up when their patience ends, and tell what became of them.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "bench/demo/http1.h"
#include "bench/demo/socket.h"

namespace damper::demo {

struct Load {
  Address target;
  std::string path = "/";
  Fields fields = {};  // of every request, beside its number (x-demo-request) and its tracing id
  std::string trace_field = {};  // "traceparent", "x-request-id", "b3"; empty: none

  std::uint64_t requests = 100;
  // Closed loop: so many users, who each send the next request after an answer.
  std::uint32_t concurrency = 1;
  // Open loop, if not 0: requests a second, whatever the answers do, evenly spaced or as a Poisson
  // process.
  double rate = 0;
  bool poisson = false;
  std::uint64_t seed = 1;

  Duration patience{};         // for each try; then the user disconnects. 0: no limit
  bool tell_patience = false;  // in x-envoy-expected-rq-timeout-ms
  // Naive users try again after any failure, after a wait that is drawn from [0, retry_wait), or is
  // the same for all.
  std::uint32_t retries = 0;
  Duration retry_wait{};
  bool wait_alike = false;
};

struct Report {
  std::map<int, std::uint64_t> statuses;  // of last tries
  std::uint64_t errors = 0;               // no answer came, timeouts included
  std::uint64_t timeouts = 0;             // patience ended
  std::uint64_t retries = 0;              // that users made
  // From the instant when a request was due to its answer, or to its end without 200.
  std::vector<Duration> latencies;
  std::vector<Duration> failure_latencies;
  // By the second in which a request was due: how many there were, and how many were answered 200.
  std::vector<std::uint64_t> offered;
  std::vector<std::uint64_t> good;
  Duration duration{};
};

// The instants, from the start, at which an open loop sends.
std::vector<Duration> arrivals(const Load& load);

Report drive(const Load& load);

// The smallest latency that `percent` of them do not exceed; 0 of none. `sorted` is in ascending
// order.
Duration percentile(const std::vector<Duration>& sorted, double percent);
std::string to_json(Report report);

}  // namespace damper::demo
