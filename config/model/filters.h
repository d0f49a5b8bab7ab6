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
  std::optional<int> abort_grpc_status;  // in its place
  std::vector<HeaderMatch> headers;      // only requests that match
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

// Shadow: what would be refused is counted, and nothing is refused.
enum class FilterMode { kEnforce, kShadow };

// Reads, enforces and tells deadlines (semantics.md §6).
struct DeadlineFilter {
  std::optional<Duration> expected_cost;  // of an answer: with less than that left it is refused
  bool learn_cost = false;                // expected_cost: learned
  Duration margin = 5ms;                  // added to it
  Duration max = 300s;
  std::optional<Duration> if_none;           // `default`: of requests that come without
  std::optional<Duration> min_attempt_time;  // what a retry needs; none: learned
  enum class Form { kAbsolute, kRelative, kGrpc };
  struct Header {
    std::string name;  // lower case
    Form form = Form::kAbsolute;
    bool operator==(const Header&) const = default;
  };
  static constexpr std::size_t kMostHeaders = 16;
  std::vector<Header> headers;  // read besides the usual ones
  std::vector<std::string> emit = {"x-deadline", "x-envoy-expected-rq-timeout-ms"};
  FilterMode mode = FilterMode::kEnforce;
  bool operator==(const DeadlineFilter&) const = default;
};

// A limit that follows what the service can bear: filters/admission/adaptive_limit.h.
struct AdaptiveLimit {
  std::uint32_t initial = 20;
  std::uint32_t min = 3;
  std::uint32_t max = 1000;
  Duration window = 100ms;            // of one judgement, at least
  std::uint32_t percentile = 50;      // of the latencies in a window, what is compared
  double tolerance_percent = 25;      // over the minimum latency: counts as no slower
  Duration remeasure_interval = 30s;  // of the minimum latency
  bool operator==(const AdaptiveLimit&) const = default;
};

// Bounds how many requests are beyond it at a time; the others wait, or are refused.
struct AdmissionFilter {
  std::variant<std::uint32_t, AdaptiveLimit> max_concurrency;  // must be written
  std::optional<std::uint32_t> max_queue;                      // none: as many as the limit
  Duration max_wait = 1s;
  FilterMode mode = FilterMode::kEnforce;
  bool operator==(const AdmissionFilter&) const = default;
};

// Finds the idempotency key of requests, or makes one (semantics.md §8).
struct IdempotencyFilter {
  bool generate = false;
  std::string header = "idempotency-key";  // lower case
  bool operator==(const IdempotencyFilter&) const = default;
};

using FilterSettings = std::variant<FaultFilter, HeadersFilter, BufferFilter, DeadlineFilter,
                                    AdmissionFilter, IdempotencyFilter>;

struct Filter {
  std::string name;
  FilterSettings settings;
  bool operator==(const Filter&) const = default;
};

// What a route, virtual host or weighted cluster changes about the filter of that name:
// typed_per_filter_config. The most specific one holds and replaces the filter's settings as a
// whole.
struct FilterOverride {
  std::string name;
  bool disabled = false;
  std::optional<FilterSettings> settings;  // none and not disabled: as in the chain
  bool operator==(const FilterOverride&) const = default;
};

}  // namespace damper::config
