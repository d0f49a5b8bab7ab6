#include "tests/support/gauges.h"

#include <gtest/gtest.h>

namespace damper::tests {

namespace {

void expect_zero(const RunningProxy& proxy, const char* gauge) {
  EXPECT_TRUE(proxy.stat_becomes(gauge, 0)) << gauge << " is " << proxy.stat(gauge);
}

}  // namespace

void expect_no_requests_left(const RunningProxy& proxy) {
  for (const char* gauge : {"http.in.downstream_rq_active", "cluster.app.upstream_rq_active",
                            "cluster.app.upstream_rq_pending_active", "cluster.app.retries_active",
                            "cluster.app.retries_waiting"}) {
    expect_zero(proxy, gauge);
  }
}

void expect_nothing_left(const RunningProxy& proxy, const LogFile& log) {
  expect_no_requests_left(proxy);
  expect_zero(proxy, "http.in.downstream_cx_active");
  expect_zero(proxy, "cluster.app.upstream_cx_active");
  const auto requests = static_cast<std::size_t>(proxy.stat("http.in.downstream_rq_total"));
  EXPECT_EQ(log.lines(requests).size(), requests);
  const std::string clusters = proxy.admin("GET", "/clusters").body;
  EXPECT_NE(clusters.find("::active_requests::0\n"), std::string::npos) << clusters;
  EXPECT_NE(clusters.find("::active_retries::0\n"), std::string::npos) << clusters;
}

}  // namespace damper::tests
