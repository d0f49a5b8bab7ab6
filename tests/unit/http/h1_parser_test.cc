// The conversations that parse heads are in h1_server_codec_test.cc and h1_client_codec_test.cc.
#include "http/h1_parser.h"

#include <gtest/gtest.h>

namespace damper::http::h1 {
namespace {

TEST(Trailers, FieldsThatFrameRouteOrAuthenticateAreNotAllowed) {
  for (const std::string_view name :
       {"age", "authorization", "cache-control", "connection", "content-encoding", "content-length",
        "content-type", "cookie", "host", "if-match", "keep-alive", "set-cookie", "te", "trailer",
        "transfer-encoding", "upgrade", "www-authenticate"}) {
    EXPECT_FALSE(allowed_in_trailers({.name = name, .value = {}})) << name;
  }
  for (const std::string_view name :
       {"x-sum", "grpc-status", "grpc-message", "etag", "server-timing"}) {
    EXPECT_TRUE(allowed_in_trailers({.name = name, .value = {}})) << name;
  }
}

TEST(ParseRequest, AllTextLivesInTheArenaOfTheHead) {
  LineReader reader;
  reader.begin(Section::kRequest, {.max_bytes = 1024, .max_fields = 10});
  RequestHead head;
  {
    Buffer in;
    in.append("GET /a HTTP/1.1\r\nHOST: h\r\nX-A: b\r\n\r\n");
    ASSERT_EQ(reader.read(in, head.fields.arena()), Step::kDone);
  }
  Traits traits;
  ASSERT_EQ(parse_request(reader, {}, head, traits), nullptr);
  const RequestHead moved = std::move(head);
  EXPECT_EQ(moved.path, "/a");
  EXPECT_EQ(moved.authority, "h");
  EXPECT_EQ(moved.fields.find("x-a"), "b");
  EXPECT_EQ(traits.framing, Framing::kNone);
  EXPECT_FALSE(traits.close);
}

}  // namespace
}  // namespace damper::http::h1
