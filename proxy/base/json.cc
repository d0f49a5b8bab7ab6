#include "base/json.h"

#include <cstddef>

namespace damper {
namespace {

constexpr char kHex[] = "0123456789abcdef";

bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

void append_hex_byte(std::string& out, unsigned char c) {
  out.push_back(kHex[c >> 4]);
  out.push_back(kHex[c & 15]);
}

void append_ascii(std::string& out, unsigned char c) {
  switch (c) {
    case '"': out.append("\\\""); return;
    case '\\': out.append("\\\\"); return;
    case '\n': out.append("\\n"); return;
    case '\r': out.append("\\r"); return;
    case '\t': out.append("\\t"); return;
    default: out.append("\\u00"); append_hex_byte(out, c);
  }
}

struct Range {
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  bool has(char c) const {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= low && byte <= high;
  }
};

// What may follow the first byte: neither overlong forms, nor surrogates, nor beyond U+10FFFF (RFC
// 3629 §4).
Range second_byte(unsigned char first) {
  switch (first) {
    case 0xe0: return {0xa0, 0xbf};
    case 0xed: return {0x80, 0x9f};
    case 0xf0: return {0x90, 0xbf};
    case 0xf4: return {0x80, 0x8f};
    default: return {};
  }
}

std::size_t announced_length(unsigned char first) {
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  if (first >= 0xf0 && first <= 0xf4) return 4;
  return 0;
}

// The length of the character of several bytes that `text` starts with, 0 if it is none.
std::size_t multibyte_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = announced_length(first);
  if (length == 0 || text.size() < length || !second_byte(first).has(text[1])) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!Range{}.has(text[i])) return 0;
  }
  return length;
}

// Appends one character that is not plain; returns its length.
std::size_t append_special(std::string& out, std::string_view text) {
  const auto c = static_cast<unsigned char>(text.front());
  if (c < 0x80) {
    append_ascii(out, c);
    return 1;
  }
  if (const std::size_t length = multibyte_length(text); length > 0) {
    out.append(text.substr(0, length));
    return length;
  }
  out.append("\\\\x");
  append_hex_byte(out, c);
  return 1;
}

}  // namespace

void append_json_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(static_cast<unsigned char>(text[plain]))) ++plain;
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (!text.empty()) text.remove_prefix(append_special(out, text));
  }
}

void append_json_string(std::string& out, std::string_view text) {
  out.push_back('"');
  append_json_escaped(out, text);
  out.push_back('"');
}

}  // namespace damper
