#include "server/gauges.h"

#include <gtest/gtest.h>

#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

TEST(Gauges, TellWhatIsTrueWhenSomebodyAsks) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int) {
    if (self.receive(connection)) connection.wait_for_close();
  });
  RunningProxy proxy(one_route(upstream.endpoint(), "",
                               "circuit_breakers: { thresholds: [ { max_requests: 1, "
                               "max_connections: 5, track_remaining: true } ] }"));
  const std::string breaker = "cluster.app.circuit_breakers.default.";
  EXPECT_EQ(proxy.stat(breaker + "rq_open"), 0);
  EXPECT_EQ(proxy.stat(breaker + "remaining_rq"), 1);
  EXPECT_EQ(proxy.stat("cluster.app.membership_healthy"), 1);

  WireConnection client = proxy.connect();
  client.send("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
  ASSERT_TRUE(upstream.wait_for_requests(1));
  EXPECT_EQ(proxy.stat(breaker + "rq_open"), 1);
  EXPECT_EQ(proxy.stat(breaker + "remaining_rq"), 0);
  EXPECT_EQ(proxy.stat(breaker + "remaining_cx"), 4);
  EXPECT_EQ(proxy.stat(breaker + "rq_retry_open"), 0);

  client.close();
  EXPECT_TRUE(proxy.stat_becomes(breaker + "rq_open", 0));
}

}  // namespace
}  // namespace damper::tests
