#include "tests/support/config_text.h"

#include <gtest/gtest.h>

namespace damper::config {

Bootstrap load(const std::string& text, const LoadOptions& options) {
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

}  // namespace damper::config
