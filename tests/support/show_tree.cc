#include "tests/support/show_tree.h"

namespace damper::config {

std::string show(const Value& value) {
  std::string out;
  switch (value.kind) {
    case Value::Kind::kNull: return "null";
    case Value::Kind::kScalar: return value.quoted ? "\"" + value.text + "\"" : value.text;
    case Value::Kind::kSequence:
      for (const Value* item : value.items) out += (out.empty() ? "" : ", ") + show(*item);
      return "[" + out + "]";
    case Value::Kind::kMapping:
      for (const auto& entry : value.entries)
        out += (out.empty() ? "" : ", ") + entry.key + ": " + show(*entry.value);
      return "{" + out + "}";
  }
  return out;
}

}  // namespace damper::config
