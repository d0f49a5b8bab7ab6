// circuit_breakers: thresholds and retry budgets. Envoy config.cluster.v3.CircuitBreakers.
#pragma once
#include "config/cursor.h"
#include "config/model/cluster.h"

namespace damper::config {

RetryBudget read_retry_budget(Cursor c);
// Fills the cluster's thresholds of both priorities.
void read_circuit_breakers(Cursor c, Cluster& out);

}  // namespace damper::config
