#include "config/load.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace damper::config {
namespace {

const std::string kSource = DAMPER_SOURCE_DIR;

Bootstrap load(const std::string& text, const LoadOptions& options = {}) {
  const Loaded loaded = load_text("test.yaml", text, options);
  EXPECT_TRUE(loaded.bootstrap) << loaded.diagnostics.render_all();
  return loaded.bootstrap ? *loaded.bootstrap : Bootstrap{};
}

Cluster load_cluster(const std::string& fields) {
  const Bootstrap b =
      load("clusters:\n- name: app\n  endpoints: [ \"127.0.0.1:80\" ]\n  " + fields + "\n");
  return b.clusters.empty() ? Cluster{} : b.clusters.front();
}

Thresholds load_thresholds(const std::string& fields) {
  return load_cluster("circuit_breakers: { thresholds: [ { " + fields + " } ] }").thresholds;
}

Listener load_listener(const std::string& fields) {
  const Bootstrap b =
      load("listeners:\n- name: in\n  address: 127.0.0.1:80\n  routes: []\n  " + fields + "\n");
  return b.listeners.empty() ? Listener{} : b.listeners.front();
}

Route load_route(const std::string& route) {
  const Bootstrap b = load("listeners:\n- address: 127.0.0.1:80\n  routes:\n  - " + route +
                           "\nclusters: [ { name: app, endpoints: [ \"127.0.0.1:81\" ] } ]\n");
  return b.listeners.empty() ? Route{} : b.listeners[0].http.routes.virtual_hosts[0].routes[0];
}

RouteAction load_action(const std::string& fields) {
  return std::get<RouteAction>(
      load_route("{ match: { prefix: / }, route: { cluster: app, " + fields + " } }").action);
}

RetryPolicy load_retry_policy(const std::string& fields) {
  return load_action("retry_policy: { " + fields + " }").retry_policy.value_or(RetryPolicy{});
}

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
  EXPECT_EQ(short_form.listeners.front().http.filters.size(), 3u);
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

TEST(Load, UnnamedListenersAreNamedByTheirAddress) {
  const Bootstrap b = load("listeners:\n- { address: \"127.0.0.1:80\", routes: [] }\n");
  EXPECT_EQ(b.listeners[0].name, "127.0.0.1:80");
  EXPECT_EQ(b.listeners[0].http.stat_prefix, "127.0.0.1:80");
}

TEST(Load, TheFilesOfTheExamplesLoadWithoutAWarning) {
  for (const char* name : {"minimal", "sidecar", "envoy"}) {
    const Loaded loaded = load_file(kSource + "/config/examples/" + name + ".yaml");
    EXPECT_TRUE(loaded.bootstrap);
    EXPECT_EQ(loaded.diagnostics.render_all(), "");
  }
}

TEST(Load, AFileThatIsNotThereIsSaidSo) {
  const std::string folder = kSource + "/config";
  EXPECT_EQ(load_file("no/such.yaml").diagnostics.render_all(),
            "no/such.yaml: cannot be read: No such file or directory\n");
  EXPECT_EQ(load_file(folder).diagnostics.render_all(),
            folder + ": cannot be read: Is a directory\n");
}

TEST(RetryBudget, HasThePartsThatAreWritten) {
  const BudgetConcurrency standard;
  struct Case {
    const char* fields;
    std::optional<RetryBudget> budget;
  };
  const Case cases[] = {
      {"", std::nullopt},
      {"max_retries: 5", std::nullopt},
      {"retry_budget: {}", RetryBudget{.concurrency = standard}},
      {"retry_budget: { disabled: false }", RetryBudget{.concurrency = standard}},
      {"retry_budget: { budget_percent: 50 }",
       RetryBudget{.concurrency = BudgetConcurrency{50, 3}}},
      {"retry_budget: { min_retry_concurrency: 9 }",
       RetryBudget{.concurrency = BudgetConcurrency{20, 9}}},
      {"retry_budget: { window: {} }", RetryBudget{.window = BudgetWindow{}}},
      {"retry_budget: { max_retries_per_second: 7 }", RetryBudget{.max_retries_per_second = 7}},
      {"retry_budget: { min_retry_concurrency: 3, window: {} }", RetryBudget::standard()},
      {"retry_budget: { disabled: true }", RetryBudget{.disabled = true}},
      {"retry_budget: { budget_interval: 0s }", RetryBudget{.concurrency = standard}},
      {"retry_budget: { budget_interval: 10ms, budget_percent: 5, min_retry_concurrency: 0 }",
       RetryBudget{.window = BudgetWindow{.interval = 10ms,
                                          .ratio_percent = 5,
                                          .min_retries = 0,
                                          .credit = BudgetWindow::Credit::kRequests}}},
      {"retry_budget: { window: { interval: 5s, ratio: 10%, min_retries: 0, credit: requests, "
       "timeout_cost: 1, unprocessed_cost: 2 } }",
       RetryBudget{.window = BudgetWindow{5s, 10, 0, BudgetWindow::Credit::kRequests, 1, 2}}},
  };
  for (const Case& c : cases)
    EXPECT_EQ(load_thresholds(c.fields).retry_budget, c.budget) << c.fields;
  EXPECT_EQ(load_thresholds("max_retries: 5").max_retries, 5u);
}

TEST(RetryBudget, PercentagesAndRatiosHaveSeveralForms) {
  for (const char* percent :
       {"20", "20.0", "20%", "\"20%\"", "{ value: 20 }", "{ value: 20.0 }", "2e1"}) {
    const auto budget =
        load_thresholds("retry_budget: { budget_percent: " + std::string(percent) + " }")
            .retry_budget;
    EXPECT_EQ(budget->concurrency->percent, 20) << percent;
  }
  const std::pair<const char*, double> ratios[] = {{"0.9", 90},   {"0.29", 29},         {"0.07", 7},
                                                   {"90%", 90},   {"1", 100},           {"0", 0},
                                                   {"0.5%", 0.5}, {"{ value: 15 }", 15}};
  for (const auto& [text, percent] : ratios) {
    const auto budget =
        load_thresholds("retry_budget: { window: { ratio: " + std::string(text) + " } }")
            .retry_budget;
    EXPECT_EQ(budget->window->ratio_percent, percent) << text;
  }
}

TEST(Thresholds, TheFirstOfAPriorityHolds) {
  EXPECT_EQ(load_thresholds("max_requests: 5 }, { max_requests: 6").max_requests, 5u);
}

TEST(RetryPolicy, IsReadInFull) {
  const RetryPolicy policy = load_retry_policy(R"(
    retry_on: "5xx, unavailable,retriable-status-codes,retriable-headers", num_retries: "3", per_try_timeout: 0.5s,
    per_try_idle_timeout: 100ms, retriable_status_codes: [ 503, "429" ],
    retriable_headers: [ { name: X-Retry, present_match: true } ],
    retriable_request_headers: [ { name: ":method", string_match: { safe_regex: { regex: "GET|HEAD" } } } ],
    retry_back_off: { base_interval: 0.05s, max_interval: 0.5s },
    rate_limited_retry_back_off: { max_interval: 60s, reset_headers: [ { name: X-Reset, format: UNIX_TIMESTAMP } ] },
    retry_host_predicate: [ { name: envoy.retry_host_predicates.previous_hosts } ],
    host_selection_retry_max_attempts: "5", idempotent: true, retry_non_idempotent_on: [ 503 ], honours_idempotency_key: true)");
  RetryPolicy expected;
  for (const auto condition : {RetryOn::k5xx, RetryOn::kGrpcUnavailable,
                               RetryOn::kRetriableStatusCodes, RetryOn::kRetriableHeaders}) {
    expected.retry_on.add(condition);
  }
  expected.num_retries = 3;
  expected.per_try_timeout = 500ms;
  expected.per_try_idle_timeout = 100ms;
  expected.retriable_status_codes = {503, 429};
  expected.retriable_headers = {{.name = "x-retry", .value = std::nullopt, .range = std::nullopt}};
  expected.retriable_request_headers = {
      {.name = ":method",
       .value = StringMatch{.kind = StringMatch::Kind::kRegex, .text = "GET|HEAD"},
       .range = std::nullopt}};
  expected.back_off = {.base_interval = 50ms, .max_interval = 500ms};
  expected.retry_after = {
      .ignore = false,
      .max_wait = 60s,
      .reset_headers = {{.name = "x-reset", .format = ResetHeader::Format::kUnixTimestamp}}};
  expected.host_selection_retry_max_attempts = 5;
  expected.idempotent = true;
  expected.retry_non_idempotent_on = {503};
  expected.honours_idempotency_key = true;
  EXPECT_EQ(policy, expected);
}

TEST(RetryPolicy, EveryConditionIsKnownByItsToken) {
  for (const RetryOnToken& t : retry_on_tokens()) {
    RetryConditions expected;
    expected.add(t.condition);
    EXPECT_EQ(load_retry_policy("retry_on: " + std::string(t.token)).retry_on, expected) << t.token;
  }
}

TEST(RetryPolicy, ZeroSecondsPerTryIsNone) {
  EXPECT_EQ(load_retry_policy("retry_on: 5xx, per_try_timeout: 0s").per_try_timeout,
            Duration::zero());
}

TEST(RetryAfterSettings, HaveAWordAndAMapping) {
  EXPECT_TRUE(load_retry_policy("retry_after: ignore").retry_after.ignore);
  EXPECT_TRUE(load_retry_policy("retry_after: { ignore: true }").retry_after.ignore);
  EXPECT_EQ(load_retry_policy("retry_after: { max_wait: 5s }").retry_after.max_wait, 5s);
  // Envoy's cap where its message is written, unless ours is, too.
  const std::string limited =
      "rate_limited_retry_back_off: { reset_headers: [ { name: retry-after } ] }";
  EXPECT_EQ(load_retry_policy(limited).retry_after.max_wait, 300s);
  EXPECT_EQ(load_retry_policy(limited + ", retry_after: { max_wait: 5s }").retry_after.max_wait,
            5s);
}

TEST(RouteActions, AreReadInFull) {
  const RouteAction action = load_action(R"(
    timeout: 0s, idle_timeout: 1h, prefix_rewrite: /new, host_rewrite_literal: b.example, priority: HIGH,
    cluster_not_found_response_code: NOT_FOUND, upgrade_configs: [ { upgrade_type: WebSocket, enabled: false } ],
    max_stream_duration: { max_stream_duration: 0s, grpc_timeout_header_max: 3s, grpc_timeout_header_offset: 10ms },
    hedge_policy: { hedge_on_per_try_timeout: false }, layer: { role: entrance }, inherit: none)");
  RouteAction expected;
  expected.cluster = "app";
  expected.timeout = 0s;
  expected.idle_timeout = 1h;
  expected.prefix_rewrite = "/new";
  expected.host_rewrite_literal = "b.example";
  expected.priority = Priority::kHigh;
  expected.cluster_not_found_status = 404;
  expected.websocket = false;
  expected.max_stream_duration = 0s;
  expected.grpc_timeout_header_max = 3s;
  expected.grpc_timeout_header_offset = 10ms;
  expected.hedge_policy.emplace();
  expected.layer = LayerRole::kEntrance;
  expected.inherit = false;
  EXPECT_EQ(action, expected);
  EXPECT_EQ(load_action("layer: off").layer, LayerRole::kOff);
}

TEST(RouteMatches, HaveSixKinds) {
  using Path = RouteMatch::Path;
  const std::pair<const char*, RouteMatch> cases[] = {
      {"prefix: /a", {.path = Path::kPrefix, .text = "/a"}},
      {"path: /a, case_sensitive: false",
       {.path = Path::kExact, .text = "/a", .case_sensitive = false}},
      {"path_separated_prefix: /a", {.path = Path::kPathSeparatedPrefix, .text = "/a"}},
      {"safe_regex: { regex: /a.*, google_re2: {} }", {.path = Path::kRegex, .text = "/a.*"}},
      {"prefix: /, grpc: {}", {.grpc = true}},
      {"prefix: /, query_parameters: [ { name: q, string_match: { exact: x } } ]",
       {.query_parameters = {{.name = "q", .value = StringMatch{.text = "x"}}}}},
      {"prefix: /, runtime_fraction: { default_value: { numerator: 1, denominator: TEN_THOUSAND } "
       "}",
       {.runtime_fraction = Fraction{100}}},
  };
  for (const auto& [text, match] : cases) {
    EXPECT_EQ(
        load_route("{ match: { " + std::string(text) + " }, direct_response: { status: 200 } }")
            .match,
        match)
        << text;
  }
}

TEST(HeaderMatches, ReadTheOlderFieldsToo) {
  const std::pair<const char*, HeaderMatch> cases[] = {
      {"{ name: X-A }", {.name = "x-a"}},
      {"{ name: x-a, present_match: false }", {.name = "x-a", .present = false}},
      {"{ name: x-a, exact_match: b, invert_match: true }",
       {.name = "x-a", .value = StringMatch{.text = "b"}, .invert = true}},
      {"{ name: x-a, string_match: { suffix: b, ignore_case: true } }",
       {.name = "x-a",
        .value =
            StringMatch{.kind = StringMatch::Kind::kSuffix, .text = "b", .ignore_case = true}}},
      {"{ name: x-a, safe_regex_match: { regex: b } }",
       {.name = "x-a", .value = StringMatch{.kind = StringMatch::Kind::kRegex, .text = "b"}}},
      {"{ name: x-a, range_match: { start: \"-5\", end: 5 }, treat_missing_header_as_empty: true }",
       {.name = "x-a",
        .range = std::pair<std::int64_t, std::int64_t>(-5, 5),
        .treat_missing_as_empty = true}},
  };
  for (const auto& [text, match] : cases) {
    const Route route = load_route("{ match: { prefix: /, headers: [ " + std::string(text) +
                                   " ] }, direct_response: { status: 200 } }");
    EXPECT_EQ(route.match.headers, std::vector<HeaderMatch>{match}) << text;
  }
}

TEST(Routes, RedirectAndReplyAndChangeHeaders) {
  const Route redirect = load_route(
      "{ match: { prefix: / }, redirect: { https_redirect: true, port_redirect: 8443, "
      "prefix_rewrite: /b, response_code: PERMANENT_REDIRECT, strip_query: true } }");
  EXPECT_EQ(std::get<Redirect>(redirect.action), (Redirect{.status = 308,
                                                           .https = true,
                                                           .port = 8443,
                                                           .prefix_rewrite = "/b",
                                                           .strip_query = true}));
  const Route reply = load_route(
      "{ match: { prefix: / }, direct_response: { status: 503, body: { inline_string: no } }, "
      "response_headers_to_add: [ { header: { key: X-A, value: b }, append: false } ] }");
  EXPECT_EQ(std::get<DirectResponse>(reply.action), (DirectResponse{.status = 503, .body = "no"}));
  EXPECT_EQ(
      reply.headers.response_add,
      (std::vector<HeaderAdd>{
          {.name = "x-a", .value = "b", .append = HeaderAdd::Append::kOverwriteIfExistsOrAdd}}));
}

TEST(Routes, OverrideFilters) {
  const Route route = load_route(
      R"({ match: { prefix: / }, direct_response: { status: 200 }, typed_per_filter_config: {
    fault: { "@type": type.googleapis.com/envoy.config.route.v3.FilterConfig, disabled: true },
    small: { "@type": type.googleapis.com/envoy.extensions.filters.http.buffer.v3.BufferPerRoute, buffer: { max_request_bytes: 5 } } } })");
  ASSERT_EQ(route.filter_overrides.size(), 2u);
  EXPECT_EQ(route.filter_overrides[0],
            (FilterOverride{.name = "fault", .disabled = true, .settings = std::nullopt}));
  EXPECT_EQ(route.filter_overrides[1],
            (FilterOverride{.name = "small", .disabled = false, .settings = BufferFilter{5}}));
}

