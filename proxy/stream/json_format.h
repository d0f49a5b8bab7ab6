// A JSON access log line: config::AccessLog::Json with its texts compiled.
#pragma once
#include <string>
#include <vector>

#include "config/model/log.h"
#include "stream/pieces.h"

namespace damper::stream {

// A text that is one operator and nothing else gives that operator's value: a number where it is
// one, null where there is none. Any other text gives a string, in which a missing value is "-".
// With `omit_empty_values` members of objects that are null are left out, and in strings a missing
// value is nothing.
class JsonFormat {
 public:
  static Result<JsonFormat> compile(const config::AccessLog::Json& json, bool omit_empty_values);

  // Appends one JSON value, without a line end. Valid JSON whatever bytes the record holds.
  void write(const AccessRecord& record, std::string& out) const;

 private:
  struct Node {
    enum class Kind { kConstant, kValue, kString, kObject, kList };
    Kind kind = Kind::kConstant;
    std::string key;                // of a member of an object, as it is written: "\"key\":"
    std::string constant = "null";  // as it is written
    std::vector<Piece> pieces;      // kString: literals already escaped; kValue: one
    std::vector<Node> children;
  };
  class Writer;

  static Result<Node> compile_node(const config::AccessLog::Json& json);
  static Result<Node> compile_text(const std::string& text);
  static Result<Node> compile_number(const std::string& text);

  Node root_;
  bool omit_empty_values_ = false;
};

}  // namespace damper::stream
