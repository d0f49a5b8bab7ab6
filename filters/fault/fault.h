// Delays or aborts a share of requests (Envoy HTTPFault): how a service learns what its callers do
// in trouble. A request that is no gRPC call is aborted with the HTTP status that a grpc_status
// stands for (Envoy answers it with a 200).
#pragma once
#include <memory>
#include <vector>

#include "base/random.h"
#include "config/model/filters.h"
#include "route/matchers.h"
#include "stream/filter.h"

namespace damper::filters {

class Fault final : public stream::Filter {
 public:
  // The dice are thrown once, when the request comes.
  Fault(const config::FaultFilter& settings, const std::vector<route::HeaderMatcher>& only,
        stream::StreamContext& stream, Random& random);

  stream::Verdict on_request_head(http::RequestHead& head, bool end) override;

 private:
  stream::Verdict abort_or_continue();

  const config::FaultFilter& settings_;
  const std::vector<route::HeaderMatcher>& only_;
  stream::StreamContext& stream_;
  const bool delays_;
  const bool aborts_;
  std::unique_ptr<event::Timer>
      timer_;  // dies with the stream: it never fires into one that is over
};

}  // namespace damper::filters
