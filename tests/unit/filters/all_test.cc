#include "filters/all.h"

#include <gtest/gtest.h>

namespace damper::filters {
namespace {

Result<route::HeaderValue> no_operators(std::string_view text) {
  if (text.find('%') != text.npos) return Error{Errc::kInvalid, Side::kLocal, "an operator"};
  return route::HeaderValue([](const stream::AccessRecord&, std::string&) {});
}

config::Filter adding(const std::string& value) {
  config::HeadersFilter filter;
  filter.mutations.request_add.push_back({.name = "x-a", .value = value});
  return {.name = "headers", .settings = filter};
}

Result<std::vector<stream::FilterFactory>> make_for(const config::HttpOptions& options) {
  config::Listener listener;
  listener.http = options;
  stats::Registry registry;
  stats::HttpStats stats(registry, "test");
  legs::Correlation correlation(1);
  return make_factories({.listener = listener,
                         .node = {},
                         .stats = stats,
                         .correlation = correlation,
                         .compiler = no_operators});
}

TEST(Filters, MakesOneFactoryForEach) {
  config::HttpOptions options;
  options.filters = {{.name = "fault", .settings = config::FaultFilter{}},
                     adding("plain"),
                     {.name = "buffer", .settings = config::BufferFilter{}}};
  const auto factories = make_for(options);
  ASSERT_TRUE(factories);
  EXPECT_EQ(factories->size(), 3u);
}

TEST(Filters, AreRefusedIfTheyCannotBeCompiled) {
  config::HttpOptions options;
  options.filters = {adding("%UNKNOWN%")};
  EXPECT_FALSE(make_for(options));
}

TEST(Filters, SettingsOfARouteAreCompiledToo) {
  config::HttpOptions options;
  options.filters = {adding("plain")};
  config::Route route;
  route.filter_overrides = {{.name = "headers", .settings = adding("%UNKNOWN%").settings}};
  options.routes.virtual_hosts.push_back({.routes = {route}});
  EXPECT_FALSE(make_for(options));
}

}  // namespace
}  // namespace damper::filters
