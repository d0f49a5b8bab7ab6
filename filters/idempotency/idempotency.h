// Finds a request's idempotency key, or makes one at the entrance: the same for every attempt, so
// that a service which honours keys executes the request once (semantics.md §8).
#pragma once
#include "base/random.h"
#include "config/model/filters.h"
#include "stream/filter.h"

namespace damper::filters {

class Idempotency final : public stream::Filter {
 public:
  Idempotency(const config::IdempotencyFilter& settings, stream::StreamContext& stream,
              Random& random)
      : settings_(settings), stream_(stream), random_(random) {}

  stream::Verdict on_request_head(http::RequestHead& head, bool end) override;

 private:
  const config::IdempotencyFilter& settings_;
  stream::StreamContext& stream_;
  Random& random_;
};

}  // namespace damper::filters
