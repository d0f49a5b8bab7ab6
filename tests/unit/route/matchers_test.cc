#include "route/matchers.h"

#include <gtest/gtest.h>

#include "tests/support/heads.h"

namespace damper::route {
namespace {

using config::HeaderMatch;
using config::StringMatch;
using Kind = StringMatch::Kind;
using Path = config::RouteMatch::Path;
using tests::request;
using tests::response;

bool string_matches(const StringMatch& rule, std::string_view text) {
  const auto matcher = StringMatcher::compile(rule);
  return matcher && matcher->matches(text);
}

TEST(StringMatcher, EveryKindHasTwoSides) {
  const struct {
    StringMatch rule;
    std::string_view text;
    bool matches;
  } kCases[] = {
      {{Kind::kExact, "abc"}, "abc", true},
      {{Kind::kExact, "abc"}, "abcd", false},
      {{Kind::kExact, "abc"}, "ABC", false},
      {{Kind::kExact, "aBc", true}, "AbC", true},
      {{Kind::kExact, ""}, "", true},
      {{Kind::kExact, ""}, "x", false},
      {{Kind::kPrefix, "ab"}, "abc", true},
      {{Kind::kPrefix, "ab"}, "a", false},
      {{Kind::kPrefix, "AB", true}, "abc", true},
      {{Kind::kSuffix, "bc"}, "abc", true},
      {{Kind::kSuffix, "bc"}, "bcd", false},
      {{Kind::kContains, "b"}, "abc", true},
      {{Kind::kContains, "x"}, "abc", false},
      {{Kind::kContains, "B", true}, "abc", true},
      {{Kind::kRegex, "a.c"}, "abc", true},
      {{Kind::kRegex, "a.c"}, "abcd", false},
      {{Kind::kRegex, "a.c", true}, "ABC", false},  // ignore_case has no effect on a regex
      {{Kind::kRegex, "(?i)a.c"}, "ABC", true},
  };
  for (const auto& c : kCases)
    EXPECT_EQ(string_matches(c.rule, c.text), c.matches) << c.rule.text << " " << c.text;
}

TEST(StringMatcher, ABadRegexIsAnError) {
  EXPECT_FALSE(StringMatcher::compile({Kind::kRegex, "["}));
  EXPECT_TRUE(StringMatcher::compile({Kind::kExact, "["}));
}

bool header_matches(const HeaderMatch& rule, tests::HeaderList headers) {
  const auto matcher = HeaderMatcher::compile(rule);
  return matcher && matcher->matches(request("a", "/", headers));
}

TEST(HeaderMatcher, PresenceAndAbsence) {
  EXPECT_TRUE(header_matches({.name = "x"}, {{"x", ""}}));
  EXPECT_FALSE(header_matches({.name = "x"}, {{"y", ""}}));
  EXPECT_FALSE(header_matches({.name = "x", .present = false}, {{"x", ""}}));
  EXPECT_TRUE(header_matches({.name = "x", .present = false}, {}));
  EXPECT_FALSE(header_matches({.name = "x", .invert = true}, {{"x", ""}}));
  EXPECT_TRUE(header_matches({.name = "x", .invert = true}, {}));
  EXPECT_FALSE(header_matches({.name = "x", .present = false, .invert = true}, {}));
}

TEST(HeaderMatcher, AnInvertedValueStillWantsTheHeader) {
  const HeaderMatch rule{.name = "x", .value = StringMatch{Kind::kExact, "a"}, .invert = true};
  EXPECT_TRUE(header_matches(rule, {{"x", "b"}}));
  EXPECT_FALSE(header_matches(rule, {{"x", "a"}}));
  EXPECT_FALSE(header_matches(rule, {}));
}

TEST(HeaderMatcher, AMissingHeaderMayCountAsEmpty) {
  HeaderMatch rule{.name = "x", .value = StringMatch{Kind::kExact, "a"}, .invert = true};
  rule.treat_missing_as_empty = true;
  EXPECT_TRUE(header_matches(rule, {}));
  rule.invert = false;
  EXPECT_FALSE(header_matches(rule, {}));
  rule.value->text = "";
  EXPECT_TRUE(header_matches(rule, {}));
}

TEST(HeaderMatcher, ARangeIncludesItsStartAndNotItsEnd) {
  const HeaderMatch rule{.name = "x", .range = std::pair<std::int64_t, std::int64_t>{-10, 5}};
  const struct {
    std::string_view value;
    bool matches;
  } kCases[] = {{"-10", true}, {"-11", false}, {"4", true},    {"5", false},
                {"+4", true},  {" 4 ", true},  {"4.0", false}, {"", false},
                {"4a", false}, {"+-4", false}, {"-", false},   {"9223372036854775808", false}};
  for (const auto& c : kCases)
    EXPECT_EQ(header_matches(rule, {{"x", c.value}}), c.matches) << c.value;
}

TEST(HeaderMatcher, SeveralFieldsAreOneValue) {
  const HeaderMatch rule{.name = "x", .value = StringMatch{Kind::kExact, "a,b,c"}};
  EXPECT_TRUE(header_matches(rule, {{"x", "a"}, {"y", "-"}, {"x", "b"}, {"x", "c"}}));
  EXPECT_FALSE(header_matches(rule, {{"x", "a"}}));
  EXPECT_TRUE(header_matches({.name = "x", .value = StringMatch{Kind::kExact, ",a"}},
                             {{"x", ""}, {"x", "a"}}));
}

TEST(HeaderMatcher, FindsWhatARequestKeepsOutsideItsFields) {
  auto head = request("a.com", "/p?q=1", {}, "POST");
  head.scheme = "https";
  head.upgrade = "websocket";
  head.content_length = 120;
  const std::pair<std::string, std::string> kValues[] = {
      {":method", "POST"},  {":path", "/p?q=1"},      {":authority", "a.com"},  {"host", "a.com"},
      {":scheme", "https"}, {"upgrade", "websocket"}, {"content-length", "120"}};
  for (const auto& [name, value] : kValues) {
    const auto right =
        HeaderMatcher::compile({.name = name, .value = StringMatch{Kind::kExact, value}});
    const auto wrong =
        HeaderMatcher::compile({.name = name, .value = StringMatch{Kind::kExact, value + "x"}});
    EXPECT_TRUE(right->matches(head)) << name;
    EXPECT_FALSE(wrong->matches(head)) << name;
  }
  const auto length = HeaderMatcher::compile({.name = "content-length"});
  EXPECT_FALSE(length->matches(request("a.com", "/")));
}

TEST(HeaderMatcher, JudgesResponsesToo) {
  const auto status = HeaderMatcher::compile(
      {.name = ":status", .range = std::pair<std::int64_t, std::int64_t>{500, 504}});
  EXPECT_TRUE(status->matches(response(503)));
  EXPECT_FALSE(status->matches(response(504)));
  const auto again =
      HeaderMatcher::compile({.name = "x-retry", .value = StringMatch{Kind::kExact, "yes"}});
  EXPECT_TRUE(again->matches(response(200, {{"x-retry", "yes"}})));
  EXPECT_FALSE(again->matches(response(200)));
}

TEST(HeaderMatchers, AllOrAnyOfThem) {
  const auto matchers = compile({{.name = "a"}, {.name = "b"}});
  ASSERT_TRUE(matchers);
  const auto both = request("h", "/", {{"a", ""}, {"b", ""}});
  const auto one = request("h", "/", {{"b", ""}});
  EXPECT_TRUE(all_match(*matchers, both));
  EXPECT_FALSE(all_match(*matchers, one));
  EXPECT_TRUE(any_matches(*matchers, one));
  EXPECT_FALSE(any_matches(*matchers, request("h", "/")));
  EXPECT_FALSE(compile({{.name = "a", .value = StringMatch{Kind::kRegex, "("}}}));
}

bool query_matches(const config::QueryMatch& rule, std::string_view target) {
  const auto matcher = QueryMatcher::compile(rule);
  return matcher && matcher->matches(target);
}

TEST(QueryMatcher, FindsTheFirstParameterOfItsName) {
  const config::QueryMatch present{.name = "a"};
  const config::QueryMatch absent{.name = "a", .present = false};
  const config::QueryMatch one{.name = "a", .value = StringMatch{Kind::kExact, "1"}};
  const struct {
    std::string_view target;
    bool present, one;
  } kCases[] = {
      {"/p", false, false},        {"/p?", false, false},     {"/p?a", true, false},
      {"/p?a=", true, false},      {"/p?a=1", true, true},    {"/p?b=2&a=1", true, true},
      {"/p?a=2&a=1", true, false}, {"/p?aa=1", false, false}, {"/a=1?b=a=1", false, false},
      {"/p?&&a=1&", true, true},   {"/p?a=1=2", true, false}};
  for (const auto& c : kCases) {
    EXPECT_EQ(query_matches(present, c.target), c.present) << c.target;
    EXPECT_EQ(query_matches(absent, c.target), !c.present) << c.target;
    EXPECT_EQ(query_matches(one, c.target), c.one) << c.target;
  }
}

TEST(PathMatcher, EveryKindHasTwoSides) {
  const struct {
    Path kind;
    const char* text;
    std::string_view path;
    bool matches;
  } kCases[] = {
      {Path::kPrefix, "/", "/anything", true},
      {Path::kPrefix, "/", "*", true},
      {Path::kPrefix, "/api", "/apix", true},
      {Path::kPrefix, "/api", "/ap", false},
      {Path::kPrefix, "/api", "/API", false},
      {Path::kPrefix, "/orders/v1/", "/orders/v1/", true},
      {Path::kPrefix, "/orders/v1/", "/orders/v1/7", true},
      {Path::kPrefix, "/orders/v1/", "/orders/v2/7", false},
      {Path::kPrefix, "/orders/v1/", "/ordars/v1/7", false},
      {Path::kPrefix, "/orders/v1/", "/border/v1/7", false},
      {Path::kPrefix, "/orders/", "/orders/", true},
      {Path::kPrefix, "/orders/", "/orders?", false},
      {Path::kExact, "/orders/v1", "/orders/v1", true},
      {Path::kExact, "/orders/v1", "/orders/v11", false},
      {Path::kExact, "/api", "/api", true},
      {Path::kExact, "/api", "/api/", false},
      {Path::kPathSeparatedPrefix, "/api", "/api", true},
      {Path::kPathSeparatedPrefix, "/api", "/api/x", true},
      {Path::kPathSeparatedPrefix, "/api", "/apix", false},
      {Path::kRegex, "/[a-z]+", "/abc", true},
      {Path::kRegex, "/[a-z]+", "/abc/", false},
  };
  for (const auto& c : kCases) {
    const auto matcher = PathMatcher::compile({.path = c.kind, .text = c.text});
    ASSERT_TRUE(matcher);
    EXPECT_EQ(matcher->matches(c.path), c.matches) << c.text << " " << c.path;
  }
}

TEST(PathMatcher, CaseMayBeIgnoredExceptByARegex) {
  for (const Path kind : {Path::kPrefix, Path::kExact, Path::kPathSeparatedPrefix}) {
    const auto matcher =
        PathMatcher::compile({.path = kind, .text = "/Api", .case_sensitive = false});
    EXPECT_TRUE(matcher->matches("/aPI"));
    EXPECT_FALSE(matcher->matches("/aPX"));
  }
  const auto regex =
      PathMatcher::compile({.path = Path::kRegex, .text = "/Api", .case_sensitive = false});
  EXPECT_FALSE(regex->matches("/aPI"));
}

}  // namespace
}  // namespace damper::route
