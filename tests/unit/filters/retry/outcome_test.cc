#include "filters/retry/outcome.h"

#include <gtest/gtest.h>

#include "tests/support/outcomes.h"

namespace damper::retry {
namespace {

using tests::failed;
using tests::Response;

TEST(Outcome, HasAWordForLogs) {
  EXPECT_EQ(word(Response(200).outcome()), "200");
  EXPECT_EQ(word(Response(100).outcome()), "100");
  EXPECT_EQ(word(Response(999).outcome()), "999");
  EXPECT_EQ(word(Response(0).outcome()), "invalid_status");
  EXPECT_EQ(word(failed(Failure::kConnectFailure)), "connect_failure");
  EXPECT_EQ(word(failed(Failure::kReset)), "reset");
  EXPECT_EQ(word(failed(Failure::kPerTryTimeout)), "timeout");
}

TEST(Outcome, AGrpcStatusIsReadFromTheHeadOrFromEarlyTrailers) {
  EXPECT_EQ(grpc_status(Response(200).outcome()), std::nullopt);
  EXPECT_EQ(grpc_status(Response(200, {{"grpc-status", "14"}}).outcome()), 14);
  EXPECT_EQ(grpc_status(Response(200, {{"grpc-status", "99"}}).outcome()), std::nullopt);
  EXPECT_EQ(grpc_status(Response(200, {{"grpc-status", "-1"}}).outcome()), std::nullopt);

  http::Fields trailers;
  trailers.add("grpc-status", "8");
  const Response response(200);
  Outcome outcome = response.outcome();
  outcome.trailers = &trailers;
  EXPECT_EQ(grpc_status(outcome), 8);
}

}  // namespace
}  // namespace damper::retry
