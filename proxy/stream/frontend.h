// What all requests of one listener share. FrontendConfig is compiled once for all workers and
// immutable; a Frontend is one worker's view of it. On a reload new requests get a new one, and the
// old one lives until its last stream ends.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "config/model/bootstrap.h"
#include "event/timeout_queue.h"
#include "http/worker.h"
#include "net/cidr.h"
#include "net/tls_context.h"
#include "route/table.h"
#include "stats/http_stats.h"
#include "stream/chain_end.h"
#include "upstream/circuit_breaker.h"

namespace damper::stream {

// Makes a filter for one stream. The filter may keep references to what it is given.
using FilterFactory =
    std::function<std::unique_ptr<Filter>(const route::RouteEntry*, StreamContext&, http::Worker&)>;

struct FrontendConfig {
  std::shared_ptr<const config::Bootstrap> bootstrap;
  const config::Listener* listener = nullptr;  // of the bootstrap
  route::RouteTable routes;
  net::CidrSet trust;
  std::vector<FilterFactory> filters;
  std::shared_ptr<stats::HttpStats> stats;
  std::shared_ptr<upstream::Limit>
      connections;                      // max_connections of the listener; null: any number
  std::shared_ptr<net::TlsServer> tls;  // null: plain
};

struct Frontend {
  Frontend(http::Worker& worker_, std::shared_ptr<const FrontendConfig> config_,
           std::function<std::unique_ptr<ChainEnd>(Downstream&)> make_end_,
           std::function<void(const AccessRecord&)> log_)
      : worker(worker_),
        config(std::move(config_)),
        make_end(std::move(make_end_)),
        log(std::move(log_)),
        stream_idle(worker_.loop, options().stream_idle_timeout),
        request_timeout(worker_.loop, options().request_timeout) {}

  const config::HttpOptions& options() const { return config->listener->http; }
  stats::HttpStats& stats() const { return *config->stats; }
  // Of the routes that have an idle_timeout of their own.
  event::TimeoutQueue& idle_queue(Duration timeout) {
    return route_idle.try_emplace(timeout, worker.loop, timeout).first->second;
  }

  http::Worker& worker;
  std::shared_ptr<const FrontendConfig> config;
  std::function<std::unique_ptr<ChainEnd>(Downstream&)> make_end;
  std::function<void(const AccessRecord&)> log;
  event::TimeoutQueue stream_idle;
  event::TimeoutQueue request_timeout;
  std::map<Duration, event::TimeoutQueue> route_idle;
};

}  // namespace damper::stream
