#include "server/snapshot.h"

#include <gtest/gtest.h>

namespace damper::server {
namespace {

std::shared_ptr<config::Bootstrap> with_listener() {
  auto out = std::make_shared<config::Bootstrap>();
  config::Listener listener;
  listener.name = "in";
  listener.http.stat_prefix = "in";
  out->listeners.push_back(listener);
  return out;
}

TEST(Snapshot, HasAFrontendForEachListenerAndAStateForEachCluster) {
  Registries registries(1);
  auto bootstrap = with_listener();
  bootstrap->clusters.push_back({.name = "app"});
  const auto snapshot = build_snapshot(bootstrap, registries);
  ASSERT_TRUE(snapshot);
  EXPECT_EQ((*snapshot)->frontends.size(), 1u);
  ASSERT_EQ((*snapshot)->clusters.size(), 1u);
  EXPECT_EQ((*snapshot)->clusters[0]->name, "app");
}

TEST(Snapshot, FindsStatesAndStatisticsAgainByName) {
  Registries registries(1);
  auto bootstrap = with_listener();
  bootstrap->clusters.push_back({.name = "app"});
  const auto first = build_snapshot(bootstrap, registries);
  bootstrap = std::make_shared<config::Bootstrap>(*bootstrap);
  bootstrap->clusters[0].thresholds.max_requests = 7;
  const auto second = build_snapshot(bootstrap, registries);
  EXPECT_EQ((*first)->clusters[0], (*second)->clusters[0]);
  EXPECT_EQ((*first)->frontends[0]->config->stats, (*second)->frontends[0]->config->stats);
  EXPECT_EQ((*second)->clusters[0]->breaker(config::Priority::kDefault).requests.max(), 7u);
}

TEST(Snapshot, SaysWhichListenerCannotBeBuilt) {
  const auto broken = [](auto change) {
    Registries registries(1);
    auto bootstrap = with_listener();
    change(bootstrap->listeners[0]);
    const auto snapshot = build_snapshot(bootstrap, registries);
    return snapshot ? "" : snapshot.error().detail;
  };
  for (const std::string& why :
       {broken([](config::Listener& l) { l.http.access_logs = {{.path = "/no/such/folder/log"}}; }),
        broken([](config::Listener& l) {
          l.http.routes.headers.request_add = {{.name = "x-a", .value = "%UNKNOWN%"}};
        })}) {
    EXPECT_TRUE(why.starts_with("listener \"in\": ")) << why;
  }
}

TEST(Snapshot, TrustsLoopbackUnlessTheListenerSaysWhom) {
  const net::Address loopback = *net::Address::from_endpoint({.host = "127.0.0.1", .port = 1});
  Registries registries(1);
  auto bootstrap = with_listener();
  EXPECT_TRUE((*build_snapshot(bootstrap, registries))
                  ->frontends[0]
                  ->config->trust.contains(loopback.get()));
  bootstrap->listeners[0].trust = {{.address_prefix = "10.0.0.0", .prefix_len = 8}};
  EXPECT_FALSE((*build_snapshot(bootstrap, registries))
                   ->frontends[0]
                   ->config->trust.contains(loopback.get()));
}

}  // namespace
}  // namespace damper::server
