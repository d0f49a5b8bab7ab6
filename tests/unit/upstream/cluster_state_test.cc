#include "upstream/cluster_state.h"

#include <gtest/gtest.h>

#include "tests/support/hosts.h"

namespace damper::upstream {
namespace {

using config::Priority;

const TimePoint kNow = TimePoint() + std::chrono::hours(1);

struct Bench {
  explicit Bench(const config::Cluster& config) : state(config, registry, {}, 1) {}
  // Do five gateway failures in a row eject one host of three?
  bool ejects() {
    Hosts hosts = tests::hosts(3);
    bool ejected = false;
    for (int i = 0; i < 5; ++i) {
      (void)state.outlier.report(*hosts[0], Evidence::kGateway, hosts, kNow, random);
      ejected = hosts[0]->ejected(kNow);
    }
    return ejected;
  }

  Random random{1};
  stats::Registry registry;
  ClusterState state;
};

const auto kAddress = *net::Address::from_ip("10.0.0.1", 80);

config::ClusterEndpoint endpoint(std::uint32_t weight = 1) {
  return {.address = {.host = "10.0.0.1", .port = 80}, .weight = weight};
}

TEST(ClusterState, AHostIsTheSameAsLongAsSomebodyHasIt) {
  Bench bench({.name = "app"});
  HostPtr host = bench.state.host(kAddress, endpoint());
  host->health.ejections = 7;
  EXPECT_EQ(bench.state.host(kAddress, endpoint()), host);
  host.reset();
  EXPECT_EQ(bench.state.host(kAddress, endpoint())->health.ejections, 0u);
}

TEST(ClusterState, AnotherAddressOrEndpointIsAnotherHost) {
  Bench bench({.name = "app"});
  const HostPtr host = bench.state.host(kAddress, endpoint());
  EXPECT_NE(bench.state.host(*net::Address::from_ip("10.0.0.1", 81), endpoint()), host);
  EXPECT_NE(bench.state.host(kAddress, endpoint(5)), host);
  EXPECT_EQ(bench.state.host(kAddress, endpoint()), host);
}

TEST(ClusterState, AHostIsNamedAsConfigured) {
  Bench bench({.name = "app"});
  auto named = endpoint();
  named.hostname = "app.example";
  EXPECT_EQ(bench.state.host(kAddress, named)->hostname, "app.example");
  EXPECT_EQ(bench.state.host(kAddress, endpoint())->hostname, "10.0.0.1");
  EXPECT_EQ(bench.state.host(kAddress, endpoint())->text, "10.0.0.1:80");
}

TEST(ClusterState, EachPriorityHasItsThresholdsAndHighTheDefaultsIfItIsNotWritten) {
  config::Cluster config{.name = "app", .thresholds = {.max_connections = 1}};
  Bench bench(config);
  EXPECT_EQ(bench.state.breaker(Priority::kDefault).connections.max(), 1u);
  EXPECT_EQ(bench.state.breaker(Priority::kHigh).connections.max(), 1024u);
  config.thresholds.max_connections = 2;
  config.thresholds_high = config::Thresholds{.max_connections = 3};
  bench.state.reconfigure(config);
  EXPECT_EQ(bench.state.breaker(Priority::kDefault).connections.max(), 2u);
  EXPECT_EQ(bench.state.breaker(Priority::kHigh).connections.max(), 3u);
}

TEST(ClusterState, AnOpenBreakerSurvivesOtherSettings) {
  config::Cluster config{.name = "app", .breaker = {{.min_requests = 1}}};
  Bench bench(config);
  (void)bench.state.failure_breaker.admit({})->report(0, Evidence::kError, {});
  config.breaker->min_requests = 100;
  bench.state.reconfigure(config);
  EXPECT_FALSE(bench.state.failure_breaker.admit({}));
}

TEST(ClusterState, HostsAreEjectedByDefaultWhereTheDefaultBudgetHolds) {
  const config::Thresholds standard, own_budget{.retry_budget = config::RetryBudget{}},
      max_retries{.max_retries = 3};
  const config::OutlierDetection never{.consecutive_5xx = 0};
  const std::tuple<config::Cluster, bool> cases[] = {
      {{.name = "app", .thresholds = standard}, true},
      {{.name = "app", .thresholds = own_budget}, false},
      {{.name = "app", .thresholds = max_retries}, false},
      {{.name = "app", .thresholds = standard, .outlier_detection = never}, false}};
  for (const auto& [config, ejects] : cases) {
    EXPECT_EQ(Bench(config).ejects(), ejects);
    Bench reconfigured({.name = "app", .outlier_detection = never});
    reconfigured.state.reconfigure(config);
    EXPECT_EQ(reconfigured.ejects(), ejects);
  }
}

}  // namespace
}  // namespace damper::upstream
