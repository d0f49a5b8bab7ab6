// Settings of the HTTP filters, one struct a filter, and the list of them that a listener holds.
#pragma once
#include <variant>

#include "config/model/common.h"

namespace damper::config {

// Delays or aborts a share of requests: Envoy HTTPFault.
struct FaultFilter {
  Fraction delay_share{0};
  Duration delay{};
  Fraction abort_share{0};
  int abort_status = 503;
  std::vector<HeaderMatch> headers;  // only requests that match
  bool operator==(const FaultFilter&) const = default;
};

// Adds, sets and removes headers: Envoy HeaderMutation.
struct HeadersFilter {
  HeaderMutations mutations;
  bool operator==(const HeadersFilter&) const = default;
};

// Refuses bodies over a size: Envoy Buffer (without buffering: the replay copy is the router's).
struct BufferFilter {
  std::uint64_t max_request_bytes = 0;
  bool operator==(const BufferFilter&) const = default;
};

struct Filter {
  std::string name;
  std::variant<FaultFilter, HeadersFilter, BufferFilter> settings;
  bool operator==(const Filter&) const = default;
};

}  // namespace damper::config
