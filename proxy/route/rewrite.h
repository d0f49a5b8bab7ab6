// What a route makes of a request's path, and where a redirect points to.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "config/model/route.h"
#include "http/message.h"
#include "route/regex.h"

namespace damper::route {

// prefix_rewrite or regex_rewrite of a route or a redirect. The query stays as it is.
class PathRewrite {
 public:
  // `match` says how much of a path prefix_rewrite replaces: what it named, or with a regex all of
  // it.
  static Result<PathRewrite> compile(const config::RouteMatch& match,
                                     const std::string& prefix_rewrite,
                                     const std::optional<config::RegexRewrite>& regex_rewrite);

  bool active() const { return regex_.has_value() || !replacement_.empty(); }
  std::string apply(std::string_view target) const;

 private:
  std::optional<Regex> regex_;
  std::string replacement_;  // of the prefix, or the regex's substitution
  std::size_t matched_ = 0;  // bytes of the path that a prefix rewrite replaces
};

// Why a regex_rewrite cannot be used; nothing if it can. For the check of a configuration.
std::optional<std::string> check_rewrite(const config::RegexRewrite& rewrite);

// The Location of a redirect. `target` is the request's path after the redirect's own rewrite.
std::string redirect_location(const config::Redirect& redirect, const http::RequestHead& head,
                              std::string_view target);

}  // namespace damper::route
