#include "stream/json_format.h"

#include <cmath>

#include "base/json.h"
#include "base/text.h"

namespace damper::stream {

Result<JsonFormat> JsonFormat::compile(const config::AccessLog::Json& json,
                                       bool omit_empty_values) {
  JsonFormat out;
  TRY_ASSIGN(out.root_, compile_node(json));
  out.omit_empty_values_ = omit_empty_values;
  return out;
}

Result<JsonFormat::Node> JsonFormat::compile_node(const config::AccessLog::Json& json) {
  using Kind = config::AccessLog::Json::Kind;
  Node out;
  switch (json.kind) {
    case Kind::kText: return compile_text(json.text);
    case Kind::kNumber: return compile_number(json.text);
    case Kind::kNull: return out;
    case Kind::kBool: out.constant = json.text == "true" ? "true" : "false"; return out;
    case Kind::kObject:
      out.kind = Node::Kind::kObject;
      for (const auto& [key, value] : json.object) {
        TRY_ASSIGN(out.children.emplace_back(), compile_node(value));
        append_json_string(out.children.back().key, key);
        out.children.back().key.push_back(':');
      }
      return out;
    case Kind::kList:
      out.kind = Node::Kind::kList;
      for (const auto& item : json.list) {
        TRY_ASSIGN(out.children.emplace_back(), compile_node(item));
      }
      return out;
  }
  return out;
}

Result<JsonFormat::Node> JsonFormat::compile_text(const std::string& text) {
  Node out;
  TRY_ASSIGN(out.pieces, parse_format(text));
  if (out.pieces.size() == 2 && out.pieces[0].literal.empty() && out.pieces[1].literal.empty()) {
    out.kind = Node::Kind::kValue;
    return out;
  }
  out.kind = Node::Kind::kString;
  for (Piece& piece : out.pieces) {
    std::string escaped;
    append_json_escaped(escaped, piece.literal);
    piece.literal = std::move(escaped);
  }
  return out;
}

// Written anew, because YAML knows numbers that JSON does not (".5", "1.", ".inf").
Result<JsonFormat::Node> JsonFormat::compile_number(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || at != end || !std::isfinite(number)) {
    return Error{Errc::kInvalid, Side::kLocal, "\"" + text + "\" is no number in JSON"};
  }
  Node out;
  out.constant.clear();
  append_number(out.constant, number);
  return out;
}

// Appends one line. False: the node has no value, and null was written for it.
class JsonFormat::Writer {
 public:
  Writer(const AccessRecord& record, bool omit_empty_values, std::string& out)
      : record_(record), omit_empty_values_(omit_empty_values), out_(out) {}

  bool write(const Node& node) {
    switch (node.kind) {
      case Node::Kind::kConstant: out_.append(node.constant); return true;
      case Node::Kind::kValue: return write_value(*node.pieces.front().value);
      case Node::Kind::kString: write_string(node.pieces); return true;
      case Node::Kind::kObject: write_object(node.children); return true;
      case Node::Kind::kList: write_list(node.children); return true;
    }
    return true;
  }

 private:
  bool write_value(const Operator& value) {
    scratch_.clear();
    if (!value.append(record_, scratch_)) {
      out_.append("null");
      return false;
    }
    if (value.number) {
      out_.append(scratch_);
    } else {
      append_json_string(out_, scratch_);
    }
    return true;
  }

  void write_string(const std::vector<Piece>& pieces) {
    out_.push_back('"');
    for (const Piece& piece : pieces) {
      out_.append(piece.literal);
      if (!piece.value) continue;
      scratch_.clear();
      const bool found = piece.value->append(record_, scratch_);
      if (!found && !omit_empty_values_) scratch_ = "-";
      append_json_escaped(out_, scratch_);
    }
    out_.push_back('"');
  }

  void write_object(const std::vector<Node>& members) {
    bool first = true;
    out_.push_back('{');
    for (const Node& member : members) {
      const std::size_t before = out_.size();
      if (!first) out_.push_back(',');
      out_.append(member.key);
      if (!write(member) && omit_empty_values_) {
        out_.resize(before);
        continue;
      }
      first = false;
    }
    out_.push_back('}');
  }

  void write_list(const std::vector<Node>& items) {
    out_.push_back('[');
    for (const Node& item : items) {
      if (&item != &items.front()) out_.push_back(',');
      write(item);
    }
    out_.push_back(']');
  }

  const AccessRecord& record_;
  const bool omit_empty_values_;
  std::string& out_;
  std::string scratch_;
};

void JsonFormat::write(const AccessRecord& record, std::string& out) const {
  Writer(record, omit_empty_values_, out).write(root_);
}

}  // namespace damper::stream
