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

TEST(GrpcStatus, HasTwoNames) {
  EXPECT_EQ(grpc_camel_name(0), "OK");
  EXPECT_EQ(grpc_camel_name(16), "Unauthenticated");
  EXPECT_EQ(grpc_snake_name(4), "DEADLINE_EXCEEDED");
  EXPECT_EQ(grpc_camel_name(17), "");
  EXPECT_EQ(grpc_snake_name(-1), "");
}

}  // namespace
}  // namespace damper::http
