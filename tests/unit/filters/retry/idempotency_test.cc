#include "filters/retry/idempotency.h"

#include <gtest/gtest.h>

#include "tests/support/outcomes.h"

namespace damper::retry {
namespace {

using tests::failed;
using tests::Response;

TEST(Idempotency, SafeAndIdempotentMethodsMayBeRepeated) {
  for (const auto* method : {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"}) {
    EXPECT_TRUE(is_idempotent_method(method)) << method;
  }
  for (const auto* method : {"POST", "PATCH", "CONNECT", "get", "LINK"}) {
    EXPECT_FALSE(is_idempotent_method(method)) << method;
  }
}

TEST(Idempotency, AKeyOfTheClientMakesAnyMethodRepeatable) {
  EXPECT_FALSE(is_repeatable("POST", KeyOrigin::kNone, {}, false));
  EXPECT_TRUE(is_repeatable("POST", KeyOrigin::kClient, {}, false));
}

TEST(Idempotency, AKeyOfOursCountsOnlyWhereItIsHonoured) {
  EXPECT_FALSE(is_repeatable("POST", KeyOrigin::kMadeHere, {}, false));
  EXPECT_TRUE(is_repeatable("POST", KeyOrigin::kMadeHere, {}, true));
  EXPECT_TRUE(
      is_repeatable("POST", KeyOrigin::kMadeHere, {.honours_idempotency_key = true}, false));
}

TEST(Idempotency, TheRouteMaySaySo) {
  EXPECT_TRUE(is_repeatable("PATCH", KeyOrigin::kNone, {.idempotent = true}, false));
}

TEST(Idempotency, AnythingMayBeRepeatedThatWasSurelyNotProcessed) {
  for (const auto failure :
       {Failure::kConnectFailure, Failure::kConnectTimeout, Failure::kRefusedStream}) {
    EXPECT_TRUE(may_repeat_after(failed(failure, true), false, {})) << word(failure);
  }
  for (const auto failure : {Failure::kReset, Failure::kPerTryTimeout, Failure::kProtocolError}) {
    EXPECT_TRUE(may_repeat_after(failed(failure, false), false, {})) << word(failure);
    EXPECT_FALSE(may_repeat_after(failed(failure, true), false, {})) << word(failure);
    EXPECT_TRUE(may_repeat_after(failed(failure, true), true, {})) << word(failure);
  }
}

TEST(Idempotency, AStatusMayHaveBeenProcessedUnlessThePolicySaysOtherwise) {
  EXPECT_FALSE(may_repeat_after(Response(503).outcome(), false, {}));
  const config::RetryPolicy policy{.retry_non_idempotent_on = {503, 429}};
  EXPECT_TRUE(may_repeat_after(Response(503).outcome(), false, policy));
  EXPECT_FALSE(may_repeat_after(Response(500).outcome(), false, policy));
  const Response unavailable(200, {{"grpc-status", "14"}});
  EXPECT_TRUE(may_repeat_after(unavailable.grpc_outcome(), false, policy));
  EXPECT_FALSE(may_repeat_after(unavailable.outcome(), false, policy));
}

}  // namespace
}  // namespace damper::retry
