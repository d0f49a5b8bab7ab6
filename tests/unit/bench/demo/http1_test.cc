#include "bench/demo/http1.h"

#include <gtest/gtest.h>

#include "bench/demo/socket.h"

namespace damper::demo {
namespace {

TEST(DemoHttp1, ARequestIsReadAsItWasWritten) {
  std::string bytes = to_bytes(Request{"POST", "/_reset", {{"x-a", "1"}}}, "127.0.0.1");
  const auto request = take_request(bytes);
  ASSERT_TRUE(request && *request);
  EXPECT_EQ((*request)->method, "POST");
  EXPECT_EQ((*request)->path, "/_reset");
  EXPECT_EQ(value_of((*request)->fields, "X-A"), "1");
  EXPECT_EQ(value_of((*request)->fields, "host"), "127.0.0.1");
  EXPECT_EQ(bytes, "");
}

TEST(DemoHttp1, AResponseIsReadAsItWasWritten) {
  std::string bytes = to_bytes(Response{503, "no", {{"retry-after", "1"}}});
  const auto response = take_response(bytes);
  ASSERT_TRUE(response && *response);
  EXPECT_EQ((*response)->status, 503);
  EXPECT_EQ((*response)->body, "no");
  EXPECT_EQ(value_of((*response)->fields, "retry-after"), "1");
  EXPECT_FALSE(asks_to_close((*response)->fields));
}

TEST(DemoHttp1, MessagesThatArriveTogetherAreReadOneByOne) {
  std::string bytes = "GET /1 HTTP/1.1\r\ncontent-length: 3\r\n\r\nabcGET /2 HTTP/1.1\r\n\r\n";
  EXPECT_EQ((*take_request(bytes))->path, "/1");
  EXPECT_EQ((*take_request(bytes))->path, "/2");
}

TEST(DemoHttp1, APartOfAMessageIsLeftAlone) {
  const std::string whole = "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    std::string part = whole.substr(0, length);
    const auto response = take_response(part);
    ASSERT_TRUE(response) << length;
    EXPECT_FALSE(*response) << length;
    EXPECT_EQ(part.size(), length);
  }
}

TEST(DemoHttp1, ThePeerMayAskToClose) {
  std::string bytes = "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n";
  EXPECT_TRUE(asks_to_close((*take_response(bytes))->fields));
}

TEST(DemoHttp1, WhatIsNotUnderstoodIsAnError) {
  for (std::string bytes : {
           "HTTP/1.1 OK\r\n\r\n",
           "HTTP/1.1 99 Early\r\n\r\n",
           "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
           "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
       }) {
    const std::string sent = bytes;
    const auto response = take_response(bytes);
    ASSERT_FALSE(response) << sent;
    EXPECT_EQ(response.error().code, Errc::kProtocol) << sent;
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
