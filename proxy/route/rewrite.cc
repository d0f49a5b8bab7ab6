#include "route/rewrite.h"

#include <algorithm>

#include "base/text.h"
#include "route/matchers.h"
#include "route/normalize.h"

namespace damper::route {
namespace {

Result<Regex> compile_rewrite(const config::RegexRewrite& rewrite) {
  auto regex = Regex::compile(rewrite.pattern);
  if (regex) TRY(regex->check_substitution(rewrite.substitution));
  return regex;
}

// The request's own authority, without a port that the redirect makes wrong: it has one of its own,
// or it changes the scheme and the port was the old scheme's default.
std::string_view own_host(const http::RequestHead& head, std::string_view scheme, bool new_port) {
  const std::string_view host = without_port(head.authority);
  const std::string_view port = head.authority.substr(host.size());
  const std::string_view came_by = head.fields.find(http::HeaderId::kXForwardedProto).value_or("");
  const bool old_default = scheme != came_by && ((came_by == "https" && port == ":443") ||
                                                 (came_by == "http" && port == ":80"));
  return new_port || old_default ? host : head.authority;
}

std::string redirect_target(const config::Redirect& redirect, std::string_view target) {
  std::string out(target);
  if (!redirect.path.empty()) {
    out = redirect.path;
    if (out.find('?') != std::string::npos)
      return out;  // its query is meant: it stays, whatever strip_query says
    out.append(target.substr(without_query(target).size()));
  }
  if (!out.starts_with('/')) out.insert(0, 1, '/');
  if (redirect.strip_query) out.resize(without_query(out).size());
  return out;
}

}  // namespace

Result<PathRewrite> PathRewrite::compile(const config::RouteMatch& match,
                                         const std::string& prefix_rewrite,
                                         const std::optional<config::RegexRewrite>& regex_rewrite) {
  PathRewrite out;
  if (regex_rewrite) {
    TRY_ASSIGN(out.regex_, compile_rewrite(*regex_rewrite));
    out.replacement_ = regex_rewrite->substitution;
    return out;
  }
  out.replacement_ = prefix_rewrite;
  out.matched_ =
      match.path == config::RouteMatch::Path::kRegex ? std::string::npos : match.text.size();
  return out;
}

std::string PathRewrite::apply(std::string_view target) const {
  const std::string_view path = without_query(target);
  const std::string_view query = target.substr(path.size());
  std::string out;
  if (regex_) {
    out = regex_->replace_all(path, replacement_);
  } else {
    // A filter may have shortened the path since it was matched.
    out.append(replacement_).append(path.substr(std::min(matched_, path.size())));
  }
  return out.append(query);
}

std::optional<std::string> check_rewrite(const config::RegexRewrite& rewrite) {
  const auto regex = compile_rewrite(rewrite);
  if (regex) return std::nullopt;
  return regex.error().detail;
}

std::string redirect_location(const config::Redirect& redirect, const http::RequestHead& head,
                              std::string_view target) {
  std::string_view scheme = head.scheme;
  if (redirect.https) scheme = "https";
  if (!redirect.scheme.empty()) scheme = redirect.scheme;

  std::string out(scheme);
  out.append("://");
  out.append(redirect.host.empty() ? own_host(head, scheme, redirect.port != 0) : redirect.host);
  if (redirect.port != 0) {
    out.push_back(':');
    append_number(out, redirect.port);
  }
  return out.append(redirect_target(redirect, target));
}

}  // namespace damper::route
