// When a server says that it wants to be asked again: Retry-After (RFC 9110 §10.2.3),
// grpc-retry-pushback-ms, and the reset headers of the configuration.
#pragma once
#include "base/random.h"
#include "base/time.h"
#include "config/model/retry.h"
#include "filters/retry/outcome.h"

namespace damper::retry {

struct ServerWait {
  Duration wait{};               // 0: it does not say, or "at once": the ordinary back-off holds
  bool said = false;             // there was such a header, whatever stood in it
  std::uint32_t unreadable = 0;  // values that were ignored
};

// The first header that names a time to come holds: pushback, the reset headers in their order,
// Retry-After. `now` is what dates are compared with.
ServerWait read_server_wait(const config::RetryAfter& rules, const Outcome& outcome, WallTime now);

// grpc-retry-pushback-ms with anything but one number of milliseconds (gRFC A6).
bool pushback_forbids_retry(const Outcome& outcome);
// A gRPC call failed with that: whatever its status, gRPC's throttle counts it as a failure.
bool says_stop(const Outcome& outcome);

// Uniform in [told, min(1.5 · told, fits)): never earlier than told, and not all at once.
// Exactly `told` if nothing more fits.
Duration draw_server_wait(Duration told, Duration fits, Random& random);

}  // namespace damper::retry
