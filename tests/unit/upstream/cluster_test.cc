#include "upstream/cluster.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/support/hosts.h"
#include "tests/support/sockets.h"

namespace damper::upstream {
namespace {

using namespace std::chrono_literals;
using config::Priority;

struct Bench {
  explicit Bench(const config::Cluster& config = {.name = "app"})
      : state(std::make_shared<ClusterState>(config, registry, stats::RetryWords{}, 1)),
        cluster(worker, std::make_shared<const config::Cluster>(config), state) {}

  void report(Host& host, Evidence evidence) {
    FailureBreaker::Pass pass = *cluster.admit();
    cluster.report(host, evidence, pass);
  }

  stats::Registry registry;
  http::Worker worker{0, 1, 1, registry.new_cells()};
  std::shared_ptr<ClusterState> state;
  Cluster cluster;
};

struct User final : PoolUser {
  void on_connection(http::ClientConnection&) override { ++connections; }
  void on_no_connection(PoolFailure, std::string_view) override { ++failures; }
  int connections = 0;
  int failures = 0;
};

TEST(Cluster, ChoosesAmongItsHosts) {
  Bench bench;
  EXPECT_EQ(bench.cluster.choose_host({}, false), nullptr);
  const Hosts hosts = tests::hosts(2);
  bench.cluster.update_hosts(hosts);
  const HostPtr first = bench.cluster.choose_host({}, false);
  EXPECT_EQ(bench.cluster.choose_host({{first}}, true), first == hosts[0] ? hosts[1] : hosts[0]);
}

TEST(Cluster, ARetryAvoidsAHostThatAskedForPatienceAFirstAttemptDoesNot) {
  Bench bench;
  const Hosts hosts = tests::hosts(2);
  bench.cluster.update_hosts(hosts);
  hosts[0]->health.avoid_until = (bench.worker.loop.now() + 1h).time_since_epoch().count();
  int first_attempts = 0, retries = 0;
  for (int i = 0; i < 4; ++i) {
    first_attempts += bench.cluster.choose_host({}, false) == hosts[0] ? 1 : 0;
    retries += bench.cluster.choose_host({}, true) == hosts[0] ? 1 : 0;
  }
  EXPECT_GT(first_attempts, 0);
  EXPECT_EQ(retries, 0);
}

TEST(Cluster, EachHostAndPriorityHasAPool) {
  Bench bench;
  const Hosts hosts = tests::hosts(2);
  bench.cluster.update_hosts(hosts);
  Pool& pool = bench.cluster.pool(hosts[0], Priority::kDefault, http::Protocol::kHttp11);
  EXPECT_EQ(&bench.cluster.pool(hosts[0], Priority::kDefault, http::Protocol::kHttp11), &pool);
  EXPECT_NE(&bench.cluster.pool(hosts[0], Priority::kHigh, http::Protocol::kHttp11), &pool);
  EXPECT_NE(&bench.cluster.pool(hosts[1], Priority::kDefault, http::Protocol::kHttp11), &pool);
  bench.cluster.update_hosts({hosts[0]});
  EXPECT_EQ(&bench.cluster.pool(hosts[0], Priority::kDefault, http::Protocol::kHttp11), &pool);
}

TEST(Cluster, EachServerNameHasAPoolAndEmptyOnesGo) {
  Bench bench;
  const Hosts hosts = tests::hosts(1);
  bench.cluster.update_hosts(hosts);
  const auto pool = [&](const std::string& name) {
    return &bench.cluster.pool(hosts[0], Priority::kDefault, http::Protocol::kHttp11, name);
  };
  User user;
  Pool* const used = pool("used.test");
  used->acquire(user);
  EXPECT_NE(pool("a.test"), used);
  EXPECT_EQ(pool("used.test"), used);
  for (int i = 0; i < 2000; ++i) pool(std::to_string(i) + ".test");
  EXPECT_EQ(pool("used.test"), used);
  EXPECT_LE(bench.cluster.pools(), 256u);
  used->cancel(user);
}

TEST(Cluster, WhoWaitsForAHostThatLeavesIsServedAndMayStillCancel) {
  for (const bool cancels : {false, true}) {
    tests::Backend backend;
    Bench bench;
    const auto host = std::make_shared<Host>(backend.address(), "app", 1, 0);
    bench.cluster.update_hosts({host});
    Pool& pool = bench.cluster.pool(host, Priority::kDefault, http::Protocol::kHttp11);
    User user;
    pool.acquire(user);
    bench.cluster.update_hosts({});
    bench.cluster.update_hosts({});  // looks for drained pools again
    if (cancels) pool.cancel(user);
    tests::run_turns(bench.worker.loop, 2);
    EXPECT_EQ(user.connections, cancels ? 0 : 1);
    EXPECT_EQ(user.failures, 0);
  }
}

TEST(Cluster, ReportsFeedOutlierDetectionAndCountEjections) {
  Bench bench(
      {.name = "app", .outlier_detection = {{.consecutive_5xx = 2, .max_ejection_percent = 50}}});
  const Hosts hosts = tests::hosts(2);
  bench.cluster.update_hosts(hosts);
  for (int i = 0; i < 3; ++i) bench.report(*hosts[0], Evidence::kError);
  EXPECT_TRUE(hosts[0]->ejected(bench.worker.loop.now()));
  const stats::OutlierStats& stats = bench.state->stats.outlier_detection;
  EXPECT_EQ(bench.registry.value(stats.ejections_enforced_total), 1u);
  EXPECT_EQ(bench.registry.value(stats.detected[0]), 1u);
  EXPECT_EQ(bench.registry.value(stats.enforced[0]), 1u);
  for (int i = 0; i < 2; ++i) bench.report(*hosts[1], Evidence::kError);
  EXPECT_EQ(bench.registry.value(stats.ejections_overflow), 1u);
  EXPECT_EQ(bench.registry.value(stats.detected[0]), 2u);
}

TEST(Cluster, ReportsFeedTheBreakerAndRefusalsAreCounted) {
  Bench bench({.name = "app", .breaker = {{.min_requests = 2, .open_for = 1h}}});
  const Hosts hosts = tests::hosts(1);
  for (int i = 0; i < 2; ++i) bench.report(*hosts[0], Evidence::kError);
  EXPECT_FALSE(bench.cluster.admit());
  EXPECT_EQ(bench.registry.value(bench.state->stats.breaker.opened), 1u);
  EXPECT_EQ(bench.registry.value(bench.state->stats.breaker.rejected), 1u);
}

TEST(Cluster, AWellHostIsInServiceDidNotFailLastAndIsNotTheOneAskedAbout) {
  Bench bench;
  const Hosts hosts = tests::hosts(2);
  bench.cluster.update_hosts(hosts);
  EXPECT_TRUE(bench.cluster.any_well_host_but(hosts[0].get()));
  EXPECT_TRUE(bench.cluster.any_well_host_but(nullptr));
  hosts[1]->health.last_attempt_failed = true;
  EXPECT_FALSE(bench.cluster.any_well_host_but(hosts[0].get()));
  EXPECT_TRUE(bench.cluster.any_well_host_but(hosts[1].get()));
  tests::eject_until(*hosts[0], bench.worker.loop.now() + 1h);
  EXPECT_FALSE(bench.cluster.any_well_host_but(hosts[1].get()));
}

TEST(Clusters, AreFoundByName) {
  Bench bench;
  Clusters clusters;
  const auto config = std::make_shared<const config::Cluster>(config::Cluster{.name = "app"});
  for (int i = 0; i < 2; ++i) {
    clusters.put("app", std::make_unique<Cluster>(bench.worker, config, bench.state));
  }
  ASSERT_NE(clusters.find("app"), nullptr);
  EXPECT_EQ(clusters.find("app")->config().name, "app");
  EXPECT_EQ(clusters.find("ap"), nullptr);
  clusters.clear();
  EXPECT_EQ(clusters.find("app"), nullptr);
}

}  // namespace
}  // namespace damper::upstream
