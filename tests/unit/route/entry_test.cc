#include "route/entry.h"

#include <gtest/gtest.h>
#include <map>

#include "stream/access_record.h"
#include "tests/support/heads.h"

namespace damper::route {
namespace {

using tests::request;

Result<HeaderValue> no_operators(std::string_view) {
  return Error{Errc::kInvalid, Side::kLocal, "operator"};
}

config::Route route_to(config::RouteAction action) {
  config::Route out;
  out.action = std::move(action);
  return out;
}

Result<RouteEntry> compile(const config::Route& route, const config::VirtualHost& host,
                           const OuterLevels& outer = {}) {
  return RouteEntry::compile(route, host, outer, no_operators);
}

TEST(RouteEntry, TheRoutesPolicyReplacesTheVirtualHostsAsAWhole) {
  config::VirtualHost host;
  host.retry_policy.emplace().num_retries = 7;
  host.retry_policy->retriable_headers = {{.name = "x-host"}};
  host.hedge_policy.emplace().hedge_on_per_try_timeout = true;
  host.request_body_buffer_limit = 10;

  const config::Route plain = route_to({.cluster = "c"});
  const auto inherited = compile(plain, host);
  EXPECT_EQ(inherited->retry_policy->num_retries, 7u);
  EXPECT_TRUE(any_matches(inherited->retriable_headers, tests::response(200, {{"x-host", ""}})));
  EXPECT_TRUE(inherited->hedge_policy->hedge_on_per_try_timeout);
  EXPECT_EQ(inherited->request_body_buffer_limit, 10u);

  config::Route own = route_to({.cluster = "c",
                                .retry_policy = config::RetryPolicy{},
                                .hedge_policy = config::HedgePolicy{}});
  own.request_body_buffer_limit = 0;
  const auto replaced = compile(own, host);
  EXPECT_EQ(replaced->retry_policy->num_retries, 1u);
  EXPECT_TRUE(replaced->retriable_headers.empty());
  EXPECT_FALSE(replaced->hedge_policy->hedge_on_per_try_timeout);
  EXPECT_EQ(replaced->request_body_buffer_limit, 0u);

  const auto none = compile(plain, {});
  EXPECT_EQ(none->retry_policy, nullptr);
  EXPECT_EQ(none->hedge_policy, nullptr);
  EXPECT_EQ(none->request_body_buffer_limit, std::nullopt);
}

TEST(RouteEntry, PicksWeightedClustersByTheirWeights) {
  config::RouteAction action;
  action.weighted_clusters = {{"none", 0, {}}, {"one", 1, {}}, {"three", 3, {}}};
  const config::Route route = route_to(action);
  const auto entry = compile(route, {});
  Random random(1);
  std::map<std::string, int, std::less<>> picks;
  for (int i = 0; i < 4000; ++i)
    ++picks[std::string(entry->pick_cluster(request("a", "/"), random).name)];
  EXPECT_EQ(picks["none"], 0);
  EXPECT_NEAR(picks["one"], 1000, 100);
  EXPECT_NEAR(picks["three"], 3000, 100);
}

TEST(RouteEntry, WeightsThatAddUpToNothingAreAnError) {
  config::RouteAction action;
  action.weighted_clusters = {{"a", 0, {}}};
  const config::Route route = route_to(action);
  EXPECT_FALSE(compile(route, {}));
}

TEST(RouteEntry, AHeaderMayNameTheCluster) {
  const config::Route by_header = route_to({.cluster_header = "x-cluster"});
  const auto entry = compile(by_header, {});
  Random random(1);
  EXPECT_EQ(
      entry->pick_cluster(request("a", "/", {{"x-cluster", "c1"}, {"x-cluster", "c2"}}), random)
          .name,
      "c1");
  EXPECT_EQ(entry->pick_cluster(request("a", "/"), random).name, "");
  const config::Route fixed = route_to({.cluster = "c"});
  EXPECT_EQ(compile(fixed, {})->pick_cluster(request("a", "/"), random).name, "c");
}

config::HeaderMutations sets(const std::string& value) {
  const config::HeaderAdd add{"x", value, config::HeaderAdd::Append::kOverwriteIfExistsOrAdd};
  return {{add, {"seen-by", value}}, {}, {add}, {}};
}

std::string levels_applied(bool most_specific_wins) {
  const auto table = LevelMutators::compile(sets("table"), no_operators);
  const auto above = LevelMutators::compile(sets("host"), no_operators);
  config::Route route = route_to({});
  std::get<config::RouteAction>(route.action).weighted_clusters = {{"c", 1, sets("cluster")}};
  route.headers = sets("route");
  const auto entry = compile(route, {}, {&*above, &*table, most_specific_wins});
  auto head = request("a", "/");
  Random random(1);
  entry->mutate_request(head.fields, entry->pick_cluster(head, random), stream::AccessRecord{});
  std::string order;
  for (const http::Field& f : head.fields) {
    if (f.name == "seen-by") order.append(f.value).append(" ");
  }
  return order.append("-> ").append(*head.fields.find("x"));
}

TEST(RouteEntry, TheTableSpeaksLastUnlessTheMostSpecificWins) {
  EXPECT_EQ(levels_applied(false), "cluster route host table -> table");
  EXPECT_EQ(levels_applied(true), "table host route cluster -> cluster");
}

TEST(RouteEntry, ResponsesGetTheirOwnChanges) {
  config::Route route = route_to({.cluster = "c"});
  route.headers = sets("route");
  const auto entry = compile(route, {});
  auto head = tests::response(200);
  entry->mutate_response(head.fields, {}, stream::AccessRecord{});
  EXPECT_EQ(tests::text(head.fields), "x: route\n");
}

TEST(RouteEntry, RewritesPathAndHost) {
  config::Route route =
      route_to({.cluster = "c", .prefix_rewrite = "/v1", .host_rewrite_literal = "inner"});
  route.match.text = "/api";
  const auto entry = compile(route, {});
  auto head = request("outer", "/api/x?y");
  entry->rewrite(head);
  EXPECT_EQ(head.path, "/v1/x?y");
  EXPECT_EQ(head.authority, "inner");

  const config::Route plain = route_to({.cluster = "c"});
  auto untouched = request("outer", "/api/x?y");
  compile(plain, {})->rewrite(untouched);
  EXPECT_EQ(untouched.path, "/api/x?y");
  EXPECT_EQ(untouched.authority, "outer");
}

TEST(RouteEntry, ARedirectMayRewriteThePath) {
  config::Route route;
  route.match.text = "/old";
  route.action = config::Redirect{.host = "b.com", .prefix_rewrite = "/new"};
  const auto prefix = compile(route, {});
  EXPECT_EQ(prefix->action, nullptr);
  EXPECT_EQ(prefix->redirect_location(request("a.com", "/old/x?q")), "http://b.com/new/x?q");
  config::Route by_regex;
  by_regex.action =
      config::Redirect{.regex_rewrite = config::RegexRewrite{"/(\\w+)/(\\w+)", "/\\2/\\1"}};
  EXPECT_EQ(compile(by_regex, {})->redirect_location(request("a.com", "/a/b?q")),
            "http://a.com/b/a?q");
}

TEST(RouteEntry, ConditionsAreAllOfThem) {
  config::Route route = route_to({.cluster = "c"});
  route.match.headers = {{.name = "x"}};
  route.match.query_parameters = {{.name = "q"}};
  route.match.grpc = true;
  const auto entry = compile(route, {});
  const std::string_view grpc = "application/grpc+proto";
  EXPECT_TRUE(entry->conditions_hold(request("a", "/?q", {{"x", ""}, {"content-type", grpc}})));
  EXPECT_FALSE(entry->conditions_hold(request("a", "/", {{"x", ""}, {"content-type", grpc}})));
  EXPECT_FALSE(entry->conditions_hold(request("a", "/?q", {{"content-type", grpc}})));
  EXPECT_FALSE(entry->conditions_hold(
      request("a", "/?q", {{"x", ""}, {"content-type", "application/grpcx"}})));
}

}  // namespace
}  // namespace damper::route
