#include "filters/retry/marks.h"

#include <gtest/gtest.h>

#include "tests/support/heads.h"
#include "tests/support/outcomes.h"

namespace damper::retry {
namespace {

using tests::Response;

TEST(Marks, AFinalMarkSurvivesTheWire) {
  const Mark mark{.by = "order-1", .attempts = 3, .verdict = "budget_window"};
  EXPECT_EQ(format_final(mark), "final; by=order-1; attempts=3; verdict=budget_window");
  EXPECT_EQ(parse_final(format_final(mark)), mark);
}

TEST(Marks, ANodeNameCannotBreakTheHeader) {
  const Mark hostile{.by = "a; verdict=x\r\nb", .attempts = 1, .verdict = "limit"};
  EXPECT_EQ(format_final(hostile), "final; by=a__verdict_x__b; attempts=1; verdict=limit");
}

TEST(Marks, ParametersMayBeInAnyOrderAbsentOrUnknown) {
  EXPECT_EQ(parse_final("final"), Mark{});
  EXPECT_EQ(parse_final(" Final ;ATTEMPTS = 2;;colour=red; verdict=limit;by=n"),
            (Mark{"n", 2, "limit"}));
  EXPECT_EQ(parse_final("final; attempts=many; by"), Mark{});
  EXPECT_EQ(parse_final("final; attempts=99999999999")->attempts, 1'000'000u);
  for (const auto* text : {"", ";", "owner", "finally", "by=n; final"}) {
    EXPECT_FALSE(parse_final(text)) << text;
  }
}

TEST(Marks, TheOwnerIsNamedByOneWord) {
  EXPECT_TRUE(is_owner_mark(kOwnerMark));
  EXPECT_TRUE(is_owner_mark("OWNER; by=edge"));
  EXPECT_FALSE(is_owner_mark("final; by=owner"));
  EXPECT_FALSE(is_owner_mark(""));
}

TEST(Marks, AFinalMarkAndPushbackForbidARetry) {
  EXPECT_TRUE(forbids_retry(Response(503, {{"x-damper-retry", "final; by=b"}}).outcome()));
  EXPECT_TRUE(forbids_retry(Response(200, {{"grpc-retry-pushback-ms", "-1"}}).outcome()));
  EXPECT_FALSE(forbids_retry(Response(503, {{"x-damper-retry", "owner"}}).outcome()));
  EXPECT_FALSE(forbids_retry(Response(503).outcome()));
  EXPECT_FALSE(forbids_retry(tests::failed(Failure::kReset)));
}

TEST(Marks, OnlyALayerThatDidWhatCouldBeDoneMarks) {
  EXPECT_TRUE(marks_response(Verdict::kLimit, 1));
  EXPECT_FALSE(marks_response(Verdict::kLimit, 0));
  for (const Verdict v :
       {Verdict::kDeadline, Verdict::kLiveOff, Verdict::kBreakerOpen, Verdict::kBudgetConcurrency,
        Verdict::kBudgetWindow, Verdict::kBudgetRate, Verdict::kBudgetThrottle}) {
    EXPECT_TRUE(marks_response(v, 0)) << word(v);
  }
  for (const Verdict v : {Verdict::kNone, Verdict::kResponseStarted, Verdict::kNotRetriable,
                          Verdict::kMarked, Verdict::kNotIdempotent, Verdict::kBodyLost}) {
    EXPECT_FALSE(marks_response(v, 2)) << word(v);
  }
  for (const Failure own : {Failure::kOverflow, Failure::kNoHealthyHost, Failure::kBreakerOpen}) {
    EXPECT_TRUE(marks_response(own)) << word(own);
  }
  EXPECT_FALSE(marks_response(Failure::kReset));
}

TEST(Marks, GrpcIsToldInItsOwnWordsToo) {
  http::ResponseHead head = tests::response(503, {{"x-damper-retry", "owner"}});
  add_final_mark(head.fields, "final; by=a", false);
  EXPECT_EQ(tests::text(head.fields), "x-damper-retry: final; by=a\n");
  add_final_mark(head.fields, "final; by=b", true);
  EXPECT_EQ(tests::text(head.fields), "x-damper-retry: final; by=b\ngrpc-retry-pushback-ms: -1\n");

  using Headers = decltype(stream::Reply::headers);
  stream::Reply plain;
  add_final_mark(plain, "final; by=a", false);
  EXPECT_EQ(plain.headers, (Headers{{http::HeaderId::kXDamperRetry, "final; by=a"}}));
  stream::Reply grpc;
  add_final_mark(grpc, "final; by=a", true);
  EXPECT_EQ(grpc.headers, (Headers{{http::HeaderId::kXDamperRetry, "final; by=a"},
                                   {http::HeaderId::kGrpcRetryPushbackMs, "-1"}}));
}

TEST(Marks, AttemptsAreCountedInBothForms) {
  const auto count = [](tests::HeaderList headers) {
    return attempt_count(tests::request("a", "/", headers).fields);
  };
  EXPECT_EQ(count({}), 1u);
  EXPECT_EQ(count({{"x-envoy-attempt-count", "3"}}), 3u);
  EXPECT_EQ(count({{"grpc-previous-rpc-attempts", "3"}}), 4u);
  EXPECT_EQ(count({{"x-envoy-attempt-count", "2"}, {"grpc-previous-rpc-attempts", "3"}}), 4u);
  EXPECT_EQ(count({{"x-envoy-attempt-count", "9"}, {"grpc-previous-rpc-attempts", "3"}}), 9u);
  for (const auto* text : {"", "0", "-1", "many"}) {
    EXPECT_EQ(count({{"x-envoy-attempt-count", text}}), 1u) << text;
  }
  EXPECT_EQ(count({{"grpc-previous-rpc-attempts", "x"}}), 1u);
  for (const auto* text : {"1000000", "1000001", "18446744073709551615"}) {
    EXPECT_EQ(count({{"x-envoy-attempt-count", text}}), 1'000'000u) << text;
    EXPECT_EQ(count({{"grpc-previous-rpc-attempts", text}}), 1'000'000u) << text;
  }
}

}  // namespace
}  // namespace damper::retry
