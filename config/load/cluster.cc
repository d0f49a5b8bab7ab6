#include "config/load/cluster.h"

#include <algorithm>

#include "config/load/budget.h"
#include "config/load/common.h"
#include "config/load/endpoints.h"
#include "config/load/tls.h"
#include "config/load/upstream_http.h"
#include "config/session.h"

namespace damper::config {
namespace {

constexpr std::string_view kCares =
    "envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig";
constexpr std::string_view kDnsCluster = "envoy.extensions.clusters.dns.v3.DnsCluster";
constexpr Duration kShortestRefresh = 1ms;

void read_dns_family(Cursor& c, Cluster& out) {
  using Family = Cluster::DnsFamily;
  c.read_word<Family>("dns_lookup_family", out.dns_family,
                      {{"AUTO", Family::kAuto},
                       {"V4_ONLY", Family::kV4Only},
                       {"V6_ONLY", Family::kV6Only},
                       {"V4_PREFERRED", Family::kV4Preferred},
                       {"ALL", Family::kAll}});
  c.read("dns_refresh_rate", out.dns_refresh_rate, kShortestRefresh);
  c.read("respect_dns_ttl", out.respect_dns_ttl);
}

void read_resolvers(const std::vector<Cursor>& items, Cluster& out) {
  for (const Cursor& item : items) {
    Endpoint server;
    if (read_address(item, HostForm::kIp, server)) out.dns_servers.push_back(std::move(server));
  }
}

void read_dns(Cursor& c, Cluster& out) {
  read_dns_family(c, out);
  read_resolvers(c.list("dns_resolvers"), out);  // before typed_dns_resolver_config
  Cursor resolver = c.object("typed_dns_resolver_config");
  if (!resolver) return;
  std::string ignored_name;
  resolver.read("name", ignored_name);
  if (Cursor config = resolver.object("typed_config")) {
    if (expect_type(config, kCares)) {
      read_resolvers(config.list("resolvers"), out);
      config.no_other_keys("CaresDnsResolverConfig");
    }
  } else {
    resolver.missing("typed_config");
  }
  resolver.no_other_keys("TypedExtensionConfig");
}

// cluster_type, the newer way to write type: *_DNS.
void read_cluster_type(Cursor c, Cluster& out) {
  if (!c) return;
  std::string name;
  c.read("name", name);
  Cursor config = c.object("typed_config");
  c.no_other_keys("CustomClusterType");
  const std::string type = config ? read_type(config) : "";
  if (type != kDnsCluster) return c.unsupported("cluster type " + (type.empty() ? name : type));
  bool single = false;
  config.read("all_addresses_in_single_endpoint", single);
  read_dns_family(config, out);
  config.no_other_keys("DnsCluster");
  out.type = single ? Cluster::Type::kLogicalDns : Cluster::Type::kStrictDns;
}

void read_choice_count(Cursor c, Cluster& out) {
  c.read("choice_count", out.choice_count, Range<std::uint32_t>{.least = 2});
  c.no_other_keys("LeastRequestLbConfig");
}

// load_balancing_policy: as in Envoy, the first policy of the list that is known holds.
void read_load_balancing_policy(Cursor c, Cluster& out) {
  using Policy = Cluster::LbPolicy;
  constexpr std::pair<std::string_view, Policy> kTypes[] = {
      {"envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin", Policy::kRoundRobin},
      {"envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest",
       Policy::kLeastRequest},
      {"envoy.extensions.load_balancing_policies.random.v3.Random", Policy::kRandom}};
  if (!c) return;
  for (Cursor item : c.list("policies")) {
    Cursor extension = item.object("typed_extension_config");
    Cursor config = extension.object("typed_config");
    const std::string type = config ? read_type(config) : "";
    const auto* known = std::find_if(std::begin(kTypes), std::end(kTypes),
                                     [&](const auto& t) { return t.first == type; });
    if (known == std::end(kTypes)) continue;
    out.lb_policy = known->second;
    return read_choice_count(config, out);
  }
  c.unsupported("these load balancing policies");
}

void read_load_balancing(Cursor& c, Cluster& out) {
  using Policy = Cluster::LbPolicy;
  c.read_word<Policy>("lb_policy", out.lb_policy,
                      {{"ROUND_ROBIN", Policy::kRoundRobin},
                       {"LEAST_REQUEST", Policy::kLeastRequest},
                       {"RANDOM", Policy::kRandom},
                       {"LOAD_BALANCING_POLICY_CONFIG", Policy::kRoundRobin}});
  read_choice_count(c.object("least_request_lb_config"), out);
  read_load_balancing_policy(c.object("load_balancing_policy"), out);
  if (Cursor common = c.object("common_lb_config")) {
    common.read_percent("healthy_panic_threshold", out.panic_threshold_percent);
    common.no_other_keys("CommonLbConfig");
  }
}

constexpr Range<std::uint32_t> kPercent{.least = 0, .most = 100};

void read_success_rates(Cursor& c, OutlierDetection& out) {
  c.read("success_rate_minimum_hosts", out.success_rate_minimum_hosts);
  c.read("success_rate_request_volume", out.success_rate_request_volume);
  c.read("success_rate_stdev_factor", out.success_rate_stdev_factor);
  c.read("enforcing_success_rate", out.enforcing_success_rate, kPercent);
  c.read("enforcing_local_origin_success_rate", out.enforcing_local_origin_success_rate, kPercent);
  c.read("failure_percentage_minimum_hosts", out.failure_percentage_minimum_hosts);
  c.read("failure_percentage_request_volume", out.failure_percentage_request_volume);
  c.read("failure_percentage_threshold", out.failure_percentage_threshold, kPercent);
  c.read("enforcing_failure_percentage", out.enforcing_failure_percentage, kPercent);
  c.read("enforcing_failure_percentage_local_origin", out.enforcing_failure_percentage_local_origin,
         kPercent);
}

OutlierDetection read_outlier_detection(Cursor c) {
  OutlierDetection out;
  c.read("consecutive_5xx", out.consecutive_5xx);
  c.read("consecutive_gateway_failure", out.consecutive_gateway_failure);
  c.read("consecutive_local_origin_failure", out.consecutive_local_origin_failure);
  c.read("split_external_local_origin_errors", out.split_external_local_origin_errors);
  c.read("enforcing_consecutive_5xx", out.enforcing_consecutive_5xx, kPercent);
  c.read("enforcing_consecutive_gateway_failure", out.enforcing_consecutive_gateway_failure,
         kPercent);
  c.read("enforcing_consecutive_local_origin_failure",
         out.enforcing_consecutive_local_origin_failure, kPercent);
  read_success_rates(c, out);
  c.read("interval", out.interval, Duration(1ms));
  c.read("base_ejection_time", out.base_ejection_time, Duration(1ms));
  // As in Envoy: a longer base raises a maximum that is not written.
  out.max_ejection_time = std::max(out.max_ejection_time, out.base_ejection_time);
  c.read("max_ejection_time", out.max_ejection_time, Duration(1ms));
  c.read("max_ejection_time_jitter", out.max_ejection_time_jitter);
  c.read("max_ejection_percent", out.max_ejection_percent, kPercent);
  c.read("always_eject_one_host", out.always_eject_one_host);
  c.no_other_keys("OutlierDetection");
  return out;
}

FailureBreaker read_breaker(Cursor c) {
  FailureBreaker out;
  constexpr Range<std::uint32_t> kAtLeastOne{.least = 1};
  constexpr Duration kShortestWindow = 10ms;
  c.read_percent("failure_percent", out.failure_percent);
  if (out.failure_percent <= 0) c.at("failure_percent").error("must be above 0");
  c.read("min_requests", out.min_requests, kAtLeastOne);
  c.read("window", out.window, kShortestWindow);
  c.read("open_for", out.open_for, kPositive);
  c.read("probes", out.probes, kAtLeastOne);
  c.no_other_keys("FailureBreaker");
  return out;
}

TcpKeepalive read_keepalive(Cursor c) {
  TcpKeepalive out;
  c.read("keepalive_probes", out.probes, Range<std::uint32_t>{.least = 1});
  const auto read_seconds = [&](std::string_view key, Duration& target) {
    std::uint32_t seconds = 0;
    if (const Cursor value = c.at(key);
        value.get(seconds, Range<std::uint32_t>{.least = 1, .most = 32767})) {
      target = std::chrono::seconds(seconds);
    }
  };
  read_seconds("keepalive_time", out.time);
  read_seconds("keepalive_interval", out.interval);
  c.no_other_keys("TcpKeepalive");
  return out;
}

void read_connections(Cursor& c, Cluster& out) {
  c.read("connect_timeout", out.connect_timeout, kPositive);
  c.read("per_connection_buffer_limit_bytes", out.buffer_limit_bytes);
  if (Cursor options = c.object("upstream_connection_options")) {
    if (const Cursor keepalive = options.object("tcp_keepalive"))
      out.tcp_keepalive = read_keepalive(keepalive);
    options.no_other_keys("UpstreamConnectionOptions");
  }
  if (Cursor bind = c.object("upstream_bind_config")) {
    if (const Cursor source = bind.at("source_address")) {
      Endpoint address;
      if (read_socket_address(source, PortIs::kOptional, HostForm::kIp, address))
        out.source_address = address;
    }
    bind.no_other_keys("BindConfig");
  }
}

void read_damper_words(Cursor& c, Cluster& out) {
  c.read_word<bool>("marks", out.ignore_marks, {{"heed", false}, {"ignore", true}});
  c.read("honours_idempotency_key", out.honours_idempotency_key);
  if (const Cursor breaker = c.object("breaker")) out.breaker = read_breaker(breaker);
}

void read_type_word(Cursor& c, Cluster& out) {
  using Type = Cluster::Type;
  c.one_of({"type", "cluster_type"}, false);
  c.read_word<Type>("type", out.type,
                    {{"STATIC", Type::kStatic},
                     {"STRICT_DNS", Type::kStrictDns},
                     {"LOGICAL_DNS", Type::kLogicalDns}});
  read_cluster_type(c.object("cluster_type"), out);
}

}  // namespace

Cluster read_cluster(Cursor c) {
  Cluster out;
  if (!c.is_mapping_or_error()) return out;
  if (!c.has("name")) c.missing("name");
  c.read("name", out.name);
  read_type_word(c, out);
  read_connections(c, out);
  read_load_balancing(c, out);
  read_dns(c, out);
  read_endpoints(c, out);
  read_circuit_breakers(c.object("circuit_breakers"), out);
  if (const Cursor outlier = c.object("outlier_detection"))
    out.outlier_detection = read_outlier_detection(outlier);
  read_upstream_tls(c, out);
  read_upstream_http(c, out);
  read_damper_words(c, out);
  c.no_other_keys("Cluster");
  return out;
}

}  // namespace damper::config
