#include "config/tree.h"

#include <gtest/gtest.h>

#include "config/yaml.h"
#include "tests/support/show_tree.h"

namespace damper::config {
namespace {

TEST(TreeMerge, LaysOneTextOverAnother) {
  const std::pair<std::pair<const char*, const char*>, const char*> cases[] = {
      {{"a: 1\nb: 2\n", "b: 3\nc: 4\n"}, "{a: 1, b: 3, c: 4}"},
      {{"a: { b: 1, c: 2 }\n", "a: { c: 3 }\n"}, "{a: {b: 1, c: 3}}"},
      {{"a: [1]\n", "a: [2]\n"}, "{a: [1, 2]}"},
      {{"num_retries: 1\n", "numRetries: 2\n"}, "{numRetries: 2}"},
      {{"a: 1\n", ""}, "{a: 1}"},
      {{"", "a: 1\n"}, "{a: 1}"},
  };
  for (const auto& [texts, expected] : cases) {
    Diagnostics diagnostics;
    auto under = parse_yaml(diagnostics.add_source("under", texts.first), diagnostics);
    auto over = parse_yaml(diagnostics.add_source("over", texts.second), diagnostics);
    ASSERT_TRUE(under && over);
    under->merge(std::move(*over));
    EXPECT_EQ(show(*under->root), expected);
  }
}

}  // namespace
}  // namespace damper::config
