#include "filters/fault/fault.h"

#include <gtest/gtest.h>

#include "tests/support/heads.h"
#include "tests/support/stream_context.h"

namespace damper::filters {
namespace {

using std::chrono::milliseconds;
using stream::Flag;

constexpr config::Fraction kAlways{1'000'000};

struct FaultTest : testing::Test {
  stream::Verdict ask() {
    fault.emplace(settings, only, stream, random);
    http::RequestHead head = tests::request("a", "/");
    return fault->on_request_head(head, true);
  }

  config::FaultFilter settings;
  std::vector<route::HeaderMatcher> only;
  tests::TestStream stream;
  Random random{1};
  std::optional<Fault> fault;
};

TEST_F(FaultTest, WithoutSharesDoesNothing) {
  EXPECT_TRUE(std::holds_alternative<stream::Continue>(ask()));
}

TEST_F(FaultTest, AbortsWithItsStatusAndFlag) {
  settings.abort_share = kAlways;
  settings.abort_status = 418;
  const stream::Verdict verdict = ask();
  const auto& reply = std::get<stream::Reply>(verdict);
  EXPECT_EQ(reply.status, 418);
  EXPECT_EQ(reply.flag, Flag::kFaultInjected);
}

TEST_F(FaultTest, AbortsWithAGrpcStatusAndWhatStandsForItElsewhere) {
  settings.abort_share = kAlways;
  settings.abort_grpc_status = 8;
  const stream::Verdict verdict = ask();
  const auto& reply = std::get<stream::Reply>(verdict);
  EXPECT_EQ(reply.grpc_status, 8);
  EXPECT_EQ(reply.status, 429);
}

TEST_F(FaultTest, DelaysAndThenGoesOn) {
  settings.delay_share = kAlways;
  settings.delay = milliseconds(100);
  EXPECT_TRUE(std::holds_alternative<stream::Pause>(ask()));
  EXPECT_TRUE(has(stream.access.flags, Flag::kDelayInjected));
  stream.time.advance(milliseconds(99));
  EXPECT_TRUE(stream.resumed.empty());
  stream.time.advance(milliseconds(1));
  ASSERT_EQ(stream.resumed.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<stream::Continue>(stream.resumed[0]));
}

TEST_F(FaultTest, MayDelayAndThenAbort) {
  settings.delay_share = settings.abort_share = kAlways;
  settings.delay = milliseconds(10);
  ask();
  stream.time.advance(milliseconds(10));
  ASSERT_EQ(stream.resumed.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<stream::Reply>(stream.resumed[0]));
}

TEST_F(FaultTest, DoesNotResumeAStreamThatIsOver) {
  settings.delay_share = kAlways;
  settings.delay = milliseconds(10);
  ask();
  fault.reset();
  stream.time.advance(milliseconds(100));
  EXPECT_TRUE(stream.resumed.empty());
}

TEST_F(FaultTest, HitsItsShareOfRequests) {
  settings.abort_share = {300'000};
  int aborted = 0;
  for (int i = 0; i < 10'000; ++i) aborted += std::holds_alternative<stream::Reply>(ask()) ? 1 : 0;
  EXPECT_NEAR(aborted, 3000, 200);
}

TEST_F(FaultTest, LeavesRequestsAloneThatDoNotMatch) {
  settings.abort_share = kAlways;
  only = *route::compile(std::vector<config::HeaderMatch>{{.name = "x-fault"}});
  EXPECT_TRUE(std::holds_alternative<stream::Continue>(ask()));
}

}  // namespace
}  // namespace damper::filters
