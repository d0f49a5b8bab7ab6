#include "config/load/route.h"

#include <gtest/gtest.h>

#include "tests/support/config_text.h"

namespace damper::config {
namespace {

TEST(RouteMatches, HaveSixKinds) {
  using Path = RouteMatch::Path;
  const std::pair<const char*, RouteMatch> cases[] = {
      {"prefix: /a", {.path = Path::kPrefix, .text = "/a"}},
      {"path: /a, case_sensitive: false",
       {.path = Path::kExact, .text = "/a", .case_sensitive = false}},
      {"path_separated_prefix: /a", {.path = Path::kPathSeparatedPrefix, .text = "/a"}},
      {"safe_regex: { regex: /a.*, google_re2: {} }", {.path = Path::kRegex, .text = "/a.*"}},
      {"prefix: /, grpc: {}", {.grpc = true}},
      {"prefix: /, query_parameters: [ { name: q, string_match: { exact: x } } ]",
       {.query_parameters = {{.name = "q", .value = StringMatch{.text = "x"}}}}},
      {"prefix: /, runtime_fraction: { default_value: { numerator: 1, denominator: TEN_THOUSAND } "
       "}",
       {.runtime_fraction = Fraction{100}}},
  };
  for (const auto& [text, match] : cases) {
    EXPECT_EQ(
        load_route("{ match: { " + std::string(text) + " }, direct_response: { status: 200 } }")
            .match,
        match)
        << text;
  }
}

TEST(Routes, RedirectAndReplyAndChangeHeaders) {
  const Route redirect = load_route(
      "{ match: { prefix: / }, redirect: { https_redirect: true, port_redirect: 8443, "
      "prefix_rewrite: /b, response_code: PERMANENT_REDIRECT, strip_query: true } }");
  EXPECT_EQ(std::get<Redirect>(redirect.action), (Redirect{.status = 308,
                                                           .https = true,
                                                           .port = 8443,
                                                           .prefix_rewrite = "/b",
                                                           .strip_query = true}));
  const Route reply = load_route(
      "{ match: { prefix: / }, direct_response: { status: 503, body: { inline_string: no } }, "
      "response_headers_to_add: [ { header: { key: X-A, value: b }, append: false } ] }");
  EXPECT_EQ(std::get<DirectResponse>(reply.action), (DirectResponse{.status = 503, .body = "no"}));
  EXPECT_EQ(
      reply.headers.response_add,
      (std::vector<HeaderAdd>{
          {.name = "x-a", .value = "b", .append = HeaderAdd::Append::kOverwriteIfExistsOrAdd}}));
}

}  // namespace
}  // namespace damper::config
