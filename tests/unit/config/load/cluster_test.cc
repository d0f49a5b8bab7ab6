#include "config/load/cluster.h"

#include <gtest/gtest.h>

#include "tests/support/config_text.h"

namespace damper::config {
namespace {

TEST(Clusters, AreReadInFull) {
  const Cluster cluster = load_cluster(R"(connect_timeout: 1s
  lb_policy: LEAST_REQUEST
  least_request_lb_config: { choice_count: 3 }
  common_lb_config: { healthy_panic_threshold: { value: 0 } }
  dns_lookup_family: V4_ONLY
  dns_refresh_rate: 0.5s
  respect_dns_ttl: true
  typed_dns_resolver_config:
    name: envoy.network.dns_resolver.cares
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig
      resolvers: [ { socket_address: { address: 127.0.0.1, port_value: 53 } } ]
      query_tries: 1
  per_connection_buffer_limit_bytes: 65536
  upstream_bind_config: { source_address: { address: 127.0.0.2, port_value: 0 } }
  marks: ignore
  honours_idempotency_key: true
  typed_extension_protocol_options:
    envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
      "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
      explicit_http_config: { http_protocol_options: { enable_trailers: true } }
      common_http_protocol_options: { idle_timeout: 0.4s, max_connection_duration: 5m, max_requests_per_connection: 7, max_headers_count: 50 })");
  Cluster expected;
  expected.name = "app";
  expected.endpoints = {{.address = {.host = "127.0.0.1", .port = 80, .unix_path = ""},
                         .weight = 1,
                         .priority = 0,
                         .hostname = ""}};
  expected.connect_timeout = 1s;
  expected.lb_policy = Cluster::LbPolicy::kLeastRequest;
  expected.choice_count = 3;
  expected.panic_threshold_percent = 0;
  expected.dns_family = Cluster::DnsFamily::kV4Only;
  expected.dns_refresh_rate = 500ms;
  expected.respect_dns_ttl = true;
  expected.dns_servers = {{.host = "127.0.0.1", .port = 53, .unix_path = ""}};
  expected.buffer_limit_bytes = 65536;
  expected.source_address = Endpoint{.host = "127.0.0.2", .port = 0, .unix_path = ""};
  expected.ignore_marks = true;
  expected.honours_idempotency_key = true;
  expected.enable_trailers = true;
  expected.idle_timeout = 400ms;
  expected.max_connection_duration = 5min;
  expected.max_requests_per_connection = 7;
  expected.max_response_headers_count = 50;
  EXPECT_EQ(cluster, expected);
}

TEST(Clusters, LoadBalancingPoliciesAreReadInTheNewFormToo) {
  const Cluster cluster = load_cluster(
      "load_balancing_policy: { policies: [ { typed_extension_config: { name: a, typed_config: { "
      "\"@type\": "
      "type.googleapis.com/envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest, "
      "choice_count: 4 } } } ] }");
  EXPECT_EQ(cluster.lb_policy, Cluster::LbPolicy::kLeastRequest);
  EXPECT_EQ(cluster.choice_count, 4u);
}

TEST(FailureBreaker, IsOffUnlessItIsWritten) {
  EXPECT_EQ(load_cluster("").breaker, std::nullopt);
  EXPECT_EQ(load_cluster("breaker: {}").breaker, FailureBreaker{});
  const FailureBreaker all{
      .failure_percent = 25, .min_requests = 5, .window = 30s, .open_for = 2s, .probes = 1};
  EXPECT_EQ(load_cluster("breaker: { failure_percent: 25%, min_requests: 5, window: 30s, "
                         "open_for: 2s, probes: 1 }")
                .breaker,
            all);
}

TEST(OutlierDetection, RatesAreRead) {
  OutlierDetection expected;
  expected.success_rate_minimum_hosts = 3;
  expected.success_rate_request_volume = 10;
  expected.success_rate_stdev_factor = 1000;
  expected.enforcing_success_rate = 50;
  expected.enforcing_local_origin_success_rate = 40;
  expected.failure_percentage_minimum_hosts = 2;
  expected.failure_percentage_request_volume = 20;
  expected.failure_percentage_threshold = 60;
  expected.enforcing_failure_percentage = 30;
  expected.enforcing_failure_percentage_local_origin = 20;
  expected.max_ejection_time_jitter = 2s;
  const std::string rates =
      "success_rate_minimum_hosts: 3, success_rate_request_volume: 10, success_rate_stdev_factor: "
      "1000, enforcing_success_rate: 50, enforcing_local_origin_success_rate: 40, "
      "failure_percentage_minimum_hosts: 2, failure_percentage_request_volume: 20, "
      "failure_percentage_threshold: 60, enforcing_failure_percentage: 30, "
      "enforcing_failure_percentage_local_origin: 20, max_ejection_time_jitter: 2s";
  EXPECT_EQ(load_cluster("outlier_detection: { " + rates + " }").outlier_detection, expected);
}

TEST(OutlierDetection, ALongBaseTimeRaisesTheMaximumThatIsNotWritten) {
  EXPECT_EQ(load_cluster("outlier_detection: { base_ejection_time: 10m }")
                .outlier_detection->max_ejection_time,
            10min);
  EXPECT_EQ(load_cluster("outlier_detection: { base_ejection_time: 10m, max_ejection_time: 5m }")
                .outlier_detection->max_ejection_time,
            5min);
}

}  // namespace
}  // namespace damper::config
