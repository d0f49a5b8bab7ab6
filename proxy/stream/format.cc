#include "stream/format.h"

#include <algorithm>

namespace damper::stream {
namespace {

// Rewrites the control characters that were appended from `start` on.
void escape_controls(std::string& out, std::size_t start, bool keep_tabs) {
  const auto is_control = [keep_tabs](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0x7f || (byte < 0x20 && !(keep_tabs && c == '\t'));
  };
  const auto first = out.begin() + static_cast<std::ptrdiff_t>(start);
  if (std::none_of(first, out.end(), is_control)) return;
  constexpr char kHex[] = "0123456789abcdef";
  const std::string value = out.substr(start);
  out.resize(start);
  for (const char c : value) {
    if (!is_control(c)) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.append("\\x").push_back(kHex[byte >> 4]);
    out.push_back(kHex[byte & 15]);
  }
}

}  // namespace

Result<Format> Format::of(const config::AccessLog& log) {
  if (log.json) return json(*log.json, log.omit_empty_values);
  return text(log.text_format.empty() ? kDefault : log.text_format, log.omit_empty_values);
}

Result<Format> Format::text(std::string_view format, bool omit_empty_values) {
  return compile_text(format, omit_empty_values ? "" : "-", false);
}

Result<Format> Format::header_value(std::string_view format) {
  return compile_text(format, "", true);
}

Result<Format> Format::compile_text(std::string_view format, std::string_view missing,
                                    bool keep_tabs) {
  Text out{.pieces = {}, .missing = missing, .keep_tabs = keep_tabs};
  TRY_ASSIGN(out.pieces, parse_format(format));
  return Format(std::move(out));
}

Result<Format> Format::json(const config::AccessLog::Json& json, bool omit_empty_values) {
  auto compiled = JsonFormat::compile(json, omit_empty_values);
  if (!compiled) return std::move(compiled).error();
  return Format(*std::move(compiled));
}

bool Format::is_literal() const {
  const auto* text = std::get_if<Text>(&form_);
  return text && text->pieces.size() == 1;
}

void Format::write(const AccessRecord& record, std::string& out) const {
  if (const auto* text = std::get_if<Text>(&form_)) {
    write_text(*text, record, out);
    return;
  }
  std::get_if<JsonFormat>(&form_)->write(record, out);
  out.push_back('\n');
}

void Format::write_text(const Text& text, const AccessRecord& record, std::string& out) {
  for (const Piece& piece : text.pieces) {
    out.append(piece.literal);
    if (!piece.value) continue;
    const std::size_t start = out.size();
    if (!piece.value->append(record, out)) {
      out.append(text.missing);
    } else if (!piece.value->number) {
      escape_controls(out, start, text.keep_tabs);
    }
  }
}

}  // namespace damper::stream
