#include "upstream/dns_cluster.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace damper::upstream {
namespace {

using namespace std::chrono_literals;

// The addresses of an answer at the endpoint's port, each once.
std::vector<net::Address> addresses_at(std::uint16_t port, const net::Resolution& answer) {
  std::vector<net::Address> out;
  for (net::Address address : answer.addresses) {
    address.set_port(port);
    if (std::find(out.begin(), out.end(), address) == out.end()) out.push_back(address);
  }
  return out;
}

}  // namespace

DnsCluster::DnsCluster(const config::Cluster& config, const stats::ClusterStats& stats, Tools tools,
                       Report report)
    : config_(config), stats_(stats), tools_(std::move(tools)), report_(std::move(report)) {
  targets_.reserve(config.endpoints.size());
  for (const auto& endpoint : config.endpoints) targets_.push_back(target(endpoint));
  for (Target& one : targets_) {
    if (!one.addresses.empty()) {
      changed_ = true;
      continue;
    }
    one.refresh = tools_.scheduler.timer([this, &one] { ask(one); });
    ++unanswered_;
  }
}

DnsCluster::Target DnsCluster::target(const config::ClusterEndpoint& endpoint) {
  Target out{.endpoint = &endpoint};
  if (const auto literal = net::Address::from_endpoint(endpoint.address)) {
    out.addresses.push_back(*literal);
  }
  return out;
}

void DnsCluster::start() {
  for (Target& one : targets_) {
    if (one.refresh) ask(one);
  }
  report_if_due();
}

void DnsCluster::ask(Target& target) {
  tools_.cells.add(stats_.update_attempt);
  target.query = tools_.resolve(
      target.endpoint->address.host, config_.dns_family,
      [this, &target](const Result<net::Resolution>& answer) { on_answer(target, answer); });
}

void DnsCluster::on_answer(Target& target, const Result<net::Resolution>& answer) {
  if (answer) {
    take(target, *answer);
  } else {
    note_failure(target, answer.error());
  }
  target.refresh->arm(refresh_delay(answer));
  if (!std::exchange(target.answered, true)) --unanswered_;
  report_if_due();
}

void DnsCluster::take(Target& target, const net::Resolution& answer) {
  tools_.cells.add(stats_.update_success);
  if (std::exchange(target.failing, false)) {
    log::info("dns_recovered cluster={} name={}", config_.name, target.endpoint->address.host);
  }
  auto fresh = addresses_at(target.endpoint->address.port, answer);
  if (fresh.empty()) tools_.cells.add(stats_.update_empty);
  if (config_.type == config::Cluster::Type::kLogicalDns) {
    if (fresh.empty()) return;
    fresh.resize(1);
  }
  // Servers rotate their answers: another order is no change.
  auto& known = target.addresses;
  if (std::is_permutation(fresh.begin(), fresh.end(), known.begin(), known.end())) return;
  known = std::move(fresh);
  changed_ = true;
}

void DnsCluster::note_failure(Target& target, const Error& error) {
  tools_.cells.add(stats_.update_failure);
  if (std::exchange(target.failing, true)) return;
  log::warn("dns_failed cluster={} name={} why={}", config_.name, target.endpoint->address.host,
            error.detail);
}

// Spread by ±10%, so that the names of many proxies that started together drift apart.
Duration DnsCluster::refresh_delay(const Result<net::Resolution>& answer) {
  const double spread = 0.9 + 0.2 * tools_.random.unit();
  const bool by_ttl = config_.respect_dns_ttl && answer && answer->ttl > 0s;
  const Duration rate = by_ttl ? Duration(answer->ttl) : config_.dns_refresh_rate;
  const auto delay = std::chrono::duration_cast<Duration>(rate * spread);
  return by_ttl ? std::max<Duration>(delay, 1s) : delay;
}

void DnsCluster::report_if_due() {
  if (unanswered_ > 0) return;
  const bool changed = std::exchange(changed_, false);
  if (std::exchange(reported_, true) && !changed) return;
  const std::vector<ResolvedHost> all = hosts();
  if (changed) tools_.cells.add(stats_.membership_change);
  tools_.cells.set(stats_.membership_total, static_cast<std::int64_t>(all.size()));
  report_(all);
}

std::vector<DnsCluster::ResolvedHost> DnsCluster::hosts() const {
  std::vector<ResolvedHost> out;
  for (const Target& one : targets_) {
    for (const net::Address& address : one.addresses) out.push_back({address, one.endpoint});
  }
  return out;
}

}  // namespace damper::upstream
