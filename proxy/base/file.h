// A whole file as text.
#pragma once
#include <cstddef>
#include <string>

#include "base/result.h"

namespace damper {

// An Error's detail says why it cannot be read ("No such file or directory"), without the name.
Result<std::string> read_file(const std::string& path, std::size_t most_bytes);

}  // namespace damper
