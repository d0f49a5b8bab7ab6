#include "config/load/common.h"

#include <gtest/gtest.h>

#include "tests/support/config_text.h"

namespace damper::config {
namespace {

TEST(HeaderMatches, ReadTheOlderFieldsToo) {
  const std::pair<const char*, HeaderMatch> cases[] = {
      {"{ name: X-A }", {.name = "x-a"}},
      {"{ name: x-a, present_match: false }", {.name = "x-a", .present = false}},
      {"{ name: x-a, exact_match: b, invert_match: true }",
       {.name = "x-a", .value = StringMatch{.text = "b"}, .invert = true}},
      {"{ name: x-a, string_match: { suffix: b, ignore_case: true } }",
       {.name = "x-a",
        .value =
            StringMatch{.kind = StringMatch::Kind::kSuffix, .text = "b", .ignore_case = true}}},
      {"{ name: x-a, safe_regex_match: { regex: b } }",
       {.name = "x-a", .value = StringMatch{.kind = StringMatch::Kind::kRegex, .text = "b"}}},
      {"{ name: x-a, range_match: { start: \"-5\", end: 5 }, treat_missing_header_as_empty: true }",
       {.name = "x-a",
        .range = std::pair<std::int64_t, std::int64_t>(-5, 5),
        .treat_missing_as_empty = true}},
  };
  for (const auto& [text, match] : cases) {
    const Route route = load_route("{ match: { prefix: /, headers: [ " + std::string(text) +
                                   " ] }, direct_response: { status: 200 } }");
    EXPECT_EQ(route.match.headers, std::vector<HeaderMatch>{match}) << text;
  }
}

}  // namespace
}  // namespace damper::config
