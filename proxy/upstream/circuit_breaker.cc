#include "upstream/circuit_breaker.h"

namespace damper::upstream {

Limit::Ticket Limit::take() {
  std::uint32_t used = used_.load(std::memory_order_relaxed);
  do {
    if (used >= max()) return Ticket();
  } while (!used_.compare_exchange_weak(used, used + 1, std::memory_order_relaxed));
  return Ticket(this);
}

void CircuitBreaker::reconfigure(const config::Thresholds& thresholds) {
  connections.set_max(thresholds.max_connections);
  pending_requests.set_max(thresholds.max_pending_requests);
  requests.set_max(thresholds.max_requests);
}

}  // namespace damper::upstream
