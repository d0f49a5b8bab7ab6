#include "server/clusters_page.h"

#include <gtest/gtest.h>

namespace damper::server {
namespace {

struct ClustersPage : testing::Test {
  ClustersPage() {
    config.name = "app";
    config.thresholds.max_requests = 7;
    snapshot.clusters.push_back(registries.cluster(config));
    config::ClusterEndpoint endpoint{.address = {.host = "10.0.0.1", .port = 80}, .weight = 3};
    hosts.push_back(
        snapshot.clusters[0]->host(*net::Address::from_endpoint(endpoint.address), endpoint));
  }

  std::string text() { return clusters_text(snapshot, hosts_of, now); }
  std::string json() { return clusters_json(snapshot, hosts_of, now); }

  Registries registries{1};
  config::Cluster config;
  Snapshot snapshot;
  upstream::Hosts hosts;
  HostsOf hosts_of = [this](std::size_t) -> const upstream::Hosts& { return hosts; };
  const TimePoint now = TimePoint{} + std::chrono::hours(1);
};

TEST_F(ClustersPage, ShowsLimitsAndHostsLineByLine) {
  for (const char* line :
       {"app::default_priority::max_requests::7\n", "app::high_priority::max_requests::1024\n",
        "app::default_priority::active_retries::0\n", "app::10.0.0.1:80::weight::3\n",
        "app::10.0.0.1:80::health_flags::healthy\n"}) {
    EXPECT_NE(text().find(line), std::string::npos) << line << text();
  }
}

TEST_F(ClustersPage, ShowsHostsThatAreEjected) {
  hosts[0]->health.ejected_until = (now + std::chrono::seconds(1)).time_since_epoch().count();
  EXPECT_NE(text().find("health_flags::/failed_outlier_check\n"), std::string::npos);
  EXPECT_NE(json().find("\"eds_health_status\":\"UNHEALTHY\",\"failed_outlier_check\":true"),
            std::string::npos);
}

TEST_F(ClustersPage, ShowsTheStateOfABreaker) {
  EXPECT_EQ(text().find("breaker"), std::string::npos);
  config.breaker = config::FailureBreaker{.min_requests = 1};
  snapshot.clusters[0]->reconfigure(config);
  EXPECT_NE(text().find("app::breaker::state::closed\n"), std::string::npos);
  auto pass = snapshot.clusters[0]->failure_breaker.admit(now);
  (void)pass->report(0, upstream::Evidence::kError, now);
  EXPECT_NE(text().find("app::breaker::state::open\n"), std::string::npos);
  EXPECT_NE(json().find("\"breaker_state\":\"open\""), std::string::npos);
}

TEST_F(ClustersPage, IsJsonToo) {
  EXPECT_EQ(json(),
            "{\"cluster_statuses\":[{\"name\":\"app\",\"breaker_state\":\"off\",\"host_statuses\":"
            "[{\"address\":"
            "\"10.0.0.1:80\",\"health_status\":{\"eds_health_status\":\"HEALTHY\","
            "\"failed_outlier_check\":false},\"weight\":3,\"priority\":0,\"rq_active\":0}]}]}\n");
}

}  // namespace
}  // namespace damper::server
