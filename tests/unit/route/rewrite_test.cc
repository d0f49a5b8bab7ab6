#include "route/rewrite.h"

#include <gtest/gtest.h>

#include "tests/support/heads.h"

namespace damper::route {
namespace {

using Path = config::RouteMatch::Path;
using tests::request;

std::string prefix_rewritten(Path kind, const char* match, const char* rewrite,
                             std::string_view target) {
  const auto r = PathRewrite::compile({.path = kind, .text = match}, rewrite, std::nullopt);
  return r ? r->apply(target) : "error";
}

TEST(PathRewrite, ReplacesWhatWasMatchedAndKeepsTheQuery) {
  EXPECT_EQ(prefix_rewritten(Path::kPrefix, "/api", "/v1", "/api/x?q=/api"), "/v1/x?q=/api");
  EXPECT_EQ(prefix_rewritten(Path::kPrefix, "/api/", "/", "/api/x"), "/x");
  EXPECT_EQ(prefix_rewritten(Path::kPathSeparatedPrefix, "/api", "/v1", "/api"), "/v1");
  EXPECT_EQ(prefix_rewritten(Path::kExact, "/api", "/v1", "/api?x"), "/v1?x");
  EXPECT_EQ(prefix_rewritten(Path::kRegex, "/.*", "/v1", "/api/x?y"), "/v1?y");
}

TEST(PathRewrite, ARegexSeesThePathAlone) {
  const auto r = PathRewrite::compile(
      {}, "", config::RegexRewrite{"^/service/([^/]+)(/.*)$", "\\2/instance/\\1"});
  ASSERT_TRUE(r);
  EXPECT_EQ(r->apply("/service/foo/v1/api?x=/service/a/b"), "/v1/api/instance/foo?x=/service/a/b");
  EXPECT_EQ(r->apply("/other"), "/other");
}

TEST(PathRewrite, IsActiveOnlyIfSomethingIsToBeRewritten) {
  EXPECT_FALSE(PathRewrite::compile({}, "", std::nullopt)->active());
  EXPECT_TRUE(PathRewrite::compile({}, "/x", std::nullopt)->active());
  EXPECT_TRUE(PathRewrite::compile({}, "", config::RegexRewrite{"x", ""})->active());
}

TEST(PathRewrite, AMistakeIsNamed) {
  EXPECT_EQ(check_rewrite({"a(b)", "\\1"}), std::nullopt);
  EXPECT_TRUE(check_rewrite({"a(", "x"}));
  EXPECT_TRUE(check_rewrite({"a(b)", "\\2"}));
  EXPECT_FALSE(PathRewrite::compile({}, "", config::RegexRewrite{"a(b)", "\\2"}));
}

TEST(Redirect, ChangesOnlyWhatItNames) {
  const struct {
    config::Redirect redirect;
    std::string location;
  } kCases[] = {
      {{}, "http://a.com:8080/p?q=1"},
      {{.https = true}, "https://a.com:8080/p?q=1"},
      {{.scheme = "ftp"}, "ftp://a.com:8080/p?q=1"},
      {{.host = "b.com"}, "http://b.com/p?q=1"},
      {{.port = 81}, "http://a.com:81/p?q=1"},
      {{.host = "b.com", .port = 81}, "http://b.com:81/p?q=1"},
      {{.path = "/new"}, "http://a.com:8080/new?q=1"},
      {{.path = "/new?own=1"}, "http://a.com:8080/new?own=1"},
      {{.strip_query = true}, "http://a.com:8080/p"},
      {{.path = "/new", .strip_query = true}, "http://a.com:8080/new"},
      {{.path = "/new?own=1", .strip_query = true}, "http://a.com:8080/new?own=1"},
      {{.path = "new"}, "http://a.com:8080/new?q=1"},
  };
  const auto head = request("a.com:8080", "/p?q=1", {{"x-forwarded-proto", "http"}});
  for (const auto& c : kCases)
    EXPECT_EQ(redirect_location(c.redirect, head, head.path), c.location);
}

TEST(Redirect, TheOldSchemesDefaultPortDoesNotStay) {
  const config::Redirect to_https{.https = true};
  const struct {
    std::string_view authority, proto;
    std::string location;
  } kCases[] = {
      {"a.com:80", "http", "https://a.com/"},     {"a.com:443", "http", "https://a.com:443/"},
      {"a.com:80", "https", "https://a.com:80/"}, {"[::1]:80", "http", "https://[::1]/"},
      {"[::1]", "http", "https://[::1]/"},
  };
  for (const auto& c : kCases) {
    const auto head = request(c.authority, "/", {{"x-forwarded-proto", c.proto}});
    EXPECT_EQ(redirect_location(to_https, head, head.path), c.location);
  }
}

}  // namespace
}  // namespace damper::route
