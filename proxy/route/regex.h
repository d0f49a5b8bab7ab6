// Regular expressions of the configuration: RE2, whose time is linear in the text, as in Envoy.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace damper::route {

// Copies share the compiled program; any thread may use it.
class Regex {
 public:
  static Result<Regex> compile(const std::string& pattern);

  bool matches(std::string_view text) const;  // all of the text
  // Replaces every match; `substitution` may hold \0 to \9.
  std::string replace_all(std::string_view text, const std::string& substitution) const;
  // Is there a group for every \n of the substitution?
  Status check_substitution(const std::string& substitution) const;

 private:
  explicit Regex(std::shared_ptr<const re2::RE2> program) : program_(std::move(program)) {}
  std::shared_ptr<const re2::RE2> program_;
};

// Why the pattern is no regular expression; nothing if it is one. For the check of a configuration.
std::optional<std::string> check_regex(const std::string& pattern);

}  // namespace damper::route
