// retry_on, token by token: what each calls worth a retry (docs/retry.md, "Which failures").
#include <gtest/gtest.h>

#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

struct Row {
  std::string retry_on;
  std::string first;  // what the first attempt gets; empty: the connection closes
  bool retried;
  std::string more = {};  // of the retry policy
};

std::string status(int code, std::string_view headers = "") {
  return http_response(code, "first", headers);
}

std::string grpc(int code) {
  return http_response(
      200, "", "content-type: application/grpc\r\ngrpc-status: " + std::to_string(code) + "\r\n");
}

void expect_row(const Row& row) {
  SCOPED_TRACE(row.retry_on + " after " + row.first.substr(0, row.first.find('\r')));
  ScriptedUpstream upstream(in_turn({row.first, http_response(200, "second")}));
  RunningProxy proxy(one_route(upstream.endpoint(), retry(row.retry_on, row.more)));
  const WireMessage answer = proxy.get();
  EXPECT_EQ(answer.body == "second", row.retried) << answer.start_line;
  EXPECT_EQ(upstream.requests().size(), row.retried ? 2u : 1u);
}

TEST(RetryOn, StatusTokensMatchTheirStatuses) {
  const std::string codes = "retriable_status_codes: [404, 503]";
  const std::string header = "retriable_headers: [ { name: x-again, present_match: true } ]";
  const Row rows[] = {
      {"5xx", status(500), true},
      {"5xx", status(404), false},
      {"gateway-error", status(502), true},
      {"gateway-error", status(500), false},
      {"retriable-4xx", status(409), true},
      {"retriable-4xx", status(404), false},
      {"retriable-status-codes", status(404), true, codes},
      {"retriable-status-codes", status(500), false, codes},
      {"retriable-headers", status(200, "x-again: 1\r\n"), true, header},
      {"retriable-headers", status(503), false, header},
      {"envoy-ratelimited", status(429, "x-envoy-ratelimited: true\r\n"), true},
      {"5xx", status(503, "x-envoy-ratelimited: true\r\n"), false},
      {"reset", status(503), false},
      {" 5xx , reset ", status(503), true},
  };
  for (const Row& row : rows) expect_row(row);
}

TEST(RetryOn, GrpcTokensReadTheStatusOfATrailersOnlyResponse) {
  const Row rows[] = {
      {"cancelled", grpc(1), true},
      {"deadline-exceeded", grpc(4), true},
      {"resource-exhausted", grpc(8), true},
      {"internal", grpc(13), true},
      {"unavailable", grpc(14), true},
      {"unavailable", grpc(5), false},
      {"5xx", grpc(14), false},
  };
  for (const Row& row : rows) expect_row(row);
}

TEST(RetryOn, ABrokenConnectionMatchesTheTokensOfResets) {
  for (const std::string token : {"reset", "5xx", "gateway-error"}) expect_row({token, "", true});
  for (const std::string token : {"connect-failure", "reset-before-request", "refused-stream",
                                  "retriable-4xx", "timeout", "unavailable"}) {
    expect_row({token, "", false});
  }
}

TEST(RetryOn, AResponseThatCannotBeReadCountsAsAReset) {
  expect_row({"reset", "HTTP/1.1 2x0 OK\r\n\r\n", true});
  expect_row({"connect-failure", "HTTP/1.1 2x0 OK\r\n\r\n", false});
}

TEST(RetryOn, ARefusedConnectionMatchesConnectFailure) {
  for (const std::string token :
       {"connect-failure", "reset", "5xx", "gateway-error", "reset-before-request"}) {
    SCOPED_TRACE(token);
    RefusingPort dead;
    ScriptedUpstream upstream(always(http_response(200, "fine")));
    RunningProxy proxy(one_route(dead.endpoint() + ", " + upstream.endpoint(), retry(token)));
    EXPECT_EQ(proxy.get().status(), 200);
    EXPECT_EQ(proxy.get().status(), 200);
    EXPECT_GE(proxy.stat("cluster.app.upstream_rq_retry"), 1);
  }
}

TEST(RetryOn, ATimeoutMatchesTheTokensOfResetsAndItsOwn) {
  for (const auto& [token, retried] :
       {std::pair{"timeout", true}, std::pair{"reset", true}, std::pair{"5xx", true},
        std::pair{"connect-failure", false}}) {
    SCOPED_TRACE(token);
    ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int number) {
      self.receive(connection);
      if (number > 0) connection.send(http_response(200, "second"));
      connection.wait_for_close();
    });
    RunningProxy proxy(one_route(upstream.endpoint(), retry(token, "per_try_timeout: 200ms")));
    EXPECT_EQ(proxy.get().status(), retried ? 200 : 504);
  }
}

TEST(RetryOn, ResetBeforeRequestAsksWhetherAnyAttemptSentSomething) {
  // The first attempt is answered, the second is refused: the upstream has seen the request.
  RefusingPort dead;
  ScriptedUpstream upstream(always(http_response(503, "busy")));
  RunningProxy proxy(one_route(upstream.endpoint() + ", " + dead.endpoint(),
                               retry("reset-before-request,retriable-status-codes",
                                     "retriable_status_codes: [503], num_retries: 2"),
                               "lb_policy: ROUND_ROBIN"));
  EXPECT_EQ(proxy.get().status(), 503);
  EXPECT_EQ(upstream.requests().size(), 1u);
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.not_retriable"), 1);
}

TEST(RetryOn, ThePolicyOfAClusterGoesBeforeTheRoutes) {
  const std::string policy =
      "typed_extension_protocol_options: { envoy.extensions.upstreams.http.v3.HttpProtocolOptions: "
      "{ "
      "\"@type\": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, "
      "explicit_http_config: { http_protocol_options: {} }, " +
      retry("retriable-headers",
            "retriable_headers: [ { name: x-again, present_match: true } ], "
            "retriable_request_headers: [ { name: x-may-retry, present_match: true } ]") +
      " } }";
  ScriptedUpstream upstream(
      in_turn({http_response(503, ""), http_response(503, ""),
               http_response(503, "", "x-again: 1\r\n"), http_response(200, "fine")}));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx", "num_retries: 3"), policy));
  EXPECT_EQ(proxy.get().status(), 503);
  EXPECT_EQ(proxy.get("/", "x-may-retry: 1\r\n").status(), 503);
  EXPECT_EQ(proxy.get("/", "x-may-retry: 1\r\n").status(), 200);
}

TEST(RetryOn, RetriableRequestHeadersRestrictRetriesToRequestsThatMatch) {
  ScriptedUpstream upstream(always(http_response(503, "")));
  RunningProxy proxy(one_route(
      upstream.endpoint(),
      retry("5xx", "retriable_request_headers: [ { name: x-may-retry, present_match: true } ]")));
  proxy.get();
  EXPECT_EQ(upstream.requests().size(), 1u);
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.not_retriable"), 1);
  proxy.get("/", "x-may-retry: 1\r\n");
  EXPECT_EQ(upstream.requests().size(), 3u);
}

}  // namespace
}  // namespace damper::tests
