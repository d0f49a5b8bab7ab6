#include "route/domains.h"

#include <algorithm>

#include "base/text.h"

namespace damper::route {

Domains::ByText& Domains::of_length(std::vector<Wildcards>& wildcards, std::size_t length) {
  const auto at = std::find_if(wildcards.begin(), wildcards.end(),
                               [length](const Wildcards& w) { return w.length <= length; });
  if (at != wildcards.end() && at->length == length) return at->hosts;
  return wildcards.insert(at, Wildcards{length, {}})->hosts;
}

Status Domains::add(std::string_view domain, std::size_t virtual_host) {
  const std::string name = lower(domain);
  bool added = false;
  if (name == "*") {
    added = !any_;
    any_ = virtual_host;
  } else if (name.starts_with('*')) {
    added = of_length(suffixes_, name.size() - 1).emplace(name.substr(1), virtual_host).second;
  } else if (name.ends_with('*')) {
    added = of_length(prefixes_, name.size() - 1)
                .emplace(name.substr(0, name.size() - 1), virtual_host)
                .second;
  } else {
    added = exact_.emplace(name, virtual_host).second;
  }
  if (!added) return Error{Errc::kInvalid, Side::kLocal, "domain '" + name + "' occurs twice"};
  return Ok{};
}

std::optional<std::size_t> Domains::find(std::string_view authority) const {
  const bool lower_case =
      std::all_of(authority.begin(), authority.end(), [](char c) { return to_lower(c) == c; });
  return lower_case ? find_lower_case(authority) : find_lower_case(lower(authority));
}

std::optional<std::size_t> Domains::find_lower_case(std::string_view authority) const {
  if (const auto it = exact_.find(authority); it != exact_.end()) return it->second;
  // The '*' stands for at least one character: "*.a.com" is not ".a.com".
  for (const Wildcards& w : suffixes_) {
    if (w.length >= authority.size()) continue;
    const auto it = w.hosts.find(authority.substr(authority.size() - w.length));
    if (it != w.hosts.end()) return it->second;
  }
  for (const Wildcards& w : prefixes_) {
    if (w.length >= authority.size()) continue;
    const auto it = w.hosts.find(authority.substr(0, w.length));
    if (it != w.hosts.end()) return it->second;
  }
  return any_;
}

}  // namespace damper::route
