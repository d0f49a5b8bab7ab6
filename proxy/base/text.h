// Words about text that every folder may use. ASCII only: HTTP and our configuration know nothing
// else.
#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace damper {

inline char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline int hex_digit(char c) {  // -1: it is none
  if (is_digit(c)) return c - '0';
  const char low = to_lower(c);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

std::string lower(std::string_view text);
bool equals_ignoring_case(std::string_view a, std::string_view b);
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix);
std::string_view trim(std::string_view text);  // blanks and tabs at both ends

// The parts between separators, trimmed; empty parts are left out.
std::vector<std::string_view> split(std::string_view text, char separator);

// The octet that `%xy` at the start of the text stands for; nothing if there is no such thing.
std::optional<char> percent_octet(std::string_view text);

// RFC 4648 §4, padded; nothing if it is something else.
std::optional<std::string> decode_base64(std::string_view text);

// A whole number and nothing else: no sign, no blanks. Empty on overflow.
std::optional<std::uint64_t> parse_number(std::string_view text);

// The candidate nearest to `word` by edit distance, if one is near enough to be meant.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

template <class Number>
void append_number(std::string& out, Number n) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, n).ptr;
  out.append(digits, end);
}

}  // namespace damper
