#include "server/access_log_filter.h"

#include <gtest/gtest.h>

#include "tests/support/sample_record.h"

namespace damper::server {
namespace {

using config::LogFilter;
using Kind = LogFilter::Kind;
using Comparison = LogFilter::Comparison;

bool passes(const LogFilter& rule, const stream::AccessRecord& record, std::uint64_t draw = 0) {
  auto filter = AccessLogFilter::compile(rule);
  EXPECT_TRUE(filter);
  return filter && filter->passes(record, draw);
}

LogFilter compared(Kind kind, Comparison comparison, std::uint64_t value) {
  return {.kind = kind, .comparison = comparison, .value = value};
}

TEST(AccessLogFilter, ComparesStatusAndDuration) {
  const tests::SampleRecord sample;  // 200, 25 ms
  const struct {
    Kind kind;
    Comparison comparison;
    std::uint64_t value;
    bool passes;
  } cases[] = {
      {Kind::kStatus, Comparison::kEqual, 200, true},
      {Kind::kStatus, Comparison::kEqual, 201, false},
      {Kind::kStatus, Comparison::kGreaterOrEqual, 200, true},
      {Kind::kStatus, Comparison::kGreaterOrEqual, 201, false},
      {Kind::kStatus, Comparison::kLessOrEqual, 200, true},
      {Kind::kStatus, Comparison::kLessOrEqual, 199, false},
      {Kind::kStatus, Comparison::kNotEqual, 201, true},
      {Kind::kStatus, Comparison::kNotEqual, 200, false},
      {Kind::kDuration, Comparison::kGreaterOrEqual, 25, true},
      {Kind::kDuration, Comparison::kGreaterOrEqual, 26, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(passes(compared(c.kind, c.comparison, c.value), sample.record), c.passes) << c.value;
  }
}

TEST(AccessLogFilter, FindsResponseFlags) {
  stream::AccessRecord plain, failed;
  stream::set(failed.flags, stream::Flag::kUpstreamFailure);
  const LogFilter any{.kind = Kind::kResponseFlag};
  const LogFilter some{.kind = Kind::kResponseFlag, .flags = {"URX", "UF"}};
  const LogFilter other{.kind = Kind::kResponseFlag, .flags = {"URX", "UAEX"}};
  EXPECT_FALSE(passes(any, plain));
  EXPECT_TRUE(passes(any, failed));
  EXPECT_TRUE(passes(some, failed));
  EXPECT_FALSE(passes(other, failed));
}

TEST(AccessLogFilter, AnUnknownFlagIsAnError) {
  const LogFilter inner{.kind = Kind::kResponseFlag, .flags = {"URXX"}};
  const auto filter = AccessLogFilter::compile({.kind = Kind::kAnd, .filters = {inner}});
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().detail, "unknown response flag \"URXX\", did you mean \"URX\"?");
}

TEST(AccessLogFilter, KnowsHealthChecks) {
  stream::AccessRecord record;
  const LogFilter filter{.kind = Kind::kNotHealthCheck};
  EXPECT_TRUE(passes(filter, record));
  record.health_check = true;
  EXPECT_FALSE(passes(filter, record));
}

TEST(AccessLogFilter, TraceableIsWhatTheCallerSamples) {
  const struct {
    const char* flags;
    bool traced;
  } cases[] = {{"01", true}, {"03", true}, {"00", false}, {"", false}};
  for (const auto& c : cases) {
    const auto parent = std::string("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-");
    tests::SampleRecord sample;
    sample.request.fields.add("traceparent", parent + c.flags);
    EXPECT_EQ(passes({.kind = Kind::kTraceable}, sample.record), c.traced) << c.flags;
  }
  EXPECT_FALSE(passes({.kind = Kind::kTraceable}, {}));
}

TEST(AccessLogFilter, MatchesAHeaderOfTheRequest) {
  const tests::SampleRecord sample;
  LogFilter filter{.kind = Kind::kHeader};
  filter.header = config::HeaderMatch{
      .name = "user-agent",
      .value = config::StringMatch{.kind = config::StringMatch::Kind::kPrefix, .text = "curl"}};
  EXPECT_TRUE(passes(filter, sample.record));
  filter.header->value->text = "wget";
  EXPECT_FALSE(passes(filter, sample.record));
  EXPECT_FALSE(passes(filter, {}));
}

TEST(AccessLogFilter, GrpcStatusesAreIncludedOrExcluded) {
  tests::SampleRecord sample;
  sample.trailers.add("grpc-status", "14");
  LogFilter filter{.kind = Kind::kGrpcStatus, .grpc_statuses = {4, 14}};
  EXPECT_TRUE(passes(filter, sample.record));
  filter.exclude = true;
  EXPECT_FALSE(passes(filter, sample.record));
  filter.grpc_statuses = {4};
  EXPECT_TRUE(passes(filter, sample.record));
}

TEST(AccessLogFilter, AShareIsDecidedByTheDraw) {
  const LogFilter tenth{.kind = Kind::kRuntime, .share = {100'000}};
  EXPECT_TRUE(passes(tenth, {}, 99'999));
  EXPECT_FALSE(passes(tenth, {}, 100'000));
  EXPECT_TRUE(passes(tenth, {}, 1'000'000));
  EXPECT_FALSE(passes({.kind = Kind::kRuntime, .share = {0}}, {}, 0));
}

TEST(AccessLogFilter, FiltersCombine) {
  const tests::SampleRecord sample;
  const LogFilter yes = compared(Kind::kStatus, Comparison::kEqual, 200);
  const LogFilter no = compared(Kind::kStatus, Comparison::kEqual, 503);
  EXPECT_TRUE(passes({.kind = Kind::kAnd, .filters = {yes, yes}}, sample.record));
  EXPECT_FALSE(passes({.kind = Kind::kAnd, .filters = {yes, no}}, sample.record));
  EXPECT_TRUE(passes({.kind = Kind::kOr, .filters = {no, yes}}, sample.record));
  EXPECT_FALSE(passes({.kind = Kind::kOr, .filters = {no, no}}, sample.record));
}

}  // namespace
}  // namespace damper::server
