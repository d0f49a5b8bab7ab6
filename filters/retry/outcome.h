// What one attempt came to, in the words that every retry policy judges by.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/message.h"

namespace damper::retry {

// Why an attempt ended without a response head.
enum class Failure : std::uint8_t {
  kNone,
  kConnectFailure,  // refused, unreachable, no TLS
  kConnectTimeout,
  kReset,          // the connection or the stream broke
  kRefusedStream,  // surely not processed: REFUSED_STREAM, GOAWAY with a last id below ours
  kPerTryTimeout,
  kPerTryIdleTimeout,
  kProtocolError,  // a response that cannot be read
  kOverflow,       // max_connections, max_pending_requests or max_requests
  kNoHealthyHost,
  kBreakerOpen,   // the failure-rate breaker of the cluster
  kRouteTimeout,  // the time of all attempts together is over
};

struct Outcome {
  const http::ResponseHead* response = nullptr;  // null exactly when there is a failure
  const http::Fields* trailers = nullptr;  // of a gRPC response, if they came before any message
  Failure failure = Failure::kNone;
  bool header_matched = false;       // one of the policy's retriable_headers is in the response
  bool request_on_wire = false;      // bytes of the request may have reached the upstream
  bool any_attempt_on_wire = false;  // the same of this attempt or an earlier one
  bool keep_alive_race = false;      // a reused connection died before any byte of the response
  bool graceful_goaway = false;      // kRefusedStream by a GOAWAY(NO_ERROR): the host is draining
  bool is_grpc = false;              // it answers a gRPC call: gRPC's status judges a 200
  bool complete = false;             // of such an answer: nothing more of it will come
};

// A 200 to a gRPC call says nothing yet: its status comes at its end.
bool awaits_grpc_status(const Outcome& outcome);

// Of a response: the HTTP status that it comes to. A 200 to a gRPC call is what its gRPC status
// stands for (http::http_status_for), and 500 if it has ended without one.
int effective_status(const Outcome& outcome);

// The first value under that name in the head, else in the trailers.
std::optional<std::string_view> find(const Outcome& outcome, http::HeaderId id);

// grpc-status of a trailers-only response or of early trailers.
std::optional<int> grpc_status(const Outcome& outcome);

// For logs and statistics: "200", "connect_failure", "reset", "timeout", …; a gRPC call that failed
// with a 200 is "grpc_unavailable", … or "grpc_no_status". Static text.
std::string_view word(const Outcome& outcome);
std::string_view word(Failure failure);

}  // namespace damper::retry
