// Attempts' outcomes in a line each, for the tests of retry.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "config/model/retry.h"
#include "filters/retry/outcome.h"

namespace damper::tests {

// A response with the outcome that points at it.
class Response {
 public:
  using Headers = std::vector<std::pair<std::string_view, std::string_view>>;

  explicit Response(int status, const Headers& headers = {}) {
    head_.status = status;
    for (const auto& [name, value] : headers) head_.fields.add(name, value);
  }

  retry::Outcome outcome() const {
    return {.response = &head_, .request_on_wire = true, .any_attempt_on_wire = true};
  }
  // As the whole answer to a gRPC call.
  retry::Outcome grpc_outcome() const {
    retry::Outcome out = outcome();
    out.is_grpc = out.complete = true;
    return out;
  }

 private:
  http::ResponseHead head_;
};

inline retry::Outcome failed(retry::Failure failure, bool on_wire = true) {
  return {.failure = failure, .request_on_wire = on_wire, .any_attempt_on_wire = on_wire};
}

// A connection from the pool that was dead already.
inline retry::Outcome keep_alive_race() {
  retry::Outcome outcome = failed(retry::Failure::kReset);
  outcome.keep_alive_race = true;
  return outcome;
}

inline config::RetryConditions retry_on(std::string_view tokens) {
  config::RetryConditions conditions;
  for (const auto token : split(tokens, ',')) conditions.add(*config::parse_retry_on(token));
  return conditions;
}

}  // namespace damper::tests
