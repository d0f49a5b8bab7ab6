#include "filters/deadline/refusal.h"

#include <gtest/gtest.h>

namespace damper::deadline {
namespace {

stream::Reply refusal(config::LayerRole role) {
  const config::RouteAction action{.layer = role};
  route::RouteEntry route;
  route.action = &action;
  return too_close({.id = "order-1"}, route);
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

TEST(DeadlineRefusal, ALayerThatSendsNoMarksSendsNone) {
  EXPECT_TRUE(refusal(config::LayerRole::kEvery).headers.empty());
}

}  // namespace
}  // namespace damper::deadline
