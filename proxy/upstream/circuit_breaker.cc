#include "upstream/circuit_breaker.h"

namespace damper::upstream {

Limit::Ticket Limit::take() {
  Ticket ticket(this);
  if (used_.fetch_add(1, std::memory_order_relaxed) < max()) return ticket;
  return Ticket();  // the first one gives its place back
}

void CircuitBreaker::reconfigure(const config::Thresholds& thresholds) {
  connections.set_max(thresholds.max_connections);
  pending_requests.set_max(thresholds.max_pending_requests);
  requests.set_max(thresholds.max_requests);
}

}  // namespace damper::upstream
