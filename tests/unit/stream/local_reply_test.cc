#include "stream/local_reply.h"

#include <gtest/gtest.h>

#include "tests/support/heads.h"

namespace damper::stream {
namespace {

using tests::request;

TEST(LocalReply, HasATextWithItsLength) {
  const http::RequestHead get = request("a", "/");
  const LocalReply reply = make_local_reply({.status = 503, .body = "sorry"}, &get);
  EXPECT_EQ(reply.head.status, 503);
  EXPECT_EQ(reply.head.content_length, 5u);
  EXPECT_EQ(reply.head.fields.find("content-type"), "text/plain");
  EXPECT_EQ(reply.body, "sorry");
}

TEST(LocalReply, MayAnswerARequestThatCouldNotBeRead) {
  EXPECT_EQ(make_local_reply({.status = 400, .body = "Bad Request"}, nullptr).body, "Bad Request");
}

TEST(LocalReply, ToHeadHasTheLengthAlone) {
  const http::RequestHead head = request("a", "/", {}, "HEAD");
  const LocalReply reply = make_local_reply({.status = 404, .body = "nothing"}, &head);
  EXPECT_EQ(reply.head.content_length, 7u);
  EXPECT_EQ(reply.body, "");
}

TEST(LocalReply, OfAStatusWithoutABodyHasNoLength) {
  for (const int status : {204, 304}) {
    const LocalReply reply = make_local_reply({.status = status, .body = "ignored"}, nullptr);
    EXPECT_EQ(reply.head.content_length, std::nullopt);
    EXPECT_EQ(reply.body, "");
  }
}

TEST(LocalReply, CarriesTheHeadersOfTheReply) {
  const LocalReply reply = make_local_reply(
      {.status = 302, .headers = {{http::HeaderId::kLocation, "/there"}}}, nullptr);
  EXPECT_EQ(reply.head.fields.find("location"), "/there");
  EXPECT_FALSE(reply.head.fields.find("content-type"));
}

TEST(LocalReply, ToGrpcIsAStatusInTheHead) {
  const http::RequestHead call = request("a", "/s/M", {{"content-type", "application/grpc+json"}});
  const LocalReply reply = make_local_reply({.status = 503, .body = "50% lost\n"}, &call);
  EXPECT_EQ(reply.head.status, 200);
  EXPECT_EQ(reply.head.fields.find("content-type"), "application/grpc");
  EXPECT_EQ(reply.head.fields.find("grpc-status"), "14");
  EXPECT_EQ(reply.head.fields.find("grpc-message"), "50%25 lost%0A");
  EXPECT_EQ(reply.body, "");
}

TEST(LocalReply, StatusesOfHttpStandForStatusesOfGrpc) {
  const std::pair<int, int> rows[] = {{400, 13}, {401, 16}, {403, 7}, {404, 12}, {429, 14},
                                      {502, 14}, {503, 14}, {504, 4}, {413, 2},  {500, 2}};
  for (const auto& [http, grpc] : rows) EXPECT_EQ(grpc_status_of({.status = http}), grpc) << http;
  EXPECT_EQ(grpc_status_of({.status = 503, .grpc_status = 8}), 8);
}

}  // namespace
}  // namespace damper::stream
