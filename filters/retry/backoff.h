// How long to wait before a retry when the server does not say: exponential, with full jitter, so
// that clients that failed together do not come back together.
#pragma once
#include "base/random.h"
#include "config/model/retry.h"

namespace damper::retry {

// min(cap, base · 2^retries): `retries` is 0 before the first.
Duration backoff_bound(const config::BackOff& back_off, std::uint32_t retries);

// Uniform in [0, bound), in whole milliseconds, as Envoy draws it: a loop wakes no more exactly,
// and a wait that rounds to none needs no wake at all.
Duration draw_backoff(Duration bound, Random& random);

}  // namespace damper::retry
