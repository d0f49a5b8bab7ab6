#include "http/grpc_status.h"

#include <gtest/gtest.h>

namespace damper::http {
namespace {

TEST(GrpcStatus, IsReadFromItsField) {
  const struct {
    const char* value;
    std::optional<int> status;
  } cases[] = {{"0", 0}, {"14", 14}, {"99", 99}, {"", {}}, {"-1", {}}, {"4294967296", {}}};
  for (const auto& c : cases) {
    Fields fields;
    fields.add("grpc-status", c.value);
    EXPECT_EQ(grpc_status(fields), c.status) << c.value;
  }
  EXPECT_EQ(grpc_status(Fields()), std::nullopt);
}

TEST(GrpcStatus, AnHttpStatusStandsForOne) {
  const std::pair<int, int> cases[] = {{400, 13}, {401, 16}, {403, 7},  {404, 12}, {429, 14},
                                       {502, 14}, {503, 14}, {504, 14}, {200, 2},  {500, 2}};
  for (const auto& [status, grpc] : cases) EXPECT_EQ(grpc_status_for(status), grpc) << status;
}

TEST(GrpcStatus, StandsForAnHttpStatus) {
  const std::pair<int, int> cases[] = {{0, 200},  {1, 499},  {2, 500},  {3, 400},  {4, 504},
                                       {5, 404},  {6, 409},  {7, 403},  {8, 429},  {9, 400},
                                       {10, 409}, {11, 400}, {12, 501}, {13, 500}, {14, 503},
                                       {15, 500}, {16, 401}, {17, 500}, {-1, 500}};
  for (const auto& [grpc, status] : cases) EXPECT_EQ(http_status_for(grpc), status) << grpc;
}

TEST(GrpcStatus, HasTwoNames) {
  EXPECT_EQ(grpc_camel_name(0), "OK");
  EXPECT_EQ(grpc_camel_name(16), "Unauthenticated");
  EXPECT_EQ(grpc_snake_name(4), "DEADLINE_EXCEEDED");
  EXPECT_EQ(grpc_camel_name(17), "");
  EXPECT_EQ(grpc_snake_name(-1), "");
}

}  // namespace
}  // namespace damper::http
