#include "filters/retry/marks.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace damper::retry
