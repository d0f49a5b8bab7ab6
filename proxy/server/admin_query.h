// What an operator asks of the admin listener: a path, and parameters from the query and from a
// posted form (application/x-www-form-urlencoded), both percent-decoded.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace damper::server {

struct AdminQuery {
  static AdminQuery parse(std::string_view method, std::string_view target, std::string_view form);

  std::string_view get(std::string_view name) const;  // empty: not given
  bool has(std::string_view name) const;

  std::string method;
  std::string path;
  std::vector<std::pair<std::string, std::string>> parameters;
};

}  // namespace damper::server
