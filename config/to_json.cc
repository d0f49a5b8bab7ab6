#include "config/to_json.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace damper::config {
namespace {

// A plain scalar that JSON reads the same way: a number without oddities, true, false.
bool is_json_literal(const Value& value) {
  if (value.quoted || value.text.empty()) return false;
  if (value.text == "true" || value.text == "false") return true;
  std::string_view digits = value.text;
  if (digits.front() == '-') digits.remove_prefix(1);
  const bool all_digits = !digits.empty() && std::all_of(digits.begin(), digits.end(), is_digit);
  return all_digits && digits.size() <= 15 && (digits.size() == 1 || digits.front() != '0');
}

void append(std::string& out, const Value& value);

void append_sequence(std::string& out, const Value& value) {
  out += '[';
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    if (i > 0) out += ',';
    append(out, *value.items[i]);
  }
  out += ']';
}

void append_mapping(std::string& out, const Value& value) {
  out += '{';
  for (std::size_t i = 0; i < value.entries.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(out, value.entries[i].key);
    out += ':';
    append(out, *value.entries[i].value);
  }
  out += '}';
}

void append(std::string& out, const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull: out += "null"; return;
    case Value::Kind::kSequence: return append_sequence(out, value);
    case Value::Kind::kMapping: return append_mapping(out, value);
    case Value::Kind::kScalar:
      if (is_json_literal(value)) {
        out += value.text;
      } else {
        append_json_string(out, value.text);
      }
  }
}

}  // namespace

std::string to_json(const Value& value) {
  std::string out;
  append(out, value);
  return out;
}

}  // namespace damper::config
