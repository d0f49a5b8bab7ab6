#include "http/message.h"

#include <gtest/gtest.h>

namespace damper::http {
namespace {

TEST(RequestHead, IsGrpcByItsContentType) {
  const struct {
    const char* content_type;
    bool is_grpc;
  } cases[] = {
      {"application/grpc", true},      {"application/grpc+proto", true},
      {"Application/gRPC", true},      {"application/grpc; charset=utf-8", true},
      {"application/grpc-web", false}, {"application/json", false},
  };
  for (const auto& c : cases) {
    RequestHead head;
    head.fields.add(HeaderId::kContentType, c.content_type);
    EXPECT_EQ(head.is_grpc(), c.is_grpc) << c.content_type;
  }
  EXPECT_FALSE(RequestHead{}.is_grpc());
}

TEST(RequestHead, OwnsTheTextThatIsSet) {
  RequestHead head;
  {
    const std::string path = "/orders?id=1", authority = "orders.svc:8080";
    head.set_path(path);
    head.set_authority(authority);
  }
  EXPECT_EQ(head.path, "/orders?id=1");
  EXPECT_EQ(head.authority, "orders.svc:8080");
}

TEST(RequestHead, ACloneOutlivesItsOriginal) {
  RequestHead copy;
  {
    RequestHead head;
    const std::string text = "GET", scheme = "https", upgrade = "websocket";
    head.method = head.fields.arena().copy(text);
    head.scheme = head.fields.arena().copy(scheme);
    head.upgrade = head.fields.arena().copy(upgrade);
    head.set_path("/chat");
    head.set_authority("a.test");
    head.fields.add("x-a", "b");
    head.content_length = 7;
    head.protocol = Protocol::kHttp2;
    head.expect_continue = true;
    copy = head.clone();
  }
  EXPECT_EQ(copy.method, "GET");
  EXPECT_EQ(copy.scheme, "https");
  EXPECT_EQ(copy.upgrade, "websocket");
  EXPECT_EQ(copy.path, "/chat");
  EXPECT_EQ(copy.authority, "a.test");
  EXPECT_EQ(copy.fields.find("x-a"), "b");
  EXPECT_EQ(copy.content_length, 7u);
  EXPECT_EQ(copy.protocol, Protocol::kHttp2);
  EXPECT_TRUE(copy.expect_continue);
}

TEST(Message, NamesProtocolsAndReasons) {
  EXPECT_EQ(name(Protocol::kHttp10), "HTTP/1.0");
  EXPECT_EQ(name(Protocol::kHttp2), "HTTP/2");
  EXPECT_EQ(reason_phrase(503), "Service Unavailable");
  EXPECT_EQ(reason_phrase(299), "Unknown");
}

}  // namespace
}  // namespace damper::http
