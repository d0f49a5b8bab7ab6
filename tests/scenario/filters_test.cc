// The filters of the chain, and what a route says about them.
#include <gtest/gtest.h>

#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

std::string filters(const std::string& list) { return "filters: [ " + list + " ]"; }

TEST(Filters, AFaultAborts) {
  LogFile log;
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(
      upstream.endpoint(), "", "",
      filters("fault: { abort: { http_status: 555, percentage: 100 } }") + ", " +
          log.setting("format: \"%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS%\\n\"")));
  const WireMessage answer = proxy.get();
  EXPECT_EQ(answer.status(), 555);
  EXPECT_EQ(answer.body, "fault filter abort");
  EXPECT_EQ(upstream.requests().size(), 0u);
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"555 FI fault_filter_abort"});
}

TEST(Filters, AFaultDelaysARequestAndItsBody) {
  LogFile log;
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(
      one_route(upstream.endpoint(), retry("5xx"), "",
                filters("fault: { delay: { fixed_delay: 100ms, percentage: 100 } }") + ", " +
                    log.setting("format: \"%RESPONSE_FLAGS%\\n\"")));
  const TimePoint start = Clock::now();
  for (int i = 0; i < 2; ++i) {  // the second time on a connection that stands
    const WireMessage answer =
        proxy.ask("PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello");
    EXPECT_EQ(answer.status(), 200);
  }
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(200));
  ASSERT_EQ(upstream.requests().size(), 2u);
  for (const WireMessage& request : upstream.requests()) EXPECT_EQ(request.body, "hello");
  EXPECT_EQ(log.lines(2), (std::vector<std::string>{"DI", "DI"}));
}

TEST(Filters, AFaultDelaysARequestWithTrailers) {
  const std::string trailers = "http_protocol_options: { enable_trailers: true }";
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(
      upstream.endpoint(), "", trailers,
      trailers + ", " + filters("fault: { delay: { fixed_delay: 50ms, percentage: 100 } }")));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(proxy
                  .ask("PUT / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
                       "2\r\nhi\r\n0\r\nx-sum: 1\r\n\r\n")
                  .status(),
              200);
  }
  for (const WireMessage& request : upstream.requests()) {
    EXPECT_EQ(request.body, "hi");
    EXPECT_EQ(request.trailers.size(), 1u);
  }
}

TEST(Filters, AClientMayLeaveDuringADelay) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "",
                               filters("fault: { delay: { fixed_delay: 20s, percentage: 100 } }")));
  WireConnection client = proxy.connect();
  client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  ASSERT_TRUE(proxy.stat_becomes("http.in.downstream_rq_active", 1));
  client.close();
  EXPECT_TRUE(proxy.stat_becomes("http.in.downstream_rq_active", 0));
}

TEST(Filters, AFaultMayBeForSomeRequestsOnly) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(
      upstream.endpoint(), "", "",
      filters("fault: { abort: { http_status: 503, percentage: 100 }, headers: [ { name: x-fault, "
              "present_match: true } ] }")));
  EXPECT_EQ(proxy.get().status(), 200);
  EXPECT_EQ(proxy.get("/", "x-fault: 1\r\n").status(), 503);
}

TEST(Filters, HeadersAreChangedBothWays) {
  ScriptedUpstream upstream(always(http_response(200, "", "x-internal: 1\r\n")));
  RunningProxy proxy(one_route(
      upstream.endpoint(), "", "",
      filters(
          "headers: { request_headers_to_add: [ { header: { key: x-in, value: \"%REQ(:METHOD)%\" } "
          "} ], response_headers_to_remove: [ x-internal ] }")));
  EXPECT_EQ(proxy.get().field("x-internal"), std::nullopt);
  EXPECT_EQ(upstream.requests()[0].field("x-in"), "GET");
}

