// May a request be sent again? RFC 9110 §9.2.2: only if its effect is that of sending it once, or
// if it was surely not processed.
#pragma once
#include "config/model/retry.h"
#include "filters/retry/outcome.h"

namespace damper::retry {

// Where the request's idempotency key comes from.
enum class KeyOrigin : std::uint8_t { kNone, kClient, kMadeHere };

// GET, HEAD, OPTIONS, TRACE, PUT or DELETE.
bool is_idempotent_method(std::string_view method);

// May the request be repeated after bytes of it were sent? A key that we made ourselves counts only
// where the upstream is known to honour keys.
bool is_repeatable(std::string_view method, KeyOrigin key, const config::RetryPolicy& policy,
                   bool cluster_honours_key);

// May it be repeated after this outcome? A status counts as "may have been processed" unless
// retry_non_idempotent_on names it.
bool may_repeat_after(const Outcome& outcome, bool repeatable, const config::RetryPolicy& policy);

}  // namespace damper::retry
