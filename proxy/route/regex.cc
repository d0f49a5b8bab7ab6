#include "route/regex.h"

#include <re2/re2.h>

namespace damper::route {

Result<Regex> Regex::compile(const std::string& pattern) {
  auto program = std::make_shared<const re2::RE2>(pattern, re2::RE2::Quiet);
  if (!program->ok()) {
    return Error{Errc::kInvalid, Side::kLocal, "regex '" + pattern + "': " + program->error()};
  }
  return Regex(std::move(program));
}

bool Regex::matches(std::string_view text) const { return re2::RE2::FullMatch(text, *program_); }

std::string Regex::replace_all(std::string_view text, const std::string& substitution) const {
  std::string out(text);
  re2::RE2::GlobalReplace(&out, *program_, substitution);
  return out;
}

Status Regex::check_substitution(const std::string& substitution) const {
  std::string why;
  if (program_->CheckRewriteString(substitution, &why)) return Ok{};
  return Error{Errc::kInvalid, Side::kLocal, "substitution '" + substitution + "': " + why};
}

std::optional<std::string> check_regex(const std::string& pattern) {
  const auto regex = Regex::compile(pattern);
  if (regex) return std::nullopt;
  return regex.error().detail;
}

}  // namespace damper::route
