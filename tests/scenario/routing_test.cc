// What a route does with a request: send it somewhere, change it, or answer it.
#include <gtest/gtest.h>

#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

std::string listener(const std::string& settings) {
  return "listeners:\n- { name: in, address: \"127.0.0.1:0\", " + settings + " }\n";
}

std::string cluster(const std::string& name, const std::string& endpoint) {
  return "- { name: " + name + ", endpoints: [ " + endpoint + " ] }\n";
}

std::string app(const ScriptedUpstream& upstream) {
  return "clusters:\n" + cluster("app", upstream.endpoint());
}

TEST(Routing, ADirectResponseNeedsNoUpstream) {
  RunningProxy proxy(
      listener("routes: [ { match: { path: /teapot }, direct_response: { status: 418, body: { "
               "inline_string: "
               "short } } } ]"));
  const WireMessage answer = proxy.get("/teapot");
  EXPECT_EQ(answer.status(), 418);
  EXPECT_EQ(answer.body, "short");
  EXPECT_EQ(proxy.get("/other").status(), 404);
  EXPECT_EQ(proxy.stat("http.in.no_route"), 1);
}

TEST(Routing, ARedirectTellsTheNewPlace) {
  RunningProxy proxy(
      listener("routes: [ { match: { prefix: /old }, redirect: { https_redirect: true, "
               "prefix_rewrite: /new, "
               "response_code: PERMANENT_REDIRECT } } ]"));
  const WireMessage answer = proxy.get("/old/page?x=1");
  EXPECT_EQ(answer.status(), 308);
  EXPECT_EQ(answer.field("location"), "https://test/new/page?x=1");
}

TEST(Routing, WeightsDivideRequestsAmongClusters) {
  ScriptedUpstream a(always(http_response(200, "a")));
  ScriptedUpstream b(always(http_response(200, "b")));
  RunningProxy proxy(
      listener(
          "routes: [ { match: { prefix: / }, route: { weighted_clusters: { clusters: [ { name: "
          "a, weight: 50, request_headers_to_add: [ { header: { key: x-to, value: a } } ], "
          "response_headers_to_add: [ { header: { key: x-from, value: a } } ] }, { name: b, "
          "weight: 50 } ] } } } ]") +
      "clusters:\n" + cluster("a", a.endpoint()) + cluster("b", b.endpoint()));
  int from_a = 0;
  for (int i = 0; i < 100; ++i) {
    const WireMessage answer = proxy.get();
    EXPECT_EQ(answer.field("x-from").has_value(), answer.body == "a");
    from_a += answer.body == "a" ? 1 : 0;
  }
  EXPECT_GT(from_a, 20);
  EXPECT_LT(from_a, 80);
  EXPECT_EQ(a.requests()[0].field("x-to"), "a");
  EXPECT_EQ(b.requests()[0].field("x-to"), std::nullopt);
}

TEST(Routing, AHeaderMayNameTheCluster) {
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(
      listener("routes: [ { match: { prefix: / }, route: { cluster_header: x-to } } ]") +
      app(upstream));
  EXPECT_EQ(proxy.get("/", "x-to: app\r\n").status(), 200);
  EXPECT_EQ(proxy.get("/", "x-to: nowhere\r\n").status(), 503);
  EXPECT_EQ(proxy.get().status(), 503);
}

TEST(Routing, PathAndHostAreRewritten) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(
      listener("routes: [ { match: { prefix: /api/ }, route: { cluster: app, prefix_rewrite: /v1/, "
               "host_rewrite_literal: internal.example } } ]") +
      app(upstream));
  proxy.get("/api/users?x=1");
  const WireMessage request = upstream.requests()[0];
  EXPECT_EQ(request.target(), "/v1/users?x=1");
  EXPECT_EQ(request.field("host"), "internal.example");
  EXPECT_EQ(request.field("x-envoy-original-path"), "/api/users?x=1");
}

TEST(Routing, TheHostMayBeThatOfTheEndpoint) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(listener("routes: [ { match: { prefix: / }, route: { cluster: app, "
                              "auto_host_rewrite: true } } ]") +
                     "clusters:\n" +
                     cluster("app", "\"localhost:" + std::to_string(upstream.port()) + "\""));
  proxy.get();
  EXPECT_EQ(upstream.requests()[0].field("host"), "localhost");
}

