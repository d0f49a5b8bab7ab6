// The service at the end of a chain. It counts what it receives, and fails as it was told to:
// request by request in a pattern that depends only on the seed and the request's number, so that
// an experiment repeats exactly.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

#include "bench/demo/http1.h"

namespace damper::demo {

struct LeafOptions {
  int status = 200;
  double fail_percent = 0;  // of the requests, answered with fail_status
  int fail_status = 503;
  std::uint64_t seed = 1;
  std::chrono::milliseconds latency{0};
  std::size_t body_bytes = 2;
};

// Thread-safe. GET /_count tells the counts as JSON, POST /_reset starts again; neither is counted.
class Leaf {
 public:
  explicit Leaf(const LeafOptions& options) : options_(options) {}

  Response answer(const Request& request);

 private:
  Response answer_counted();
  bool fails(std::uint64_t number) const;

  const LeafOptions options_;
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> failed_{0};
};

}  // namespace damper::demo
