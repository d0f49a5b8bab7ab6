// Two layers that would both retry: marks let only the inner one do it (semantics of
// x-damper-retry).
#include <gtest/gtest.h>

#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

std::string at(const RunningProxy& proxy) { return "127.0.0.1:" + std::to_string(proxy.port()); }

const std::string kFinal =
    http_response(503, "inner", "x-damper-retry: final; by=inner; attempts=2; verdict=limit\r\n");

TEST(Layers, TheInnerOneRetriesAndTheOuterOneDoesNot) {
  ScriptedUpstream upstream(always(http_response(503, "busy")));
  RunningProxy inner(one_route(upstream.endpoint(), retry("5xx")) + "node: { id: inner-1 }\n");
  RunningProxy outer(one_route(at(inner), retry("5xx")) + "node: { id: outer-1 }\n");
  const WireMessage answer = outer.get();
  EXPECT_EQ(answer.status(), 503);
  EXPECT_EQ(answer.body, "busy");
  EXPECT_EQ(answer.field("x-damper-retry"), "final; by=inner-1; attempts=2; verdict=limit");
  EXPECT_EQ(upstream.requests().size(), 2u);
  EXPECT_EQ(outer.stat("cluster.app.retry_refused.marked"), 1);
}

TEST(Layers, RoleEveryMultiplies) {
  const std::string every = retry("5xx") + ", layer: { role: every }";
  ScriptedUpstream upstream(always(http_response(503, "busy")));
  RunningProxy inner(one_route(upstream.endpoint(), every));
  RunningProxy outer(one_route(at(inner), every));
  EXPECT_EQ(outer.get().field("x-damper-retry"), std::nullopt);
  EXPECT_EQ(upstream.requests().size(), 4u);
}

TEST(Layers, AnEntranceRetriesAndAsksTheInnerOnesNotTo) {
  ScriptedUpstream upstream(always(http_response(503, "busy")));
  RunningProxy inner(one_route(upstream.endpoint(), retry("5xx")));
  RunningProxy outer(one_route(at(inner), retry("5xx", "num_retries: 2") + ", layer: entrance"));
  outer.get();
  EXPECT_EQ(upstream.requests().size(), 3u);
  EXPECT_EQ(upstream.requests()[0].field("x-damper-retry"), "owner");
  EXPECT_EQ(inner.stat("cluster.app.upstream_rq_retry"), 0);
  EXPECT_EQ(inner.stat("cluster.app.retry_refused.marked"), 3);
}

TEST(Layers, RoleOffKeepsThePerTryTimeout) {
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(
      upstream.endpoint(), "timeout: 0s, layer: off, " + retry("5xx", "per_try_timeout: 20ms")));
  EXPECT_EQ(proxy.get().status(), 504);
  EXPECT_EQ(upstream.requests().size(), 1u);
}

TEST(Layers, RoleOffNeverRetriesAndLeavesItToTheOuterOne) {
  ScriptedUpstream upstream(always(http_response(503, "busy")));
  RunningProxy inner(one_route(upstream.endpoint(), retry("5xx") + ", layer: off"));
  RunningProxy outer(one_route(at(inner), retry("5xx")));
  outer.get();
  EXPECT_EQ(upstream.requests().size(), 2u);
  EXPECT_EQ(outer.stat("cluster.app.upstream_rq_retry"), 1);
  inner.get("/", "x-envoy-retry-on: 5xx\r\n");
  EXPECT_EQ(upstream.requests().size(), 3u);
}

TEST(Layers, AMarkIsHeededUnlessTheClusterIgnoresMarks) {
  for (const auto& [cluster, requests] : {std::pair{"", 1u}, std::pair{"marks: ignore", 2u}}) {
    ScriptedUpstream upstream(always(kFinal));
    RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx"), cluster));
    EXPECT_EQ(proxy.get().body, "inner");
    EXPECT_EQ(upstream.requests().size(), requests);
  }
}

TEST(Layers, OurOwnRepliesAreMarkedToo) {
  ScriptedUpstream upstream(in_turn({""}));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("reset")) + "node: { id: a }\n");
  const WireMessage answer = proxy.get();
  EXPECT_EQ(answer.status(), 503);
  EXPECT_EQ(answer.field("x-damper-retry"), "final; by=a; attempts=2; verdict=limit");
}

TEST(Layers, ALayerThatMayNotRetryDoesNotMark) {
  ScriptedUpstream upstream(always(http_response(503, "")));
  for (const std::string& policy :
       {std::string(), retry("5xx", "num_retries: 0"), retry("reset")}) {
    RunningProxy proxy(one_route(upstream.endpoint(), policy));
    EXPECT_EQ(proxy.get().field("x-damper-retry"), std::nullopt);
  }
}

TEST(Layers, AnEdgeListenerLetsNoMarkThrough) {
  ScriptedUpstream upstream(always(kFinal));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "", "edge: true"));
  EXPECT_EQ(proxy.get("/", "x-damper-retry: owner\r\n").field("x-damper-retry"), std::nullopt);
  EXPECT_EQ(upstream.requests()[0].field("x-damper-retry"), std::nullopt);
}

TEST(Layers, AnOuterOwnerIsBelievedWhoeverItIs) {
  ScriptedUpstream upstream(always(http_response(503, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx"), "", "trust: [ 127.0.0.1/32 ]"));
  for (const char* peer : {"127.0.0.1", "127.0.0.2"}) {
    WireConnection client = WireConnection::connect_to(proxy.port(), peer);
    client.send("GET / HTTP/1.1\r\nhost: a\r\nx-damper-retry: owner\r\n\r\n");
    EXPECT_EQ(client.read_response()->status(), 503);
  }
  EXPECT_EQ(upstream.requests().size(), 2u);
}

}  // namespace
}  // namespace damper::tests
