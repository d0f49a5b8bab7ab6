// Refuses request bodies over a size with 413 (Envoy Buffer). It does not hold them back: Damper
// streams bodies, and what a retry needs of them the router keeps.
#pragma once
#include "config/model/filters.h"
#include "stream/filter.h"

namespace damper::filters {

class BodyLimit final : public stream::Filter {
 public:
  explicit BodyLimit(const config::BufferFilter& settings) : settings_(settings) {}

  stream::Verdict on_request_head(http::RequestHead& head, bool) override {
    return judge(head.content_length.value_or(0));
  }
  stream::Verdict on_request_body(Buffer& body, bool) override {
    seen_bytes_ += body.size();
    return judge(seen_bytes_);
  }

 private:
  stream::Verdict judge(std::uint64_t bytes) const {
    if (bytes <= settings_.max_request_bytes) return stream::Continue{};
    return stream::Reply{
        .status = 413, .body = "Payload Too Large", .details = "request_payload_too_large"};
  }

  const config::BufferFilter& settings_;
  std::uint64_t seen_bytes_ = 0;
};

}  // namespace damper::filters
