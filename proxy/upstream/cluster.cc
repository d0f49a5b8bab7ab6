#include "upstream/cluster.h"

#include <algorithm>

#include "base/log.h"

namespace damper::upstream {

Cluster::Cluster(http::Worker& worker, std::shared_ptr<const config::Cluster> config,
                 std::shared_ptr<ClusterState> state)
    : worker_(worker),
      config_(std::move(config)),
      state_(std::move(state)),
      timeouts_(worker.loop, *config_),
      balancer_(config_->lb_policy, config_->choice_count, config_->panic_threshold_percent) {}

Cluster::~Cluster() = default;

void Cluster::update_hosts(const Hosts& hosts) {
  for (auto at = pools_.begin(); at != pools_.end();) {
    const bool stays = std::any_of(hosts.begin(), hosts.end(),
                                   [&](const HostPtr& h) { return h.get() == at->first.host; });
    if (stays) {
      ++at;
      continue;
    }
    at->second->drain();
    draining_.push_back(std::move(at->second));
    at = pools_.erase(at);
  }
  forget_drained_pools();
  balancer_.update(hosts);
}

void Cluster::forget_drained_pools() {
  std::erase_if(draining_, [](const auto& pool) { return pool->empty(); });
}

HostPtr Cluster::choose_host(std::span<const HostPtr> tried, bool is_retry) {
  HostPtr host = balancer_.pick(worker_.loop.now(), worker_.random, tried, is_retry);
  if (!host) worker_.cells.add(state_->stats.upstream_cx_none_healthy);
  return host;
}

Pool& Cluster::pool(const HostPtr& host, config::Priority priority, http::Protocol downstream,
                    const std::string& server_name) {
  config::UpstreamHttp http = config_->http;
  if (http == config::UpstreamHttp::kDownstream) {
    http = downstream == http::Protocol::kHttp2 ? config::UpstreamHttp::kHttp2
                                                : config::UpstreamHttp::kHttp1;
  }
  const Key key{host.get(), priority, http, server_name};
  if (const auto at = pools_.find(key); at != pools_.end()) return *at->second;
  if (pools_.size() >= sweep_at_) forget_empty_pools();
  auto& pool = pools_[key];
  pool = std::make_unique<HostPool>(worker_, config_, *state_, timeouts_, host, priority, http,
                                    server_name);
  return *pool;
}

void Cluster::forget_empty_pools() {
  std::erase_if(pools_, [](const auto& entry) { return entry.second->empty(); });
  sweep_at_ = std::max(kManyPools, 2 * pools_.size());
}

std::optional<FailureBreaker::Pass> Cluster::admit() {
  auto pass = state_->failure_breaker.admit(worker_.loop.now());
  if (!pass) worker_.cells.add(state_->stats.breaker.rejected);
  return pass;
}

void Cluster::report(Host& host, Evidence evidence, FailureBreaker::Pass& pass) {
  const TimePoint now = worker_.loop.now();
  for (const OutlierFinding& found :
       state_->outlier.report(host, evidence, balancer_.hosts(), now, worker_.random)) {
    count(found);
  }
  switch (pass.report(worker_.index, evidence, now)) {
    case FailureBreaker::Change::kNone: break;
    case FailureBreaker::Change::kOpened:
      worker_.cells.add(state_->stats.breaker.opened);
      log::warn("breaker_opened cluster={}", state_->name);
      break;
    case FailureBreaker::Change::kClosed:
      log::info("breaker_closed cluster={}", state_->name);
      break;
  }
}

void Cluster::count(const OutlierFinding& found) {
  const stats::OutlierStats& stats = state_->stats.outlier_detection;
  const auto kind = static_cast<std::size_t>(found.kind);
  worker_.cells.add(stats.detected[kind]);
  switch (found.fate) {
    case OutlierFinding::Fate::kEjected:
      worker_.cells.add(stats.enforced[kind]);
      worker_.cells.add(stats.ejections_enforced_total);
      break;
    case OutlierFinding::Fate::kNotEnforced: break;
    case OutlierFinding::Fate::kOverflow: worker_.cells.add(stats.ejections_overflow); break;
  }
}

bool Cluster::any_well_host_but(const Host* host) const {
  const TimePoint now = worker_.loop.now();
  return std::any_of(hosts().begin(), hosts().end(), [&](const HostPtr& h) {
    return h.get() != host && !h->ejected(now) &&
           !h->health.last_attempt_failed.load(std::memory_order_relaxed);
  });
}

}  // namespace damper::upstream
