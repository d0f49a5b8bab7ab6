// A tree in one line, for comparison: scalars as they are (quoted ones in quotes), [a, b], {k: v}.
#pragma once
#include <string>

#include "config/tree.h"

namespace damper::config {

std::string show(const Value& value);

}  // namespace damper::config
