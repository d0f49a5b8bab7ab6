// The ids that an application forwards for tracing. They tie a call that it makes to the request
// that it makes it for.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace damper::legs {

// Views into the head. Empty: there is none.
struct TraceIds {
  std::string_view trace;              // trace-id of traceparent (W3C Trace Context §3.2.2)
  std::string_view request;            // x-request-id
  std::string_view b3;                 // trace id of b3 or x-b3-traceid
  std::optional<std::uint64_t> nonce;  // of tracestate: which request on this host exactly

  bool none() const { return trace.empty() && request.empty() && b3.empty() && !nonce; }
};

TraceIds trace_ids(const http::Fields& fields);
// Without the nonce, which tells a request that comes in nothing: it is another host's.
TraceIds plain_trace_ids(const http::Fields& fields);

// Puts our member at the head of tracestate, in the place of one that another hop has put there.
// Nothing without a traceparent: a tracestate alone means nothing (§3.3).
void set_tracestate_member(http::Fields& fields, std::string_view key, std::string_view value);

inline constexpr std::string_view kNonceMember = "damper";
std::string format_nonce(std::uint64_t nonce);

}  // namespace damper::legs