TEST(Filters, ABodyOverTheSizeGets413) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(
      one_route(upstream.endpoint(), "", "", filters("buffer: { max_request_bytes: 5 }")));
  const std::string put = "PUT / HTTP/1.1\r\nhost: a\r\n";
  EXPECT_EQ(proxy.ask(put + "content-length: 5\r\n\r\nhello").status(), 200);
  EXPECT_EQ(proxy.ask(put + "content-length: 6\r\n\r\nhello!").status(), 413);
  EXPECT_EQ(proxy.ask(put + "transfer-encoding: chunked\r\n\r\n6\r\nhello!\r\n0\r\n\r\n").status(),
            413);
}

TEST(Filters, StandInOrder) {
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(
      upstream.endpoint(), "", "",
      filters(
          "headers: { request_headers_to_add: [ { header: { key: x-fault, value: \"1\" } } ] }, "
          "fault: { abort: { http_status: 503, percentage: 100 }, headers: [ { name: x-fault, "
          "present_match: true } ] }")));
  EXPECT_EQ(proxy.get().status(), 503);
}

// typed_per_filter_config: the most specific word about a filter holds.
constexpr const char* kFault =
    "\"@type\": type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault, abort: { "
    "http_status: ";

std::string override_with(const std::string& config) {
  return "typed_per_filter_config: { envoy.filters.http.fault: { " + config + " } }";
}

TEST(Filters, ARouteMayReplaceOrDisableOne) {
  const std::string config =
      "listeners:\n- { name: in, address: \"127.0.0.1:0\", http_filters: [ { name: "
      "envoy.filters.http.fault, typed_config: { " +
      std::string(kFault) +
      "501, percentage: { numerator: 100 } } } }, { name: envoy.filters.http.router } ], "
      "virtual_hosts: [ { name: a, domains: [ a ], routes: [ { match: { prefix: /off }, route: { "
      "cluster: app }, " +
      override_with(
          "\"@type\": type.googleapis.com/envoy.config.route.v3.FilterConfig, disabled: "
          "true") +
      " }, { match: { prefix: /own }, route: { cluster: app }, " +
      override_with(std::string(kFault) + "502, percentage: { numerator: 100 } }") +
      " }, { match: { prefix: / }, route: { cluster: app } } ] }, { name: b, domains: [ b ], " +
      override_with(std::string(kFault) + "503, percentage: { numerator: 100 } }") +
      ", routes: [ { match: { prefix: / }, route: { cluster: app } } ] } ] }\n";
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(config + "clusters:\n- { name: app, endpoints: [ " + upstream.endpoint() +
                     " ] }\n");
  const auto status = [&proxy](const std::string& host, const std::string& path) {
    return proxy.ask("GET " + path + " HTTP/1.1\r\nhost: " + host + "\r\n\r\n").status();
  };
  EXPECT_EQ(status("a", "/"), 501);
  EXPECT_EQ(status("a", "/own"), 502);
  EXPECT_EQ(status("a", "/off"), 200);
  EXPECT_EQ(status("b", "/"), 503);
}

TEST(LocalReplies, HaveTheShapeOfGrpcForGrpc) {
  RefusingPort dead;
  RunningProxy proxy(one_route(dead.endpoint()));
  const WireMessage answer = proxy.ask(
      "POST /s/M HTTP/1.1\r\nhost: a\r\ncontent-type: application/grpc\r\n"
      "content-length: 0\r\n\r\n");
  EXPECT_EQ(answer.status(), 200);
  EXPECT_EQ(answer.field("content-type"), "application/grpc");
  EXPECT_EQ(answer.field("grpc-status"), "14");
  EXPECT_TRUE(answer.field("grpc-message")->starts_with("upstream connect error"));
  EXPECT_EQ(answer.body, "");
}

TEST(LocalReplies, AGrpcTimeoutIsADeadlineExceeded) {
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(upstream.endpoint(), "timeout: 50ms"));
  EXPECT_EQ(proxy.get("/", "content-type: application/grpc\r\n").field("grpc-status"), "4");
}

}  // namespace
}  // namespace damper::tests
