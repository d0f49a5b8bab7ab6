#include "bench/demo/http1.h"

#include <gtest/gtest.h>

#include "tests/unit/bench/demo/pair.h"

namespace damper::demo {
namespace {

TEST(DemoHttp1, ARequestAndItsAnswerArriveAsSent) {
  auto [a, b] = socket_pair();
  Connection user(std::move(a)), service(std::move(b));
  ASSERT_TRUE(user.write(Request{"POST", "/_reset"}, "127.0.0.1"));
  const auto request = service.read_request();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method, "POST");
  EXPECT_EQ(request->path, "/_reset");
  ASSERT_TRUE(service.write(Response{503, "no"}));
  const auto response = user.read_response();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 503);
  EXPECT_EQ(response->body, "no");
  EXPECT_FALSE(user.closing());
}

TEST(DemoHttp1, MessagesThatArriveTogetherAreReadOneByOne) {
  auto [a, b] = socket_pair();
  ASSERT_TRUE(
      a.write_all("GET /1 HTTP/1.1\r\ncontent-length: 3\r\n\r\nabcGET /2 HTTP/1.1\r\n\r\n"));
  Connection service(std::move(b));
  EXPECT_EQ(service.read_request()->path, "/1");
  EXPECT_EQ(service.read_request()->path, "/2");
}

TEST(DemoHttp1, ThePeerMayAskToClose) {
  auto [a, b] = socket_pair();
  ASSERT_TRUE(a.write_all("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"));
  Connection user(std::move(b));
  ASSERT_TRUE(user.read_response());
  EXPECT_TRUE(user.closing());
}

TEST(DemoHttp1, AnEndBetweenMessagesIsClosed) {
  auto [a, b] = socket_pair();
  { const Socket gone = std::move(a); }
  Connection user(std::move(b));
  EXPECT_EQ(user.read_response().error().code, Errc::kClosed);
}

TEST(DemoHttp1, WhatIsNotUnderstoodIsAnError) {
  for (const char* bytes : {
           "HTTP/1.1 OK\r\n\r\n",
           "HTTP/1.1 99 Early\r\n\r\n",
           "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
           "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
       }) {
    auto [a, b] = socket_pair();
    ASSERT_TRUE(a.write_all(bytes));
    Connection user(std::move(b));
    const auto response = user.read_response();
    ASSERT_FALSE(response) << bytes;
    EXPECT_EQ(response.error().code, Errc::kProtocol) << bytes;
  }
}

TEST(DemoAddress, IsAHostAndAPort) {
  const auto address = parse_address("127.0.0.1:8080");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->host, "127.0.0.1");
  EXPECT_EQ(address->port, 8080);
  for (const char* wrong : {"127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:http"}) {
    EXPECT_FALSE(parse_address(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace damper::demo
