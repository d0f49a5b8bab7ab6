// What a client sees of retries: the real server between a real client and a scripted upstream.
#include <gtest/gtest.h>

#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

constexpr const char* kRetry503 =
    "retry_policy: { retry_on: \"retriable-status-codes,reset,connect-failure\", "
    "retriable_status_codes: [503], "
    "num_retries: 2, retry_back_off: { base_interval: 1ms } }";

TEST(Retry, A503IsHiddenFromTheClientIfTheNextAttemptSucceeds) {
  ScriptedUpstream upstream(in_turn({http_response(503, "busy"), http_response(200, "fine")}));
  RunningProxy proxy(one_route(upstream.endpoint(), kRetry503));
  const WireMessage answer = proxy.get();
  EXPECT_EQ(answer.status(), 200);
  EXPECT_EQ(answer.body, "fine");
  EXPECT_EQ(upstream.requests().size(), 2u);
  EXPECT_EQ(upstream.connections(),
            1u);  // the short body of the 503 was read, and the connection kept
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_retry"), 1);
  EXPECT_EQ(proxy.stat("cluster.app.upstream_rq_retry_success"), 1);
}

TEST(Retry, TheLastAnswerIsDeliveredUnchangedWhenTheLimitIsReached) {
  ScriptedUpstream upstream(always(http_response(503, "busy", "x-why: load\r\n")));
  RunningProxy proxy(one_route(upstream.endpoint(), kRetry503));
  const WireMessage answer = proxy.get();
  EXPECT_EQ(answer.status(), 503);
  EXPECT_EQ(answer.body, "busy");
  EXPECT_EQ(answer.field("x-why"), "load");
  EXPECT_EQ(upstream.requests().size(), 3u);
  EXPECT_EQ(proxy.stat("cluster.app.retry_refused.limit"), 1);
}

}  // namespace
}  // namespace damper::tests
