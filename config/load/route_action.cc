#include "config/load/route_action.h"

#include <numeric>

#include "base/text.h"
#include "config/load/common.h"
#include "config/load/filters.h"
#include "config/load/retry.h"
#include "config/session.h"

namespace damper::config {
namespace {

void read_cluster_name(const Cursor& c, std::string& out) {
  if (c && c.get(out)) c.session().mentions.cluster_names.push_back({out, {c.place(), c.path()}});
}

WeightedCluster read_weighted_cluster(Cursor c) {
  WeightedCluster out;
  if (!c.is_mapping_or_error()) return out;
  if (!c.has("name") && !c.has("cluster_header")) c.missing("name");
  read_cluster_name(c.at("name"), out.name);
  c.read("weight", out.weight);
  out.headers = read_header_mutations(c);
  c.no_other_keys("ClusterWeight");
  return out;
}

std::vector<WeightedCluster> read_weighted_clusters(Cursor c) {
  std::vector<WeightedCluster> out;
  if (!c) return out;
  for (const Cursor& item : c.list("clusters")) out.push_back(read_weighted_cluster(item));
  const auto sum =
      std::accumulate(out.begin(), out.end(), std::uint64_t{0},
                      [](std::uint64_t n, const WeightedCluster& w) { return n + w.weight; });
  if (sum == 0) c.error("the weights come to nothing");
  if (sum > std::numeric_limits<std::uint32_t>::max())
    c.error("the weights come to more than 4294967295");
  c.no_other_keys("WeightedCluster");
  return out;
}

void read_targets(Cursor& c, RouteAction& out) {
  c.one_of({"cluster", "weighted_clusters", "cluster_header"},
           !c.has("cluster_specifier_plugin") && !c.has("inline_cluster_specifier_plugin"));
  read_cluster_name(c.at("cluster"), out.cluster);
  out.weighted_clusters = read_weighted_clusters(c.object("weighted_clusters"));
  if (const Cursor header = c.at("cluster_header")) read_header_name(header, out.cluster_header);
  c.read_word<int>(
      "cluster_not_found_response_code", out.cluster_not_found_status,
      {{"SERVICE_UNAVAILABLE", 503}, {"NOT_FOUND", 404}, {"INTERNAL_SERVER_ERROR", 500}});
}

void read_rewrites(Cursor& c, RouteAction& out) {
  c.one_of({"prefix_rewrite", "regex_rewrite"}, false);
  c.one_of({"host_rewrite_literal", "auto_host_rewrite"}, false);
  c.read("prefix_rewrite", out.prefix_rewrite);
  if (const Cursor rewrite = c.object("regex_rewrite"))
    out.regex_rewrite = read_regex_rewrite(rewrite);
  if (const Cursor host = c.at("host_rewrite_literal"); host.get(out.host_rewrite_literal)) {
    if (!is_header_value(out.host_rewrite_literal))
      host.error("a host holds no line breaks and no NUL");
  }
  c.read("auto_host_rewrite", out.auto_host_rewrite);
}

void read_times(Cursor& c, RouteAction& out) {
  c.read("timeout", out.timeout);
  c.read("idle_timeout", out.idle_timeout);
  if (Cursor limits = c.object("max_stream_duration")) {
    limits.read("max_stream_duration", out.max_stream_duration);
    limits.read("grpc_timeout_header_max", out.grpc_timeout_header_max);
    limits.read("grpc_timeout_header_offset", out.grpc_timeout_header_offset);
    limits.no_other_keys("MaxStreamDuration");
  }
}

// `role: every` in a mapping of its own, or the word alone.
void read_layer(Cursor c, LayerRole& out) {
  if (!c) return;
  const Cursor role = c.is_mapping() ? c.at("role") : c;
  const bool read = role && role.get_word<LayerRole>(out, "role",
                                                     {{"nearest", LayerRole::kNearest},
                                                      {"entrance", LayerRole::kEntrance},
                                                      {"off", LayerRole::kOff},
                                                      {"every", LayerRole::kEvery}});
  if (c.is_mapping()) c.no_other_keys("Layer");
  if (read) c.session().mentions.layers.push_back({out, {role.place(), role.path()}});
}

void read_damper_words(Cursor& c, RouteAction& out) {
  read_layer(c.at("layer"), out.layer);
  c.read_word<bool>("inherit", out.inherit, {{"all", true}, {"none", false}});
}

}  // namespace

RegexRewrite read_regex_rewrite(Cursor c) {
  RegexRewrite out;
  if (!c.has("pattern")) c.missing("pattern");
  const Cursor pattern = c.at("pattern");
  const bool compiles = pattern && read_regex(pattern, out.pattern);
  c.read("substitution", out.substitution);
  const RewriteCheck& check = c.session().check_rewrite;
  if (compiles && check) {
    if (const auto wrong = check(out)) c.at("substitution").error(*wrong);
  }
  c.no_other_keys("RegexMatchAndSubstitute");
  return out;
}

std::optional<bool> read_upgrades(const std::vector<Cursor>& items) {
  std::optional<bool> websocket;
  for (Cursor c : items) {
    if (!c.is_mapping_or_error()) continue;
    std::string type;
    bool enabled = true;
    const Cursor name = c.at("upgrade_type");
    if (!name) c.missing("upgrade_type");
    c.read("enabled", enabled);
    if (name.get(type) && !equals_ignoring_case(type, "websocket")) {
      name.unsupported("upgrade to " + type);
    } else {
      websocket = enabled;
    }
    c.no_other_keys("UpgradeConfig");
  }
  return websocket;
}

RouteAction read_route_action(Cursor c) {
  RouteAction out;
  read_targets(c, out);
  read_times(c, out);
  if (const Cursor policy = c.object("retry_policy")) out.retry_policy = read_retry_policy(policy);
  if (const Cursor policy = c.object("hedge_policy")) out.hedge_policy = read_hedge_policy(policy);
  read_rewrites(c, out);
  c.read_word<Priority>("priority", out.priority,
                        {{"DEFAULT", Priority::kDefault}, {"HIGH", Priority::kHigh}});
  out.websocket = read_upgrades(c.list("upgrade_configs"));
  read_damper_words(c, out);
  c.no_other_keys("RouteAction");
  return out;
}

}  // namespace damper::config
