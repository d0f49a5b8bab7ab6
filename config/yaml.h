// YAML, and so JSON, into a tree. The only user of yaml-cpp.
#pragma once
#include <optional>

#include "config/diagnostics.h"
#include "config/tree.h"

namespace damper::config {

inline constexpr std::size_t kLargestTextBytes = 8u << 20;
inline constexpr std::size_t kMostValues = 1'000'000;  // with every alias counted where it is used
inline constexpr int kDeepest = 100;

// Reads source `source` of the diagnostics. Refused: more than one document, text that is not
// UTF-8, a key that is there twice, a tag that says something else than what stands there, an alias
// inside its own anchor, and what is larger or deeper than above. `<<` merges mappings; a top-level
// key tagged `!ignore` only holds anchors and is left out. A tree without a root: nothing is
// written in the text. Nothing at all: errors were reported.
std::optional<Tree> parse_yaml(int source, Diagnostics& diagnostics);

}  // namespace damper::config
