#include "filters/deadline/refusal.h"

#include <gtest/gtest.h>

#include "tests/support/heads.h"

namespace damper::deadline {
namespace {

stream::Reply refusal(config::LayerRole role, tests::HeaderList headers = {}) {
  const config::RouteAction action{.layer = role};
  route::RouteEntry route;
  route.action = &action;
  return too_close({.id = "order-1"}, route, tests::request("stock", "/", headers));
}

TEST(DeadlineRefusal, SaysThatNobodyShouldTryAgain) {
  const stream::Reply reply = refusal(config::LayerRole::kNearest);
  EXPECT_EQ(reply.status, 504);
  EXPECT_EQ(reply.body, "deadline too close");
  EXPECT_EQ(reply.flag, stream::Flag::kUpstreamTimeout);
  ASSERT_EQ(reply.headers.size(), 1u);
  EXPECT_EQ(reply.headers[0].first, http::HeaderId::kXDamperRetry);
  EXPECT_EQ(reply.headers[0].second, "final; by=order-1; attempts=0; verdict=deadline");
}

TEST(DeadlineRefusal, TellsGrpcInItsOwnWords) {
  const stream::Reply reply =
      refusal(config::LayerRole::kNearest, {{"content-type", "application/grpc"}});
  ASSERT_EQ(reply.headers.size(), 2u);
  EXPECT_EQ(reply.headers[1].first, http::HeaderId::kGrpcRetryPushbackMs);
  EXPECT_EQ(reply.headers[1].second, "-1");
}

TEST(DeadlineRefusal, ALayerThatSendsNoMarksSendsNone) {
  EXPECT_TRUE(refusal(config::LayerRole::kEvery).headers.empty());
}

}  // namespace
}  // namespace damper::deadline
