// retry_policy and hedge_policy. Envoy config.route.v3.RetryPolicy, HedgePolicy.
#pragma once
#include "config/cursor.h"
#include "config/model/retry.h"

namespace damper::config {

RetryPolicy read_retry_policy(Cursor c);
HedgePolicy read_hedge_policy(Cursor c);

}  // namespace damper::config
