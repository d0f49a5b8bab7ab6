// What is done to a request's path and authority before anybody looks at them: Envoy's path
// normalization, in its order (fragment, escaped slashes, dot segments, double slashes), and the
// stripping of ports.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/model/listener.h"
#include "http/message.h"

namespace damper::route {

enum class PathVerdict {
  kUse,       // head.path is as it is to be used
  kReject,    // answer 400, details `path_normalization_failed`
  kRedirect,  // answer 307 with head.path as Location
};

// Changes head.path as the options want. A '#' is always refused; so is a redirect of gRPC, whose
// clients follow none.
PathVerdict normalize_path(http::RequestHead& head, const config::HttpOptions& options);

// The steps. Each leaves the query alone.
// RFC 3986 §6.2.2: unreserved characters decoded, "." and ".." resolved, '\' read as '/'. Nothing
// for a path with %00.
std::optional<std::string> canonical_path(std::string_view target);
std::string merge_slashes(std::string_view target);
std::string unescape_slashes(std::string_view target);  // %2F and %5C

// strip_any_host_port, or strip_matching_host_port if the authority names the port at which the
// request came in.
void strip_host_port(http::RequestHead& head, const config::HttpOptions& options,
                     std::uint16_t local_port);

// `a.com` of `a.com:80`, `[::1]` of `[::1]:80`.
std::string_view without_port(std::string_view authority);

}  // namespace damper::route
