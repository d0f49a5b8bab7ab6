#include "config/load/bootstrap.h"

#include <gtest/gtest.h>

#include "tests/support/config_text.h"

namespace damper::config {
namespace {

TEST(Load, BothEnvelopesGiveTheSameConfiguration) {
  const Bootstrap short_form = load(R"(
node: { id: a, cluster: b }
admin: { address: "127.0.0.1:9901", access_log: /dev/null }
listeners:
- name: out
  direction: outbound
  address: 127.0.0.1:15001
  additional_addresses: [ "unix:/run/out.sock" ]
  codec_type: HTTP1
  stream_idle_timeout: 2m
  access_log: stdout
  trust: [ 10.0.0.0/8 ]
  filters:
  - fault: { abort: { http_status: 429, percentage: 5% } }
  - headers:
      request_headers_to_add: [ { header: { key: x-a, value: b }, append_action: ADD_IF_ABSENT } ]
      response_headers_to_remove: [ x-c ]
  - buffer: { max_request_bytes: 1000 }
  - router: { suppress_envoy_headers: true }
  routes:
  - match: { prefix: / }
    route: { cluster: app, timeout: 2500ms }
clusters:
- name: app
  type: STRICT_DNS
  connect_timeout: 250ms
  http: 1
  endpoints:
  - app.svc:80
  - { address: "[::1]:81", weight: 3, priority: 1, hostname: other }
  circuit_breakers:
    thresholds: [ { retry_budget: { budget_percent: 30, min_retry_concurrency: 5 } } ]
)");
  const Bootstrap envoy = load(R"(
node: { id: a, cluster: b }
admin:
  address: { socket_address: { address: 127.0.0.1, port_value: 9901 } }
  access_log:
  - name: file
    typed_config: { "@type": type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog, path: /dev/null }
static_resources:
  listeners:
  - name: out
    traffic_direction: OUTBOUND
    address: { socket_address: { protocol: TCP, address: 127.0.0.1, port_value: 15001 } }
    additional_addresses: [ { address: { pipe: { path: /run/out.sock } } } ]
    trust: [ { address_prefix: 10.0.0.0, prefix_len: 8 } ]
    filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          codec_type: HTTP1
          stat_prefix: out
          stream_idle_timeout: 120s
          access_log:
          - name: out
            typed_config: { "@type": type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog }
          http_filters:
          - name: deadline  # the short form has it without a word
            typed_config: { "@type": type.googleapis.com/damper.filters.deadline.v1.Deadline }
          - name: fault
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault
              abort: { http_status: 429, percentage: { numerator: 5, denominator: HUNDRED } }
          - name: headers
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation
              mutations:
                request_mutations: [ { append: { header: { key: X-A, value: b }, append_action: ADD_IF_ABSENT } } ]
                response_mutations: [ { remove: X-C } ]
          - name: buffer
            typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer, max_request_bytes: 1000 }
          - name: router
            typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router, suppress_envoy_headers: true }
          route_config:
            name: out
            virtual_hosts:
            - name: out
              domains: [ "*" ]
              routes: [ { match: { prefix: / }, route: { cluster: app, timeout: 2.5s } } ]
  clusters:
  - name: app
    type: STRICT_DNS
    connect_timeout: 0.25s
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: { http_protocol_options: {} }
    circuit_breakers:
      thresholds:
      - priority: DEFAULT
        retry_budget: { budget_percent: { value: 30.0 }, min_retry_concurrency: 5 }
    load_assignment:
      cluster_name: app
      endpoints:
      - lb_endpoints: [ { endpoint: { address: { socket_address: { address: app.svc, port_value: 80 } } } } ]
      - priority: 1
        lb_endpoints:
        - endpoint: { hostname: other, address: { socket_address: { address: "::1", port_value: 81 } } }
          load_balancing_weight: 3
)");
  EXPECT_EQ(short_form, envoy);
  EXPECT_EQ(short_form.listeners.front().http.filters.size(), 4u);
}

TEST(Load, BothSpellingsGiveTheSameConfiguration) {
  EXPECT_EQ(
      load(
          R"({ "clusters": [ { "name": "app", "connectTimeout": "1s", "outlierDetection": { "consecutive5xx": 7 } } ] })"),
      load("clusters:\n- name: app\n  connect_timeout: 1s\n  outlier_detection: { consecutive_5xx: "
           "7 }\n"));
}

TEST(Load, WhatIsNotWrittenHasItsDefault) {
  Cluster cluster;
  cluster.name = "app";
  cluster.endpoints = {{.address = {.host = "127.0.0.1", .port = 80, .unix_path = ""},
                        .weight = 1,
                        .priority = 0,
                        .hostname = ""}};
  EXPECT_EQ(load_cluster(""), cluster);

  cluster.outlier_detection.emplace();
  cluster.tcp_keepalive.emplace();
  cluster.thresholds_high.emplace();
  EXPECT_EQ(
      load_cluster("outlier_detection: {}\n  upstream_connection_options: { tcp_keepalive: {} }\n"
                   "  circuit_breakers: { thresholds: [ { priority: HIGH }, {} ] }"),
      cluster);

  Listener listener;
  listener.name = "in";
  listener.address = {.host = "127.0.0.1", .port = 80, .unix_path = ""};
  listener.http.stat_prefix = "in";
  listener.http.routes.name = "in";
  listener.http.routes.virtual_hosts = {{.name = "in", .domains = {"*"}, .routes = {}}};
  listener.http.filters = {{.name = "deadline", .settings = DeadlineFilter{}}};
  EXPECT_EQ(load_listener(""), listener);
  EXPECT_EQ(load_listener("http_protocol_options: {}\n  common_http_protocol_options: {}\n"),
            listener);

  RouteAction action;
  action.cluster = "app";
  action.retry_policy.emplace();
  EXPECT_EQ(load_action("retry_policy: { retry_after: {} }"), action);

  BudgetWindow window;
  EXPECT_EQ(load_thresholds("retry_budget: { window: {} }").retry_budget->window, window);
  EXPECT_EQ(load_retry_policy("retry_back_off: { base_interval: 25ms }").back_off, BackOff{});
  EXPECT_EQ(load("admin: { address: \"127.0.0.1:1\" }\n").admin->access_logs.size(), 0u);
}

}  // namespace
}  // namespace damper::config
