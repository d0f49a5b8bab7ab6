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

TEST(Message, NamesProtocolsAndReasons) {
  EXPECT_EQ(name(Protocol::kHttp10), "HTTP/1.0");
  EXPECT_EQ(name(Protocol::kHttp2), "HTTP/2");
  EXPECT_EQ(reason_phrase(503), "Service Unavailable");
  EXPECT_EQ(reason_phrase(299), "Unknown");
}

}  // namespace
}  // namespace damper::http
