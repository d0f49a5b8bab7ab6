// Upstream clusters. Envoy config.cluster.v3.
#pragma once
#include "config/model/common.h"
#include "config/model/retry.h"
#include "config/model/tls.h"

namespace damper::config {

struct Thresholds {  // Envoy CircuitBreakers.Thresholds
  std::uint32_t max_connections = 1024;
  std::uint32_t max_pending_requests = 1024;
  std::uint32_t max_requests = 1024;
  std::optional<std::uint32_t> max_retries;  // written and no retry_budget: it alone holds
  std::optional<RetryBudget> retry_budget;   // neither: RetryBudget::standard()
  bool track_remaining = false;
  bool operator==(const Thresholds&) const = default;
};

struct ClusterEndpoint {
  Endpoint address;
  std::uint32_t weight = 1;
  std::uint32_t priority = 0;
  std::string hostname;  // for auto_host_rewrite
  bool operator==(const ClusterEndpoint&) const = default;
};

// Envoy OutlierDetection.
struct OutlierDetection {
  std::uint32_t consecutive_5xx = 5;
  std::uint32_t consecutive_gateway_failure = 5;
  std::uint32_t consecutive_local_origin_failure = 5;
  bool split_external_local_origin_errors = false;
  std::uint32_t enforcing_consecutive_5xx = 100;
  std::uint32_t enforcing_consecutive_gateway_failure = 0;
  std::uint32_t enforcing_consecutive_local_origin_failure = 100;
  std::uint32_t success_rate_minimum_hosts = 5;
  std::uint32_t success_rate_request_volume = 100;
  std::uint32_t success_rate_stdev_factor = 1900;  // thousandths
  std::uint32_t enforcing_success_rate = 100;
  std::uint32_t enforcing_local_origin_success_rate = 100;
  std::uint32_t failure_percentage_minimum_hosts = 5;
  std::uint32_t failure_percentage_request_volume = 50;
  std::uint32_t failure_percentage_threshold = 85;
  std::uint32_t enforcing_failure_percentage = 0;
  std::uint32_t enforcing_failure_percentage_local_origin = 0;
  Duration interval = 10s;
  Duration base_ejection_time = 30s;
  Duration max_ejection_time = 300s;
  Duration max_ejection_time_jitter{};
  std::uint32_t max_ejection_percent = 10;
  bool always_eject_one_host = false;  // even if that is more than max_ejection_percent
  bool operator==(const OutlierDetection&) const = default;
};

// The failure-rate breaker: Damper's own (semantics.md §10).
struct FailureBreaker {
  double failure_percent = 50;      // of the attempts in the window: at so many it opens,
  std::uint32_t min_requests = 20;  //   if there were at least so many
  Duration window = 10s;
  Duration open_for = 5s;    // until probes may pass
  std::uint32_t probes = 3;  // at a time, and successes that close it
  bool operator==(const FailureBreaker&) const = default;
};

struct TcpKeepalive {
  std::uint32_t probes = 3;
  Duration time = 60s;  // idle until the first probe
  Duration interval = 10s;
  bool operator==(const TcpKeepalive&) const = default;
};

// kAuto: as ALPN chooses; kDownstream: as the client speaks.
enum class UpstreamHttp : std::uint8_t { kHttp1, kHttp2, kAuto, kDownstream };

struct Cluster {
  std::string name;
  enum class Type { kStatic, kStrictDns, kLogicalDns };
  Type type = Type::kStatic;
  Duration connect_timeout = 5s;
  enum class LbPolicy { kRoundRobin, kLeastRequest, kRandom };
  LbPolicy lb_policy = LbPolicy::kRoundRobin;
  std::uint32_t choice_count = 2;  // of least request
  double panic_threshold_percent = 50;
  std::vector<ClusterEndpoint> endpoints;
  Thresholds thresholds;                      // priority DEFAULT
  std::optional<Thresholds> thresholds_high;  // priority HIGH
  std::optional<OutlierDetection> outlier_detection;

  enum class DnsFamily { kAuto, kV4Only, kV6Only, kV4Preferred, kAll };
  DnsFamily dns_family = DnsFamily::kAuto;
  Duration dns_refresh_rate = 5s;
  bool respect_dns_ttl = false;
  std::vector<Endpoint> dns_servers;  // empty: the system's

  std::optional<UpstreamTls> tls;

  UpstreamHttp http = UpstreamHttp::kHttp1;
  Http2Options http2;
  bool enable_trailers = false;                   // HTTP/1: trailers both ways
  Duration idle_timeout = 1h;                     // of a pooled connection; 0: none
  Duration max_connection_duration{};             // 0: none
  std::uint32_t max_requests_per_connection = 0;  // 0: any
  std::uint32_t max_response_headers_kb = 60;
  std::uint32_t max_response_headers_count = 100;
  std::uint32_t buffer_limit_bytes = 1024 * 1024;  // per_connection_buffer_limit_bytes
  std::optional<TcpKeepalive> tcp_keepalive;       // on by default upstream: see net/socket.h
  std::optional<RetryPolicy>
      retry_policy;  // HttpProtocolOptions.retry_policy: goes before the route's
  std::optional<Endpoint> source_address;  // upstream_bind_config
  // Damper's own.
  bool honours_idempotency_key = false;
  bool ignore_marks = false;  // marks: ignore
  std::optional<FailureBreaker> breaker;
  bool operator==(const Cluster&) const = default;
};

}  // namespace damper::config
