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

TEST(Outcome, AGrpcCallIsJudgedByItsStatusUnlessHttpFails) {
  struct Row {
    int status;
    const char* grpc;  // empty: there is none
    int effective;
    std::string_view word;
  };
  const Row rows[] = {{200, "0", 200, "200"},
                      {200, "14", 503, "grpc_unavailable"},
                      {200, "8", 429, "grpc_resource_exhausted"},
                      {200, "16", 401, "grpc_unauthenticated"},
                      {200, "", 500, "grpc_no_status"},
                      {200, "99", 500, "grpc_no_status"},
                      {502, "", 502, "502"},
                      {503, "0", 503, "503"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.grpc);
    Response::Headers headers;
    if (*row.grpc) headers.emplace_back("grpc-status", row.grpc);
    const Response response(row.status, headers);
    EXPECT_EQ(effective_status(response.grpc_outcome()), row.effective);
    EXPECT_EQ(word(response.grpc_outcome()), row.word);
    EXPECT_FALSE(awaits_grpc_status(response.grpc_outcome()));
    EXPECT_EQ(effective_status(response.outcome()), row.status);  // of any other request
  }
}

TEST(Outcome, AGrpcAnswerWithoutAStatusWaitsForIt) {
  const auto waits = [](const Response& response) {
    Outcome outcome = response.grpc_outcome();
    outcome.complete = false;
    return awaits_grpc_status(outcome);
  };
  EXPECT_TRUE(waits(Response(200)));
  EXPECT_FALSE(waits(Response(200, {{"grpc-status", "0"}})));
  EXPECT_FALSE(waits(Response(503)));
  EXPECT_FALSE(awaits_grpc_status(Response(200).outcome()));
  EXPECT_FALSE(awaits_grpc_status(failed(Failure::kReset)));
}

}  // namespace
}  // namespace damper::retry
