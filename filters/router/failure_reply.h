// The one place that says what an attempt without a response means to the client: status, flag,
// details, text. Envoy's words, so that dashboards and alerts go on working.
#pragma once
#include <string>

#include "filters/router/attempt.h"
#include "stream/access_record.h"

namespace damper::router {

struct FailureReply {
  int status;
  stream::Flag flag;
  std::string_view reason;  // Envoy's reset reason, for details and text
};

FailureReply failure_reply(retry::Failure failure);
std::string failure_details(const AttemptFailure& failure, bool response_started);
std::string failure_body(const AttemptFailure& failure, bool retried);

// Retry-After: whole seconds, never less than asked for.
std::string retry_after_text(Duration wait);

// What an outcome says about its host. `patience`: the host asked for it, which is no evidence
// against it.
upstream::Evidence evidence_of(const retry::Outcome& outcome, Duration patience);

bool may_ask_for_patience(const retry::Outcome& outcome);  // a 503 or a 429
// How long the response asks to be left alone (Retry-After and its kind), at most
// retry_after.max_wait; 0: it does not.
Duration host_patience(const retry::Outcome& outcome, const config::RetryPolicy* policy,
                       WallTime now);

}  // namespace damper::router
