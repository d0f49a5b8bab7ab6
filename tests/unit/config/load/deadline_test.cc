#include "config/load/deadline.h"

#include <gtest/gtest.h>

#include "tests/support/config_text.h"

namespace damper::config {
namespace {

using Form = DeadlineFilter::Form;

std::vector<Filter> filters_of(const std::string& filters) {
  return load_listener(filters).http.filters;
}

DeadlineFilter deadline(const std::string& fields) {
  return std::get<DeadlineFilter>(
      filters_of("filters: [ deadline: { " + fields + " } ]")[0].settings);
}

TEST(DeadlineFilter, ReadsWhatIsWritten) {
  EXPECT_EQ(deadline(""), DeadlineFilter{});
  EXPECT_EQ(deadline("expected_cost: 2.5s, margin: 0s").expected_cost, 2500ms);
  EXPECT_TRUE(deadline("expected_cost: learned").learn_cost);
  const DeadlineFilter whole = deadline(
      "max: 60s, default: 2s, min_attempt_time: 20ms, mode: shadow, "
      "headers: [ X-Until, { name: x-left, form: relative }, { name: x-grpc, form: grpc } ], "
      "emit: [ x-left, X-Deadline ]");
  EXPECT_EQ(whole, (DeadlineFilter{.max = 60s,
                                   .if_none = 2s,
                                   .min_attempt_time = 20ms,
                                   .headers = {{"x-until", Form::kAbsolute},
                                               {"x-left", Form::kRelative},
                                               {"x-grpc", Form::kGrpc}},
                                   .emit = {"x-left", "x-deadline"},
                                   .mode = FilterMode::kShadow}));
  EXPECT_TRUE(deadline("emit: []").emit.empty());
}

TEST(DeadlineFilter, StandsAtTheHeadOfEveryShortChain) {
  const auto alone = filters_of("");
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(std::get<DeadlineFilter>(alone[0].settings), DeadlineFilter{});
  const auto before = filters_of("filters: [ buffer: { max_request_bytes: 9 } ]");
  ASSERT_EQ(before.size(), 2u);
  EXPECT_EQ(before[0].name, "deadline");
  const auto written = filters_of("filters: [ buffer: { max_request_bytes: 9 }, deadline ]");
  ASSERT_EQ(written.size(), 2u);
  EXPECT_EQ(written[1].name, "deadline");
  EXPECT_TRUE(filters_of("http_filters: []").empty());
}

}  // namespace
}  // namespace damper::config
