// The syntax of formats: text with operators between percent signs.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stream/operators.h"

namespace damper::stream {

// Text, then an operator; the last piece of a format has none.
struct Piece {
  std::string literal;
  std::optional<Operator> value;
};

// A literal % is written "%%". Error: a % that begins no operator, or what compile_operator() says.
Result<std::vector<Piece>> parse_format(std::string_view format);

}  // namespace damper::stream