TEST(HeaderMutationFilter, ARemovalUndoesAnEarlierAddition) {
  const Listener listener = load_listener(R"(http_filters:
  - name: h
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation
      mutations: { request_mutations: [ { append: { header: { key: a, value: "1" } } }, { remove: A }, { append: { header: { key: a, value: "2" } } } ] })");
  const auto& mutations = std::get<HeadersFilter>(listener.http.filters.at(0).settings).mutations;
  ASSERT_EQ(mutations.request_add.size(), 1u);
  EXPECT_EQ(mutations.request_add[0].value, "2");
  EXPECT_EQ(mutations.request_remove, std::vector<std::string>{"a"});
}

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

TEST(Clusters, TheTypeOfEndpointsIsChosenByTheirForm) {
  const auto type_of = [](const std::string& fields) {
    return load("clusters: [ { name: a, " + fields + " } ]").clusters[0].type;
  };
  EXPECT_EQ(type_of("endpoints: [ \"10.0.0.1:80\", \"[::1]:80\", \"unix:/run/a\" ]"),
            Cluster::Type::kStatic);
  EXPECT_EQ(type_of("endpoints: [ \"10.0.0.1:80\", \"a.svc:80\" ]"), Cluster::Type::kStrictDns);
  EXPECT_EQ(type_of("type: LOGICAL_DNS, endpoints: [ \"a.svc:80\" ]"), Cluster::Type::kLogicalDns);
  EXPECT_EQ(type_of("cluster_type: { name: envoy.clusters.dns, typed_config: { \"@type\": "
                    "type.googleapis.com/envoy.extensions.clusters.dns.v3.DnsCluster, "
                    "all_addresses_in_single_endpoint: true } }"),
            Cluster::Type::kLogicalDns);
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

TEST(OutlierDetection, ALongBaseTimeRaisesTheMaximumThatIsNotWritten) {
  EXPECT_EQ(load_cluster("outlier_detection: { base_ejection_time: 10m }")
                .outlier_detection->max_ejection_time,
            10min);
  EXPECT_EQ(load_cluster("outlier_detection: { base_ejection_time: 10m, max_ejection_time: 5m }")
                .outlier_detection->max_ejection_time,
            5min);
}

TEST(Listeners, AreReadInFull) {
  const Listener listener = load_listener(R"(edge: true
  enable_reuse_port: false
  tcp_backlog_size: 5
  per_connection_buffer_limit_bytes: 2048
  use_remote_address: true
  internal_address_config: { cidr_ranges: [ { address_prefix: 127.0.0.0, prefix_len: 8 } ] }
  server_header_transformation: PASS_THROUGH
  path_with_escaped_slashes_action: UNESCAPE_AND_REDIRECT
  http_protocol_options: { accept_http_10: true, default_host_for_http_10: a, enable_trailers: true }
  common_http_protocol_options: { idle_timeout: 0s, headers_with_underscores_action: REJECT_REQUEST }
  upgrade_configs: [ { upgrade_type: websocket } ])");
  EXPECT_TRUE(listener.edge);
  EXPECT_FALSE(listener.reuse_port);
  EXPECT_EQ(listener.backlog, 5);
  EXPECT_EQ(listener.buffer_limit_bytes, 2048u);
  EXPECT_TRUE(listener.http.use_remote_address);
  EXPECT_EQ(listener.http.internal_addresses,
            (std::vector<CidrRange>{{.address_prefix = "127.0.0.0", .prefix_len = 8}}));
  EXPECT_EQ(listener.http.server_header, HttpOptions::ServerHeader::kPassThrough);
  EXPECT_EQ(listener.http.path_with_escaped_slashes,
            HttpOptions::EscapedSlashes::kUnescapeAndRedirect);
  EXPECT_EQ(listener.http.http1,
            (Http1Options{
                .accept_http_10 = true, .default_host_for_http_10 = "a", .enable_trailers = true}));
  EXPECT_EQ(listener.http.idle_timeout, 0s);
  EXPECT_EQ(listener.http.headers_with_underscores, HttpOptions::Underscores::kRejectRequest);
  EXPECT_TRUE(listener.http.websocket);
}

TEST(AccessLogs, HaveShortForms) {
  const auto first = [](const std::string& form) {
    return load_listener("access_log: " + form).http.access_logs.at(0);
  };
  EXPECT_EQ(first("stdout"), (AccessLog{.path = "/dev/stdout", .text_format = ""}));
  EXPECT_EQ(first("stderr"), (AccessLog{.path = "/dev/stderr", .text_format = ""}));
  EXPECT_EQ(first("/var/log/a.log"), (AccessLog{.path = "/var/log/a.log", .text_format = ""}));
  EXPECT_EQ(first("{ path: a.log, format: \"%DURATION%\" }"),
            (AccessLog{.path = "a.log", .text_format = "%DURATION%"}));
  EXPECT_EQ(first("json").path, "/dev/stdout");
  EXPECT_FALSE(first("json").json->object.empty());
  EXPECT_EQ(first("{ path: a.log, json: true }").json, first("json").json);
  EXPECT_EQ(load_listener("access_log: [ stdout, a.log ]").http.access_logs.size(), 2u);
}

TEST(AccessLogs, JsonKeepsItsShape) {
  const Listener listener =
      load_listener("access_log: { json: { b: \"%A%\", a: [ 5, true, null, \"6\" ] } }");
  const auto& json = listener.http.access_logs.at(0).json->object;
  using Kind = AccessLog::Json::Kind;
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0].first, "b");
  EXPECT_EQ(json[0].second.text, "%A%");
  std::vector<Kind> kinds;
  for (const auto& item : json[1].second.list) kinds.push_back(item.kind);
  EXPECT_EQ(kinds, (std::vector<Kind>{Kind::kNumber, Kind::kBool, Kind::kNull, Kind::kText}));
}

