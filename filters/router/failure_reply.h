// The one place that says what an attempt without a response means to the client: status, flag,
// details, text. Envoy's words, so that dashboards and alerts go on working.
#pragma once
#include <string>

#include "filters/router/attempt.h"
#include "stream/filter.h"

namespace damper::router {

struct FailureReply {
  int status;
  stream::Flag flag;
  std::string_view reason;  // Envoy's reset reason, for details and text
};

FailureReply failure_reply(const AttemptFailure& failure);
std::string failure_details(const AttemptFailure& failure, bool response_started);
// The part of these details that is the connection's own word: why TLS failed, for example.
std::string_view transport_failure_in(std::string_view details, retry::Failure failure);
std::string failure_body(const AttemptFailure& failure, bool retried);

// A server that was told grpc-timeout ends the call by a reset when that is over, at the moment at
// which our own timer is due. Then the deadline has ended it, whichever of the two came first.
// `left`: of the call's time, by a clock that was read after the reset. As the timeout was told in
// whole milliseconds it may be over up to one sooner over there; so early only CANCEL is taken for
// it, with which gRPC's servers say so.
bool is_end_of_deadline(const AttemptFailure& failure, Duration left);

// x-envoy-overloaded where a limit refused, and Retry-After in whole seconds, never less than asked
// for.
void append_failure_headers(stream::Reply& reply, const AttemptFailure& failure,
                            bool suppress_envoy_headers);

// Why the cluster's breaker lets no attempt be made: come back when probes may pass.
AttemptFailure breaker_refusal(const upstream::Cluster& cluster, TimePoint now);

// What an outcome says about its host. `patience`: the host asked for it, which is no evidence
// against it. A gRPC status counts as the HTTP status that it stands for, as in Envoy:
// UNAVAILABLE and DEADLINE_EXCEEDED like a gateway's errors; UNKNOWN, INTERNAL, DATA_LOSS,
// UNIMPLEMENTED and a call that ended without a status as errors; the others are no failure.
upstream::Evidence evidence_of(const retry::Outcome& outcome, Duration patience);

// A 503 or a 429, or the gRPC status that stands for it.
bool may_ask_for_patience(const retry::Outcome& outcome);
// How long the response asks to be left alone (Retry-After, pushback and their kind), at most
// retry_after.max_wait; 0: it does not.
Duration host_patience(const retry::Outcome& outcome, const config::RetryPolicy* policy,
                       WallTime now);

}  // namespace damper::router