TEST(Routing, HeadersAreChangedAtEveryLevel) {
  ScriptedUpstream upstream(always(http_response(200, "", "x-secret: 1\r\n")));
  const auto add = [](const std::string& direction, const std::string& value) {
    return direction + "_headers_to_add: [ { header: { key: x-level, value: " + value + " } } ]";
  };
  RunningProxy proxy(
      listener("route_config: { " + add("request", "table") + ", " + add("response", "table") +
               ", virtual_hosts: [ { name: all, domains: [\"*\"], " + add("request", "host") +
               ", response_headers_to_remove: [ x-secret ], routes: [ { match: { prefix: / }, " +
               add("request", "route") +
               ", request_headers_to_remove: [ x-drop ], route: { "
               "cluster: app } } ] } ] }") +
      app(upstream));
  const WireMessage answer = proxy.get("/", "x-drop: 1\r\n");
  EXPECT_EQ(answer.field("x-level"), "table");
  EXPECT_EQ(answer.field("x-secret"), std::nullopt);
  const WireMessage request = upstream.requests()[0];
  EXPECT_EQ(request.count("x-level"), 3u);
  EXPECT_EQ(request.field("x-level"), "route");
  EXPECT_EQ(request.field("x-drop"), std::nullopt);
}

TEST(Routing, PathsAreNormalizedBeforeTheyAreMatched) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(
      listener(
          "normalize_path: true, merge_slashes: true, path_with_escaped_slashes_action: "
          "REJECT_REQUEST, routes: [ { match: { prefix: /safe }, route: { cluster: app } } ]") +
      app(upstream));
  EXPECT_EQ(proxy.get("/other/../safe//a").status(), 200);
  EXPECT_EQ(upstream.requests()[0].target(), "/safe/a");
  EXPECT_EQ(proxy.get("/safe/../other").status(), 404);
  EXPECT_EQ(proxy.get("/safe%2fa").status(), 400);
}

TEST(Routing, VirtualHostsAreFoundByTheirDomains) {
  RunningProxy proxy(listener(
      "virtual_hosts: [ { name: exact, domains: [ test ], routes: [ { match: { prefix: / }, "
      "direct_response: { status: 201 } } ] }, { name: suffix, domains: [ \"*.example\" ], "
      "routes: [ { match: { prefix: / }, direct_response: { status: 202 } } ] } ]"));
  EXPECT_EQ(proxy.get().status(), 201);
  EXPECT_EQ(proxy.ask("GET / HTTP/1.1\r\nhost: a.example\r\n\r\n").status(), 202);
  EXPECT_EQ(proxy.ask("GET / HTTP/1.1\r\nhost: b\r\n\r\n").status(), 404);
}

TEST(Routing, HeadersAndQueryDecideToo) {
  RunningProxy proxy(listener(
      "routes: [ { match: { prefix: /, headers: [ { name: x-a, string_match: { exact: \"1\" "
      "} } ] }, direct_response: { status: 201 } }, { match: { prefix: /, query_parameters: "
      "[ { name: b, present_match: true } ] }, direct_response: { status: 202 } } ]"));
  EXPECT_EQ(proxy.get("/", "x-a: 1\r\n").status(), 201);
  EXPECT_EQ(proxy.get("/?b=").status(), 202);
  EXPECT_EQ(proxy.get().status(), 404);
}

TEST(Routing, AppliesItsResponseHeadersToOurOwnReplies) {
  RefusingPort dead;
  RunningProxy proxy(
      listener("routes: [ { match: { prefix: / }, response_headers_to_add: [ { header: { key: "
               "x-flags, value: \"%RESPONSE_FLAGS%\" } } ], route: { cluster: app } } ]") +
      "clusters:\n" + cluster("app", dead.endpoint()));
  const WireMessage answer = proxy.get();
  EXPECT_EQ(answer.status(), 503);
  EXPECT_EQ(answer.field("x-flags"), "UF");
}

}  // namespace
}  // namespace damper::tests