TEST(AccessLogs, FiltersFormATree) {
  const Listener listener = load_listener(
      "access_log: { filter: { and_filter: { filters: [ { status_code_filter: { comparison: { op: "
      "GE, value: { default_value: 400 } } } }, "
      "{ response_flag_filter: { flags: [ UO ] } }, { grpc_status_filter: { statuses: [ "
      "UNAVAILABLE ], exclude: true } } ] } } }");
  const LogFilter& filter = *listener.http.access_logs.at(0).filter;
  EXPECT_EQ(filter.kind, LogFilter::Kind::kAnd);
  ASSERT_EQ(filter.filters.size(), 3u);
  EXPECT_EQ(filter.filters[0].comparison, LogFilter::Comparison::kGreaterOrEqual);
  EXPECT_EQ(filter.filters[0].value, 400u);
  EXPECT_EQ(filter.filters[1].flags, std::vector<std::string>{"UO"});
  EXPECT_EQ(filter.filters[2].grpc_statuses, std::vector<int>{14});
  EXPECT_TRUE(filter.filters[2].exclude);
}

TEST(LoadOptions, PatternsAreTriedWhereTheyStand) {
  const LoadOptions options{
      .check_pattern = [](const std::string& pattern) -> std::optional<std::string> {
        return pattern == "(" ? std::optional<std::string>("missing )") : std::nullopt;
      },
      .overlay = ""};
  const Loaded loaded =
      load_text("a.yaml",
                "listeners:\n- address: 127.0.0.1:80\n  routes:\n"
                "  - match: { safe_regex: { regex: ( } }\n    direct_response: { status: 200 }\n"
                "  - match: { safe_regex: { regex: a } }\n    direct_response: { status: 200 }\n",
                options);
  EXPECT_EQ(loaded.diagnostics.render_all(),
            "a.yaml:4:35: listeners[0].routes[0].match.safe_regex.regex: not a regular expression "
            "(RE2): missing )\n"
            "     4 |   - match: { safe_regex: { regex: ( } }\n"
            "       |                                   ^\n");
}

TEST(LoadOptions, AnOverlayChangesTheFile) {
  const std::string file =
      "admin: { address: \"127.0.0.1:9901\" }\nclusters: [ { name: a, endpoints: [ \"127.0.0.1:1\" "
      "] } ]\n";
  const Bootstrap b =
      load(file, {.check_pattern = {},
                  .overlay = "admin: { address: \"127.0.0.1:9902\" }\nclusters: [ { name: b } ]"});
  EXPECT_EQ(b.admin->address.port, 9902);
  EXPECT_EQ(b.clusters.size(), 2u);
  const Loaded wrong =
      load_text("a.yaml", file, {.check_pattern = {}, .overlay = "admin: { adress: 5 }"});
  EXPECT_EQ(wrong.diagnostics.render_all(),
            "--config-yaml:1:10: admin: unknown key \"adress\"\n"
            "     1 | admin: { adress: 5 }\n"
            "       |          ^~~~~~ did you mean \"address\"?\n");
}

}  // namespace
}  // namespace damper::config
