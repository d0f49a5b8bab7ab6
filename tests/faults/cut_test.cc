// Connections that end after each byte of an exchange, one after the other.
#include <gtest/gtest.h>

#include "tests/support/gauges.h"
#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

constexpr const char* kTrailers = "http_protocol_options: { enable_trailers: true }";

const std::string kRequest =
    "PUT /a?b HTTP/1.1\r\nhost: a\r\nx-b: c\r\ntransfer-encoding: chunked\r\n\r\n"
    "4;e=1\r\nbody\r\n0\r\nx-sum: 1\r\n\r\n";

const std::string kResponses[] = {
    "HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: "
    "chunked\r\n\r\n"
    "4\r\nbody\r\n0\r\nx-sum: 1\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody",
};

TEST(Cut, AClientMayLeaveAfterAnyByteOfItsRequest) {
  LogFile log;
  auto upstream = std::make_unique<ScriptedUpstream>(always(http_response(200, "fine")));
  RunningProxy proxy(one_route(upstream->endpoint(), retry("5xx,reset"), kTrailers,
                               std::string(kTrailers) + ", " + log.setting("format: \"x\\n\"")));
  for (std::size_t length = 0; length <= kRequest.size(); ++length) {
    WireConnection polite = proxy.connect();
    polite.send(kRequest.substr(0, length));
    polite.close();
    WireConnection rude = proxy.connect();
    rude.send(kRequest.substr(0, length));
    rude.reset();
  }
  EXPECT_TRUE(proxy.stat_becomes("http.in.downstream_cx_active", 0));
  upstream.reset();
  expect_nothing_left(proxy, log);
}

TEST(Cut, AnUpstreamMayLeaveAfterAnyByteOfItsResponse) {
  for (const std::string& response : kResponses) {
    LogFile log;
    auto upstream = std::make_unique<ScriptedUpstream>(
        [&response](ScriptedUpstream& self, WireConnection& connection, int number) {
          if (!self.receive(connection)) return;
          connection.send(response.substr(0, static_cast<std::size_t>(number) / 2));
          if (number % 2 == 1) connection.reset();
        });
    RunningProxy proxy(one_route(upstream->endpoint(), "", kTrailers,
                                 std::string(kTrailers) + ", " + log.setting("format: \"x\\n\"")));
    for (std::size_t i = 0; i < 2 * response.size(); ++i) {
      const WireMessage answer = proxy.get();
      EXPECT_FALSE(answer.complete && answer.status() == 200) << i / 2;
      ASSERT_TRUE(proxy.stat_becomes("cluster.app.upstream_cx_active", 0));
    }
    EXPECT_TRUE(proxy.get().complete);
    upstream.reset();
    expect_nothing_left(proxy, log);
  }
}

TEST(Cut, MessagesMayComeByteByByte) {
  for (const std::string& response : kResponses) {
    ScriptedUpstream upstream([&response](ScriptedUpstream& self, WireConnection& connection, int) {
      while (self.receive(connection)) {
        for (const char byte : response) connection.send(std::string_view(&byte, 1));
      }
    });
    RunningProxy proxy(one_route(upstream.endpoint(), "", kTrailers, kTrailers));
    WireConnection client = proxy.connect();
    for (int i = 0; i < 3; ++i) {
      for (const char byte : kRequest) client.send(std::string_view(&byte, 1));
      const auto answer = client.read_response();
      ASSERT_TRUE(answer);
      EXPECT_TRUE(answer->complete);
      EXPECT_EQ(answer->body, "body");
    }
    EXPECT_EQ(upstream.requests()[0].body, "body");
    EXPECT_EQ(upstream.requests()[0].trailers.size(), 1u);
  }
}

}  // namespace
}  // namespace damper::tests
