#include "bench/demo/leaf.h"

#include <thread>

#include "base/random.h"

namespace damper::demo {

Response Leaf::answer(const Request& request) {
  if (request.path == "/_count") {
    return {200, "{\"requests\": " + std::to_string(requests_) +
                     ", \"failed\": " + std::to_string(failed_) + "}\n"};
  }
  if (request.path == "/_reset" && request.method == "POST") {
    requests_ = 0;
    failed_ = 0;
    return {200, "reset\n"};
  }
  return answer_counted();
}

Response Leaf::answer_counted() {
  const bool fail = fails(requests_++);
  if (fail) ++failed_;
  if (options_.latency.count() > 0) std::this_thread::sleep_for(options_.latency);
  return {fail ? options_.fail_status : options_.status, std::string(options_.body_bytes, 'x')};
}

bool Leaf::fails(std::uint64_t number) const {
  return Random(options_.seed + number).chance(options_.fail_percent / 100);
}

}  // namespace damper::demo
