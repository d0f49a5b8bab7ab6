// The conditions of a configuration, compiled: is this text, this header, this parameter, this path
// meant? Used for routes and for retriable_headers. Meaning as in Envoy 1.40 (type.matcher.v3,
// config.route.v3).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/model/route.h"
#include "http/message.h"
#include "route/regex.h"

namespace damper::route {

// `/a/b` of `/a/b?x=1`.
std::string_view without_query(std::string_view target);

class StringMatcher {
 public:
  static Result<StringMatcher> compile(const config::StringMatch& rule);
  bool matches(std::string_view text) const;

 private:
  bool matches_exactly(std::string_view text) const;

  config::StringMatch rule_;  // its text in lower case if case is ignored
  std::optional<Regex> regex_;
};

// Several fields of one name are judged as one value, joined by ','. What our heads keep outside
// their fields is found too: :method, :path, :authority (or host), :scheme, :status,
// content-length, upgrade.
class HeaderMatcher {
 public:
  static Result<HeaderMatcher> compile(const config::HeaderMatch& rule);
  bool matches(const http::RequestHead& head) const;
  bool matches(const http::ResponseHead& head) const;

 private:
  enum class Source {
    kField,
    kMethod,
    kPath,
    kAuthority,
    kScheme,
    kStatus,
    kContentLength,
    kUpgrade
  };
  using Value = std::optional<std::string_view>;

  static Source source_of(std::string_view name);
  // `scratch` holds a value that stands nowhere in one piece.
  Value find(const http::RequestHead& head, std::string& scratch) const;
  Value find(const http::ResponseHead& head, std::string& scratch) const;
  Value find(const http::Fields& fields, std::string& scratch) const;
  bool judge(Value value) const;
  bool in_range(std::string_view value) const;

  config::HeaderMatch rule_;
  Source source_ = Source::kField;
  std::optional<StringMatcher> value_;
};

Result<std::vector<HeaderMatcher>> compile(const std::vector<config::HeaderMatch>& rules);

template <class Head>
bool all_match(const std::vector<HeaderMatcher>& matchers, const Head& head) {
  for (const HeaderMatcher& m : matchers) {
    if (!m.matches(head)) return false;
  }
  return true;
}

template <class Head>
bool any_matches(const std::vector<HeaderMatcher>& matchers, const Head& head) {
  for (const HeaderMatcher& m : matchers) {
    if (m.matches(head)) return true;
  }
  return false;
}

// One parameter of the query, as it stands there: nothing is decoded; of several of one name the
// first counts.
class QueryMatcher {
 public:
  static Result<QueryMatcher> compile(const config::QueryMatch& rule);
  bool matches(std::string_view target) const;

 private:
  std::string name_;
  bool present_ = true;
  std::optional<StringMatcher> value_;
};

// prefix, path, path_separated_prefix or safe_regex. A table scans these in order, so they are
// small.
class PathMatcher {
 public:
  static Result<PathMatcher> compile(const config::RouteMatch& rule);
  bool matches(std::string_view path) const;  // without its query

 private:
  bool starts(std::string_view path) const;

  std::string text_;
  std::optional<Regex> regex_;
  std::uint64_t tail_ = 0;  // the last eight bytes of text_, if it has as many
  config::RouteMatch::Path kind_ = config::RouteMatch::Path::kPrefix;
  bool case_sensitive_ = true;
};

}  // namespace damper::route
