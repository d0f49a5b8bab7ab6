// x-damper-retry: how layers of proxies agree that one of them retries. On a response "final" says
// that the layer nearest to the failure has done what could be done; on a request "owner" says that
// a layer above wants to be the one that retries.
#pragma once
#include <optional>
#include <string>

#include "filters/retry/outcome.h"
#include "filters/retry/verdict.h"
#include "stream/filter.h"

namespace damper::retry {

struct Mark {
  std::string by;              // the node that gave up
  std::uint32_t attempts = 0;  // how many it made
  std::string verdict;         // and why it made no more
  bool operator==(const Mark&) const = default;
};

inline constexpr std::string_view kOwnerMark = "owner";

// "final; by=order-1; attempts=3; verdict=limit". Octets that no token has (RFC 9110 §5.6.2)
// become "_".
std::string format_final(const Mark& mark);

// Parameters may stand in any order and be absent; unknown ones are passed over.
std::optional<Mark> parse_final(std::string_view value);

// Puts it on a response; gRPC's clients and proxies are told in gRPC's words too (gRFC A6).
inline constexpr std::string_view kNoRetryPushback = "-1";
void add_final_mark(http::Fields& response, std::string_view mark, bool is_grpc);
void add_final_mark(stream::Reply& reply, std::string_view mark, bool is_grpc);

// x-envoy-attempt-count, or what grpc-previous-rpc-attempts says; 1 if neither is readable.
std::uint32_t attempt_count(const http::Fields& request);

bool is_owner_mark(std::string_view value);

// Does the response say "do not retry": a final mark, or gRPC's pushback?
bool forbids_retry(const Outcome& outcome);

// Does the answer to a request that ended so carry the mark? Not where this layer could not retry
// at all: the layer above may know better.
bool marks_response(Verdict verdict, std::uint32_t num_retries);
bool marks_response(Failure own_refusal);

}  // namespace damper::retry
