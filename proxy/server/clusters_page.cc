#include "server/clusters_page.h"

#include <fmt/format.h>

#include "base/json.h"

namespace damper::server {
namespace {

std::string_view health_of(const upstream::Host& host, TimePoint now) {
  return host.ejected(now) ? "/failed_outlier_check" : "healthy";
}

void append_limits(std::string& out, const std::string& name, std::string_view priority,
                   upstream::CircuitBreaker& breaker, upstream::RetryBudget& budget) {
  const auto line = [&](std::string_view what, std::uint64_t value) {
    fmt::format_to(std::back_inserter(out), "{}::{}_priority::{}::{}\n", name, priority, what,
                   value);
  };
  line("max_connections", breaker.connections.max());
  line("max_pending_requests", breaker.pending_requests.max());
  line("max_requests", breaker.requests.max());
  line("active_requests", budget.live().active_originals());
  line("active_retries", budget.live().active_retries());
}

void append_host(std::string& out, const std::string& name, const upstream::Host& host,
                 TimePoint now) {
  fmt::format_to(std::back_inserter(out),
                 "{0}::{1}::rq_active::{2}\n{0}::{1}::health_flags::{3}\n{0}::{1}::weight::{4}\n"
                 "{0}::{1}::priority::{5}\n{0}::{1}::hostname::{6}\n",
                 name, host.text, host.active_requests.load(), health_of(host, now), host.weight,
                 host.priority, host.hostname);
}

void append_breaker(std::string& out, const upstream::ClusterState& state, TimePoint now) {
  const auto is = state.failure_breaker.state(now);
  if (is == upstream::FailureBreaker::State::kOff) return;
  fmt::format_to(std::back_inserter(out), "{}::breaker::state::{}\n", state.name, word(is));
}

}  // namespace

std::string clusters_text(const Snapshot& snapshot, const HostsOf& hosts, TimePoint now) {
  std::string out;
  for (std::size_t i = 0; i < snapshot.clusters.size(); ++i) {
    upstream::ClusterState& state = *snapshot.clusters[i];
    for (const auto& [word, priority] : {std::pair{"default", config::Priority::kDefault},
                                         std::pair{"high", config::Priority::kHigh}}) {
      append_limits(out, state.name, word, state.breaker(priority), state.budget(priority));
    }
    append_breaker(out, state, now);
    for (const upstream::HostPtr& host : hosts(i)) append_host(out, state.name, *host, now);
  }
  return out;
}

std::string clusters_json(const Snapshot& snapshot, const HostsOf& hosts, TimePoint now) {
  std::string out = "{\"cluster_statuses\":[";
  for (std::size_t i = 0; i < snapshot.clusters.size(); ++i) {
    if (i > 0) out += ',';
    out += "{\"name\":";
    append_json_string(out, snapshot.clusters[i]->name);
    out += ",\"breaker_state\":";
    append_json_string(out, word(snapshot.clusters[i]->failure_breaker.state(now)));
    out += ",\"host_statuses\":[";
    bool first = true;
    for (const upstream::HostPtr& host : hosts(i)) {
      if (!std::exchange(first, false)) out += ',';
      out += "{\"address\":";
      append_json_string(out, host->text);
      fmt::format_to(
          std::back_inserter(out),
          ",\"health_status\":{{\"eds_health_status\":\"{}\",\"failed_outlier_check\":{}}}"
          ",\"weight\":{},\"priority\":{},\"rq_active\":{}}}",
          host->ejected(now) ? "UNHEALTHY" : "HEALTHY", host->ejected(now), host->weight,
          host->priority, host->active_requests.load());
    }
    out += "]}";
  }
  return out + "]}\n";
}

}  // namespace damper::server
