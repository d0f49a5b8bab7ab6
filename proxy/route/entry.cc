#include "route/entry.h"

#include <array>

namespace damper::route {
namespace {

template <class T>
const T* first_of(const std::optional<T>& own, const std::optional<T>& inherited) {
  if (own) return &*own;
  return inherited ? &*inherited : nullptr;
}

}  // namespace

Result<RouteEntry> RouteEntry::compile(const config::Route& route,
                                       const config::VirtualHost& virtual_host,
                                       const OuterLevels& outer, const ValueCompiler& compiler) {
  RouteEntry out;
  out.route = &route;
  out.virtual_host = &virtual_host;
  out.outer_ = outer;
  out.label = route.name.empty() ? virtual_host.name + " " + route.match.text : route.name;
  out.action = std::get_if<config::RouteAction>(&route.action);
  out.direct_response = std::get_if<config::DirectResponse>(&route.action);
  out.redirect = std::get_if<config::Redirect>(&route.action);
  out.request_body_buffer_limit = route.request_body_buffer_limit
                                      ? route.request_body_buffer_limit
                                      : virtual_host.request_body_buffer_limit;

  TRY_ASSIGN(out.headers_, route::compile(route.match.headers));
  for (const config::QueryMatch& rule : route.match.query_parameters) {
    TRY_ASSIGN(QueryMatcher matcher, QueryMatcher::compile(rule));
    out.query_parameters_.push_back(std::move(matcher));
  }
  TRY_ASSIGN(out.mutators_, LevelMutators::compile(route.headers, compiler));
  if (out.action) TRY(out.compile_action(*out.action, compiler));
  if (out.redirect) {
    TRY_ASSIGN(out.path_rewrite_, PathRewrite::compile(route.match, out.redirect->prefix_rewrite,
                                                       out.redirect->regex_rewrite));
  }
  return out;
}

Status RouteEntry::compile_action(const config::RouteAction& routed,
                                  const ValueCompiler& compiler) {
  retry_policy = first_of(routed.retry_policy, virtual_host->retry_policy);
  hedge_policy = first_of(routed.hedge_policy, virtual_host->hedge_policy);
  if (retry_policy) {
    TRY_ASSIGN(retriable_headers, route::compile(retry_policy->retriable_headers));
    TRY_ASSIGN(retriable_request_headers, route::compile(retry_policy->retriable_request_headers));
  }
  TRY_ASSIGN(path_rewrite_,
             PathRewrite::compile(route->match, routed.prefix_rewrite, routed.regex_rewrite));
  return compile_weighted_clusters(routed, compiler);
}

Status RouteEntry::compile_weighted_clusters(const config::RouteAction& routed,
                                             const ValueCompiler& compiler) {
  std::uint64_t sum = 0;
  for (const config::WeightedCluster& cluster : routed.weighted_clusters) {
    sum += cluster.weight;
    TRY_ASSIGN(LevelMutators mutators, LevelMutators::compile(cluster.headers, compiler));
    weighted_clusters_.push_back({cluster.name, sum, std::move(mutators)});
  }
  if (!weighted_clusters_.empty() && sum == 0) {
    return Error{Errc::kInvalid, Side::kLocal,
                 "route '" + route->name + "': the weights of its clusters add up to 0"};
  }
  return Ok{};
}

bool RouteEntry::conditions_hold(const http::RequestHead& head) const {
  if (route->match.grpc && !head.is_grpc()) return false;
  if (!all_match(headers_, head)) return false;
  for (const QueryMatcher& parameter : query_parameters_) {
    if (!parameter.matches(head.path)) return false;
  }
  return true;
}

ClusterPick RouteEntry::pick_cluster(const http::RequestHead& head, Random& random) const {
  if (!weighted_clusters_.empty()) {
    const std::uint64_t draw = random.below(weighted_clusters_.back().weights_up_to_here);
    for (const WeightedCluster& cluster : weighted_clusters_) {
      if (draw < cluster.weights_up_to_here) return {cluster.name, &cluster.mutators};
    }
  }
  if (!action->cluster_header.empty())
    return {head.fields.find(action->cluster_header).value_or(""), nullptr};
  return {action->cluster, nullptr};
}

void RouteEntry::mutate(HeaderMutator LevelMutators::*direction, http::Fields& fields,
                        const ClusterPick& pick, const stream::AccessRecord& record) const {
  // The last to speak wins.
  std::array<const LevelMutators*, 4> levels = {pick.mutators, &mutators_, outer_.virtual_host,
                                                outer_.table};
  if (outer_.most_specific_wins) {
    levels = {outer_.table, outer_.virtual_host, &mutators_, pick.mutators};
  }
  for (const LevelMutators* level : levels) {
    if (level) (level->*direction).apply(fields, record);
  }
}

void RouteEntry::mutate_request(http::Fields& fields, const ClusterPick& pick,
                                const stream::AccessRecord& record) const {
  mutate(&LevelMutators::request, fields, pick, record);
}

void RouteEntry::mutate_response(http::Fields& fields, const ClusterPick& pick,
                                 const stream::AccessRecord& record) const {
  mutate(&LevelMutators::response, fields, pick, record);
}

void RouteEntry::rewrite(http::RequestHead& head) const {
  if (action && !action->host_rewrite_literal.empty())
    head.authority = action->host_rewrite_literal;
  if (path_rewrite_.active()) head.set_path(path_rewrite_.apply(head.path));
}

std::string RouteEntry::redirect_location(const http::RequestHead& head) const {
  if (!path_rewrite_.active()) return route::redirect_location(*redirect, head, head.path);
  return route::redirect_location(*redirect, head, path_rewrite_.apply(head.path));
}

}  // namespace damper::route
