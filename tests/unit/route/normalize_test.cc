#include "route/normalize.h"

#include <gtest/gtest.h>

#include "tests/support/heads.h"

namespace damper::route {
namespace {

using EscapedSlashes = config::HttpOptions::EscapedSlashes;
using tests::request;

TEST(CanonicalPath, ResolvesDotsAndDecodesWhatNeedNotBeEncoded) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"/a/b", "/a/b"},
      {"/a/b/../c", "/a/c"},
      {"/a/./b", "/a/b"},
      {"/a/b/..", "/a/"},
      {"/a/b/.", "/a/b/"},
      {"/../../a", "/a"},
      {"/..", "/"},
      {"/", "/"},
      {"/a/", "/a/"},
      {"/a//b", "/a//b"},
      {"/a//../b", "/a/b"},
      {"/a/%2e%2E/b", "/b"},
      {"/a/.%2e/b", "/b"},
      {"/a/...", "/a/..."},
      {"/%41%7a%30%2d%5f%7E", "/Az0-_~"},
      {"/a%2Fb%20c", "/a%2Fb%20c"},
      {"/a\\..\\b", "/b"},
      {"/100%", "/100%"},
      {"/%zz%4", "/%zz%4"},
      {"/a/..?x=/../%41", "/?x=/../%41"},
  };
  for (const auto& [from, to] : kCases) EXPECT_EQ(canonical_path(from), to) << from;
}

TEST(CanonicalPath, AnEncodedNulIsRefused) {
  EXPECT_EQ(canonical_path("/a/.%00./b"), std::nullopt);
  EXPECT_EQ(canonical_path("/a%%0000"), std::nullopt);
  EXPECT_EQ(canonical_path("/a?x=%00"), "/a?x=%00");
}

TEST(MergeSlashes, LeavesTheQueryAlone) {
  EXPECT_EQ(merge_slashes("//a///b//?x=//"), "/a/b/?x=//");
  EXPECT_EQ(merge_slashes("/a/b"), "/a/b");
}

TEST(UnescapeSlashes, BothKindsInBothCases) {
  EXPECT_EQ(unescape_slashes("/a%2Fb%2fc%5Cd%5ce?x=%2F"), "/a/b/c\\d\\e?x=%2F");
  EXPECT_EQ(unescape_slashes("/a%2b%2"), "/a%2b%2");
}

struct Normalized {
  PathVerdict verdict;
  std::string path;
  bool operator==(const Normalized&) const = default;
};

Normalized normalized(std::string_view path, const config::HttpOptions& options,
                      tests::HeaderList headers = {}) {
  auto head = request("a", path, headers);
  const PathVerdict verdict = normalize_path(head, options);
  return {verdict, std::string(head.path)};
}

TEST(NormalizePath, WithoutOptionsOnlyAFragmentIsRefused) {
  EXPECT_EQ(normalized("/a/../b//c%2Fd", {}), (Normalized{PathVerdict::kUse, "/a/../b//c%2Fd"}));
  EXPECT_EQ(normalized("/a#b", {}).verdict, PathVerdict::kReject);
  EXPECT_EQ(normalized("/a?b#c", {}).verdict, PathVerdict::kReject);
}

TEST(NormalizePath, DoesTheStepsInOrder) {
  config::HttpOptions options;
  options.normalize_path = true;
  EXPECT_EQ(normalized("/a/../b//c", options), (Normalized{PathVerdict::kUse, "/b//c"}));
  EXPECT_EQ(normalized("/a%00", options).verdict, PathVerdict::kReject);
  EXPECT_EQ(normalized("*", options), (Normalized{PathVerdict::kUse, "*"}));
  options.merge_slashes = true;
  EXPECT_EQ(normalized("/a/../b//c?//", options), (Normalized{PathVerdict::kUse, "/b/c?//"}));
  options.path_with_escaped_slashes = EscapedSlashes::kUnescapeAndForward;
  EXPECT_EQ(normalized("/a%2f..%2f%2Fb", options), (Normalized{PathVerdict::kUse, "/b"}));
}

TEST(NormalizePath, EscapedSlashesMayBeRefusedOrRedirected) {
  config::HttpOptions options;
  options.path_with_escaped_slashes = EscapedSlashes::kReject;
  EXPECT_EQ(normalized("/a%2Fb", options).verdict, PathVerdict::kReject);
  EXPECT_EQ(normalized("/a?%2F", options).verdict, PathVerdict::kUse);
  options.path_with_escaped_slashes = EscapedSlashes::kUnescapeAndRedirect;
  EXPECT_EQ(normalized("/a%2Fb?x", options), (Normalized{PathVerdict::kRedirect, "/a/b?x"}));
  EXPECT_EQ(normalized("/a/b", options).verdict, PathVerdict::kUse);
  EXPECT_EQ(normalized("/a%2Fb", options, {{"content-type", "application/grpc"}}).verdict,
            PathVerdict::kReject);
  options.normalize_path = true;
  EXPECT_EQ(normalized("/a%2F..%2Fb", options), (Normalized{PathVerdict::kRedirect, "/b"}));
}

TEST(StripHostPort, AnyOrOnlyTheListenersOwn) {
  config::HttpOptions any, matching, none;
  any.strip_any_host_port = true;
  matching.strip_matching_host_port = true;
  const struct {
    std::string_view authority, any, matching;
  } kCases[] = {
      {"a.com:80", "a.com", "a.com"}, {"a.com:81", "a.com", "a.com:81"},
      {"a.com", "a.com", "a.com"},    {"a.com:x", "a.com:x", "a.com:x"},
      {"[::1]:80", "[::1]", "[::1]"}, {"[::1]", "[::1]", "[::1]"},
      {"a.com:", "a.com:", "a.com:"},
  };
  for (const auto& c : kCases) {
    const auto stripped = [&c](const config::HttpOptions& options) {
      auto head = request(c.authority, "/");
      strip_host_port(head, options, 80);
      return std::string(head.authority);
    };
    EXPECT_EQ(stripped(any), c.any);
    EXPECT_EQ(stripped(matching), c.matching);
    EXPECT_EQ(stripped(none), c.authority);
  }
}

}  // namespace
}  // namespace damper::route
