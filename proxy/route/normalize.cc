#include "route/normalize.h"

#include <vector>

#include "base/text.h"
#include "route/matchers.h"

namespace damper::route {
namespace {

using EscapedSlashes = config::HttpOptions::EscapedSlashes;

bool unreserved(char c) {  // RFC 3986 §2.3
  const char l = to_lower(c);
  return is_digit(c) || (l >= 'a' && l <= 'z') || c == '-' || c == '.' || c == '_' || c == '~';
}

std::optional<std::string> decode_unreserved(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto byte = percent_octet(path.substr(i));
    if (byte == '\0') return std::nullopt;
    if (byte && unreserved(*byte)) {
      out.push_back(*byte);
      i += 2;
    } else {
      out.push_back(path[i] == '\\' ? '/' : path[i]);
    }
  }
  return out;
}

// RFC 3986 §5.2.4. Empty segments are segments: "/a//.." is "/a/".
std::string remove_dot_segments(std::string_view path) {
  std::vector<std::string_view> kept;
  bool directory = false;  // the last segment was "." or "..": the path ends with '/'
  while (!path.empty()) {
    path.remove_prefix(1);  // the '/'
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    directory = segment == "." || segment == "..";
    if (!directory) {
      kept.push_back(segment);
    } else if (segment == ".." && !kept.empty()) {
      kept.pop_back();
    }
  }
  std::string out;
  for (const auto segment : kept) out.append("/").append(segment);
  if (directory) out.push_back('/');
  return out;
}

PathVerdict unescape(http::RequestHead& head, EscapedSlashes action) {
  if (action == EscapedSlashes::kKeepUnchanged) return PathVerdict::kUse;
  const std::string unescaped = unescape_slashes(head.path);
  if (unescaped.size() == head.path.size()) return PathVerdict::kUse;
  if (action == EscapedSlashes::kReject) return PathVerdict::kReject;
  head.set_path(unescaped);
  if (action == EscapedSlashes::kUnescapeAndForward) return PathVerdict::kUse;
  return head.is_grpc() ? PathVerdict::kReject : PathVerdict::kRedirect;
}

}  // namespace

std::optional<std::string> canonical_path(std::string_view target) {
  const std::string_view path = without_query(target);
  auto out = decode_unreserved(path);
  if (!out) return std::nullopt;
  if (!out->starts_with('/')) out->insert(0, 1, '/');
  *out = remove_dot_segments(*out);
  out->append(target.substr(path.size()));
  return out;
}

std::string merge_slashes(std::string_view target) {
  const std::string_view path = without_query(target);
  std::string out;
  out.reserve(target.size());
  for (const char c : path) {
    if (c != '/' || !out.ends_with('/')) out.push_back(c);
  }
  return out.append(target.substr(path.size()));
}

std::string unescape_slashes(std::string_view target) {
  const std::string_view path = without_query(target);
  std::string out;
  out.reserve(target.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto byte = percent_octet(path.substr(i));
    if (byte == '/' || byte == '\\') {
      out.push_back(*byte);
      i += 2;
    } else {
      out.push_back(path[i]);
    }
  }
  return out.append(target.substr(path.size()));
}

PathVerdict normalize_path(http::RequestHead& head, const config::HttpOptions& options) {
  if (head.path.find('#') != std::string_view::npos) return PathVerdict::kReject;
  if (!head.path.starts_with('/')) return PathVerdict::kUse;  // "*"
  const PathVerdict verdict = unescape(head, options.path_with_escaped_slashes);
  if (verdict == PathVerdict::kReject) return verdict;
  if (options.normalize_path) {
    const auto canonical = canonical_path(head.path);
    if (!canonical) return PathVerdict::kReject;
    if (*canonical != head.path) head.set_path(*canonical);
  }
  // Last, because decoding may have brought slashes together.
  if (options.merge_slashes && without_query(head.path).find("//") != std::string_view::npos) {
    head.set_path(merge_slashes(head.path));
  }
  return verdict;
}

std::string_view without_port(std::string_view authority) {
  const auto colon = authority.rfind(':');
  if (colon == std::string_view::npos) return authority;
  const auto bracket = authority.rfind(']');  // the colons of an IPv6 address stand before it
  if (bracket != std::string_view::npos && bracket > colon) return authority;
  return authority.substr(0, colon);
}

void strip_host_port(http::RequestHead& head, const config::HttpOptions& options,
                     std::uint16_t local_port) {
  if (!options.strip_any_host_port && !options.strip_matching_host_port) return;
  const std::string_view host = without_port(head.authority);
  if (host.size() == head.authority.size()) return;
  const auto port = parse_number(head.authority.substr(host.size() + 1));
  if (port && (options.strip_any_host_port || *port == local_port)) head.authority = host;
}

}  // namespace damper::route
