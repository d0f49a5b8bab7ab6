// Virtual hosts, routes and what they do. Envoy config.route.v3.
#pragma once
#include <variant>

#include "config/model/common.h"
#include "config/model/filters.h"
#include "config/model/retry.h"

namespace damper::config {

struct QueryMatch {
  std::string name;
  std::optional<StringMatch> value;
  bool present = true;  // without a value: must the parameter be there?
  bool operator==(const QueryMatch&) const = default;
};

struct RouteMatch {
  enum class Path { kPrefix, kExact, kPathSeparatedPrefix, kRegex };
  Path path = Path::kPrefix;
  std::string text = "/";
  bool case_sensitive = true;
  std::vector<HeaderMatch> headers;
  std::vector<QueryMatch> query_parameters;
  bool grpc = false;  // only gRPC requests
  std::optional<Fraction> runtime_fraction;
  bool operator==(const RouteMatch&) const = default;
};

struct WeightedCluster {
  std::string name;
  std::uint32_t weight = 0;
  HeaderMutations headers;
  bool operator==(const WeightedCluster&) const = default;
};

struct RegexRewrite {
  std::string pattern;
  std::string substitution;  // RE2's \1
  bool operator==(const RegexRewrite&) const = default;
};

// Which layer of a chain retries (semantics.md §7).
enum class LayerRole { kNearest, kEntrance, kOff, kEvery };

struct RouteAction {
  std::string cluster;                             // or
  std::vector<WeightedCluster> weighted_clusters;  // or
  std::string cluster_header;
  Duration timeout = 15s;                   // 0: none
  std::optional<Duration> idle_timeout;     // overrides stream_idle_timeout; 0: none
  std::optional<RetryPolicy> retry_policy;  // overrides the virtual host's
  std::optional<HedgePolicy> hedge_policy;
  std::string prefix_rewrite;
  std::optional<RegexRewrite> regex_rewrite;
  std::string host_rewrite_literal;
  bool auto_host_rewrite = false;
  std::optional<Duration> max_stream_duration;  // of the whole stream; 0: none
  std::optional<Duration>
      grpc_timeout_header_max;  // present: grpc-timeout is enforced, up to this; 0: without a cap
  std::optional<Duration> grpc_timeout_header_offset;
  Priority priority = Priority::kDefault;
  std::optional<bool> websocket;  // upgrade_configs of the route
  int cluster_not_found_status = 503;
  // Damper's own.
  LayerRole layer = LayerRole::kNearest;
  bool marks() const { return layer != LayerRole::kEvery; }  // sends and heeds them
  bool inherit = true;  // take over deadline and marks of the inbound request (architecture.md §6)
  bool operator==(const RouteAction&) const = default;
};

struct DirectResponse {
  int status = 200;
  std::string body;
  bool operator==(const DirectResponse&) const = default;
};

struct Redirect {
  int status = 301;
  bool https = false;
  std::string scheme;
  std::string host;
  std::uint16_t port = 0;
  std::string path;
  std::string prefix_rewrite;
  std::optional<RegexRewrite> regex_rewrite;
  bool strip_query = false;
  bool operator==(const Redirect&) const = default;
};

struct Route {
  std::string name;
  RouteMatch match;
  std::variant<RouteAction, DirectResponse, Redirect> action;
  HeaderMutations headers;
  std::vector<FilterOverride> filter_overrides;
  std::optional<std::uint64_t> request_body_buffer_limit;  // bytes kept for replay
  std::string stat_prefix;
  bool operator==(const Route&) const = default;
};

struct VirtualHost {
  std::string name;
  std::vector<std::string> domains;  // exact, "*.suffix", "prefix.*", "*"
  std::vector<Route> routes;
  HeaderMutations headers;
  std::vector<FilterOverride> filter_overrides;
  std::optional<RetryPolicy> retry_policy;
  std::optional<HedgePolicy> hedge_policy;
  std::optional<std::uint64_t> request_body_buffer_limit;
  bool include_request_attempt_count = false;
  bool include_attempt_count_in_response = false;
  bool include_is_timeout_retry_header = false;
  enum class RequireTls { kNone, kExternalOnly, kAll };
  RequireTls require_tls = RequireTls::kNone;
  bool operator==(const VirtualHost&) const = default;
};

struct RouteConfig {
  std::string name;
  std::vector<VirtualHost> virtual_hosts;
  HeaderMutations headers;
  std::vector<FilterOverride> filter_overrides;
  bool most_specific_header_mutations_wins = false;
  bool ignore_port_in_host_matching = false;
  bool operator==(const RouteConfig&) const = default;
};

}  // namespace damper::config
