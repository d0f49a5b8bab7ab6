#include "http/grpc_timeout.h"

#include <gtest/gtest.h>

namespace damper::http {
namespace {

using namespace std::chrono_literals;

TEST(GrpcTimeout, EveryUnitIsRead) {
  EXPECT_EQ(parse_grpc_timeout("2H"), Duration(2h));
  EXPECT_EQ(parse_grpc_timeout("3M"), Duration(3min));
  EXPECT_EQ(parse_grpc_timeout("4S"), Duration(4s));
  EXPECT_EQ(parse_grpc_timeout("500m"), Duration(500ms));
  EXPECT_EQ(parse_grpc_timeout("7u"), Duration(7us));
  EXPECT_EQ(parse_grpc_timeout("8n"), Duration(8ns));
  EXPECT_EQ(parse_grpc_timeout("0m"), Duration(0ms));
  EXPECT_GT(*parse_grpc_timeout("99999999H"), Duration(24h * 365));
}

TEST(GrpcTimeout, AnythingElseIsNone) {
  for (const char* text : {"", "5", "m", "abc", "-5S", "1.5S", "123456789m", "5 S", "5s"}) {
    EXPECT_FALSE(parse_grpc_timeout(text)) << text;
  }
}

TEST(GrpcTimeout, IsWrittenInMillisecondsAndNeverZero) {
  EXPECT_EQ(format_grpc_timeout(1500us), "1m");
  EXPECT_EQ(format_grpc_timeout(0ms), "1m");
  EXPECT_EQ(format_grpc_timeout(2s), "2000m");
  EXPECT_EQ(format_grpc_timeout(1'000'000h), "99999999m");
}

}  // namespace
}  // namespace damper::http
