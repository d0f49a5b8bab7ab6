// The operator's pages on a server that serves.
#include <gtest/gtest.h>

#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

struct Served {
  ScriptedUpstream upstream{always(http_response(200, "fine"))};
  RunningProxy proxy{one_route(upstream.endpoint()) + "node: { id: node-1, cluster: shop }\n"};
};

TEST(Admin, PagesSayWhatTheyAreFor) {
  Served served;
  served.proxy.get();
  const std::string endpoint = served.upstream.endpoint();
  const std::pair<std::string, std::string> pages[] = {
      {"/", "/stats/prometheus"},
      {"/help", "/config_dump"},
      {"/ready", "LIVE"},
      {"/server_info", "\"state\":\"LIVE\""},
      {"/server_info", "\"id\":\"node-1\""},
      {"/stats", "cluster.app.upstream_rq_total: 1\n"},
      {"/stats?filter=http.in&usedonly", "http.in.downstream_rq_2xx: 1\n"},
      {"/stats?format=json", "\"cluster.app.upstream_rq_total\""},
      {"/stats/prometheus", "envoy_cluster_name=\"app\""},
      {"/stats?format=prometheus", "damper_cluster_original_requests"},
      {"/clusters", "app::" + endpoint + "::health_flags::healthy\n"},
      {"/clusters", "app::default_priority::max_connections::1024\n"},
      {"/clusters?format=json", "\"address\":\"" + endpoint + "\""},
      {"/listeners", "in::127.0.0.1:" + std::to_string(served.proxy.port()) + "\n"},
      {"/config_dump", "\"configs\":["},
      {"/memory", "\"allocated\":\""},
  };
  for (const auto& [target, part] : pages) {
    const WireMessage answer = served.proxy.admin("GET", target);
    EXPECT_EQ(answer.status(), 200) << target;
    EXPECT_NE(answer.body.find(part), std::string::npos) << target << "\n" << answer.body;
  }
}

TEST(Admin, WhatChangesSomethingNeedsPost) {
  Served served;
  for (const std::string target : {"/logging?level=off", "/quitquitquit", "/reset_counters",
                                   "/drain_listeners", "/reopen_logs"}) {
    EXPECT_EQ(served.proxy.admin("GET", target).status(), 405) << target;
  }
  EXPECT_EQ(served.proxy.get().status(), 200);
}

TEST(Admin, UnknownPagesAndWordsAreRefused) {
  Served served;
  EXPECT_EQ(served.proxy.admin("GET", "/nowhere").status(), 404);
  EXPECT_EQ(served.proxy.admin("POST", "/logging?level=loud").status(), 400);
}

TEST(Admin, CountersMayBeReset) {
  Served served;
  served.proxy.get();
  EXPECT_EQ(served.proxy.stat("cluster.app.upstream_rq_total"), 1);
  served.proxy.admin("POST", "/reset_counters");
  EXPECT_EQ(served.proxy.stat("cluster.app.upstream_rq_total"), 0);
  EXPECT_EQ(served.proxy.stat("cluster.app.upstream_cx_active"), 1);  // gauges stay
}

TEST(Admin, ReadsABodyAndAnswersHead) {
  Served served;
  WireConnection client = WireConnection::connect_to(served.proxy.server().admin_address().port());
  client.send("POST /reset_counters HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc");
  EXPECT_EQ(client.read_response()->status(), 200);
  client.send("HEAD /ready HTTP/1.1\r\nhost: a\r\n\r\n");
  EXPECT_EQ(client.read_response(true)->field("content-length"), "5");
  client.send("BAD\r\n\r\n");
  EXPECT_EQ(client.read_response()->status(), 400);
}

}  // namespace
}  // namespace damper::tests
