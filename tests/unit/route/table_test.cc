#include "route/table.h"

#include <gtest/gtest.h>
#include <map>

#include "tests/support/heads.h"

namespace damper::route {
namespace {

using tests::request;
using Path = config::RouteMatch::Path;

Result<HeaderValue> no_operators(std::string_view) {
  return Error{Errc::kInvalid, Side::kLocal, "operator"};
}

config::Route named(std::string name, config::RouteMatch match = {}) {
  config::Route out;
  out.name = std::move(name);
  out.match = std::move(match);
  return out;
}

config::VirtualHost host(std::vector<std::string> domains, std::vector<config::Route> routes) {
  config::VirtualHost out;
  out.domains = std::move(domains);
  out.routes = std::move(routes);
  return out;
}

std::string matched(const RouteTable& table, const http::RequestHead& head,
                    std::uint64_t seed = 1) {
  Random random(seed);
  const RouteEntry* entry = table.match(head, random);
  return entry ? entry->route->name : "none";
}

RouteTable build(const config::RouteConfig& config) {
  auto table = RouteTable::build(config, no_operators);
  EXPECT_TRUE(table);
  return *std::move(table);
}

TEST(RouteTable, TheFirstRouteThatMatchesIsTaken) {
  config::RouteConfig config;
  config.virtual_hosts = {
      host({"*"}, {named("exact", {.path = Path::kExact, .text = "/api/x"}),
                   named("regex", {.path = Path::kRegex, .text = "/api/[0-9]+"}),
                   named("header", {.text = "/api", .headers = {{.name = "x-canary"}}}),
                   named("separated", {.path = Path::kPathSeparatedPrefix, .text = "/api"}),
                   named("prefix", {.text = "/"})})};
  const RouteTable table = build(config);
  EXPECT_EQ(matched(table, request("a", "/api/x?q=1")), "exact");
  EXPECT_EQ(matched(table, request("a", "/api/12?q=1")), "regex");
  EXPECT_EQ(matched(table, request("a", "/apix", {{"x-canary", ""}})), "header");
  EXPECT_EQ(matched(table, request("a", "/api?q=1")), "separated");
  EXPECT_EQ(matched(table, request("a", "/apix")), "prefix");
  EXPECT_EQ(matched(table, request("a", "*")), "prefix");
}

TEST(RouteTable, NoOtherVirtualHostIsAskedAfterTheFirst) {
  config::RouteConfig config;
  config.virtual_hosts = {host({"*"}, {named("any")}),
                          host({"a.com"}, {named("a", {.text = "/a"})})};
  const RouteTable table = build(config);
  EXPECT_EQ(matched(table, request("A.COM", "/a")), "a");
  EXPECT_EQ(matched(table, request("a.com", "/b")), "none");
  EXPECT_EQ(matched(table, request("b.com", "/b")), "any");
}

TEST(RouteTable, ThePortBelongsToTheHostUnlessItIsIgnored) {
  config::RouteConfig config;
  config.virtual_hosts = {host({"a.com"}, {named("a")}), host({"b.com:81"}, {named("b")})};
  EXPECT_EQ(matched(build(config), request("a.com:80", "/")), "none");
  EXPECT_EQ(matched(build(config), request("b.com:81", "/")), "b");
  config.ignore_port_in_host_matching = true;
  EXPECT_EQ(matched(build(config), request("a.com:80", "/")), "a");
}

TEST(RouteTable, FractionsOfOneRequestShareOneDraw) {
  config::RouteConfig config;
  config.virtual_hosts = {host(
      {"*"}, {named("tenth", {.runtime_fraction = config::Fraction{100'000}}),
              named("third", {.runtime_fraction = config::Fraction{300'000}}), named("rest")})};
  const RouteTable table = build(config);
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed)
    ++seen[matched(table, request("a", "/"), seed)];
  EXPECT_NEAR(seen["tenth"], 1000, 150);
  EXPECT_NEAR(seen["third"], 2000, 200);
  EXPECT_NEAR(seen["rest"], 7000, 250);
}

TEST(RouteTable, FractionsOfNoneAndAll) {
  config::RouteConfig config;
  config.virtual_hosts = {
      host({"*"}, {named("never", {.runtime_fraction = config::Fraction{0}}),
                   named("always", {.runtime_fraction = config::Fraction{1'000'000}})})};
  const RouteTable table = build(config);
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    EXPECT_EQ(matched(table, request("a", "/"), seed), "always");
}

TEST(RouteTable, ARequestWithoutTlsIsSentBackWhereItIsRequired) {
  using RequireTls = config::VirtualHost::RequireTls;
  const struct {
    RequireTls required;
    std::string_view proto, internal;
    bool redirected;
  } kCases[] = {
      {RequireTls::kNone, "http", "", false},
      {RequireTls::kAll, "http", "true", true},
      {RequireTls::kAll, "https", "", false},
      {RequireTls::kExternalOnly, "http", "", true},
      {RequireTls::kExternalOnly, "http", "true", false},
      {RequireTls::kExternalOnly, "https", "", false},
  };
  for (const auto& c : kCases) {
    config::RouteConfig config;
    config.virtual_hosts = {host({"*"}, {named("r")})};
    config.virtual_hosts[0].require_tls = c.required;
    const RouteTable table = build(config);
    const auto head =
        request("a.com", "/x", {{"x-forwarded-proto", c.proto}, {"x-envoy-internal", c.internal}});
    Random random(1);
    const RouteEntry* entry = table.match(head, random);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->redirect != nullptr, c.redirected);
    if (entry->redirect) {
      EXPECT_EQ(entry->redirect->status, 301);
      EXPECT_EQ(entry->redirect_location(head), "https://a.com/x");
    }
  }
}

TEST(RouteTable, EntriesOutliveAMoveOfTheTable) {
  config::RouteConfig config;
  config.headers.request_add = {{"x-level", "table"}};
  config.virtual_hosts = {host({"*"}, {named("a")})};
  RouteTable first = build(config);
  Random random(1);
  const RouteEntry* entry = first.match(request("a", "/"), random);
  const RouteTable second = std::move(first);
  EXPECT_EQ(second.match(request("a", "/"), random), entry);
  EXPECT_EQ(entry->route->name, "a");
}

TEST(RouteTable, ABadConfigurationBuildsNothing) {
  config::RouteConfig twice;
  twice.virtual_hosts = {host({"a.com"}, {}), host({"A.com"}, {})};
  EXPECT_FALSE(RouteTable::build(twice, no_operators));
  config::RouteConfig regex;
  regex.virtual_hosts = {host({"*"}, {named("r", {.path = Path::kRegex, .text = "("})})};
  EXPECT_FALSE(RouteTable::build(regex, no_operators));
  config::RouteConfig value;
  value.headers.request_add = {{"x", "%BAD%"}};
  EXPECT_FALSE(RouteTable::build(value, no_operators));
}

}  // namespace
}  // namespace damper::route
