// Envoy's connection_keepalive: an HTTP/2 connection from which nothing has come for an interval is
// sent a PING, and closed if nothing comes within a timeout either. Any byte counts as life.
#pragma once
#include <functional>
#include <memory>

#include "config/model/common.h"
#include "net/connection.h"

namespace damper::http {

class KeepAlive {
 public:
  // Null where the options want none. `seed` spreads the interval over its jitter; `ping` queues a
  // PING. The connection owns it and outlives it.
  static std::unique_ptr<KeepAlive> make(net::Connection& connection,
                                         const config::Http2Options& options, std::uint64_t seed,
                                         std::function<void()> ping);

 private:
  KeepAlive(net::Connection& connection, Duration interval, Duration timeout,
            std::function<void()> ping);

  void on_time();

  net::Connection& connection_;
  const Duration interval_;
  const Duration timeout_;
  const std::function<void()> ping_;
  std::uint64_t seen_;
  bool asked_ = false;
  std::unique_ptr<event::Timer> timer_;
};

}  // namespace damper::http
