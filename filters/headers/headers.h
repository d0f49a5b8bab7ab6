// Adds, sets and removes headers of requests and responses (Envoy HeaderMutation).
#pragma once
#include "route/mutate.h"
#include "stream/filter.h"

namespace damper::filters {

class Headers final : public stream::Filter {
 public:
  Headers(const route::LevelMutators& mutators, stream::StreamContext& stream)
      : mutators_(mutators), stream_(stream) {}

  stream::Verdict on_request_head(http::RequestHead& head, bool) override {
    mutators_.request.apply(head.fields, stream_.record());
    return stream::Continue{};
  }
  void on_response_head(http::ResponseHead& head, bool) override {
    mutators_.response.apply(head.fields, stream_.record());
  }

 private:
  const route::LevelMutators& mutators_;
  stream::StreamContext& stream_;
};

}  // namespace damper::filters
