#include "config/yaml.h"

#include <gtest/gtest.h>

#include "tests/support/show_tree.h"

namespace damper::config {
namespace {

std::string parse(std::string text) {
  Diagnostics diagnostics;
  const auto tree = parse_yaml(diagnostics.add_source("text", std::move(text)), diagnostics);
  EXPECT_EQ(tree.has_value(), diagnostics.ok());
  if (!tree) return diagnostics.errors().front().message;
  return tree->root ? show(*tree->root) : "";
}

TEST(Yaml, BecomesATree) {
  const std::pair<const char*, const char*> cases[] = {
      {"a: 1\nb: [x, \"5\", '6', ~]\nc:\n", "{a: 1, b: [x, \"5\", \"6\", null], c: null}"},
      {"{\"a\": {\"b\": [1, true, null, \"t\\u00e4\\/\"]}}",
       "{a: {b: [1, true, null, \"t\xC3\xA4/\"]}}"},
      {"{\n\t\"a\":\t1,\n\t\"b\": [\n\t\t2\n\t]\n}\n", "{a: 1, b: [2]}"},
      {"a: &x [1]\nb: *x\n", "{a: [1], b: [1]}"},
      {"a: !!str 5\nb: !!int 6\n", "{a: \"5\", b: 6}"},
      {"\xEF\xBB\xBF"
       "a: 1\n",
       "{a: 1}"},
      {"a: |\n  one\n  two\n", "{a: \"one\ntwo\n\"}"},
      {"", ""},
      {"# nothing\n", ""},
  };
  for (const auto& [text, tree] : cases) EXPECT_EQ(parse(text), tree) << text;
}

TEST(Yaml, MergeKeysFillInWhatIsNotWritten) {
  const char* base = "!ignore base: &base { a: 1, b: 2 }\n!ignore more: &more { b: 3, c: 4 }\n";
  EXPECT_EQ(parse(std::string(base) + "x: { <<: *base, b: 5 }"), "{x: {b: 5, a: 1}}");
  EXPECT_EQ(parse(std::string(base) + "x: { b: 5, <<: *base }"), "{x: {b: 5, a: 1}}");
  EXPECT_EQ(parse(std::string(base) + "x: { <<: [ *base, *more ] }"), "{x: {a: 1, b: 2, c: 4}}");
  EXPECT_EQ(parse("x: { \"<<\": 5 }"), "{x: {<<: 5}}");
  EXPECT_EQ(parse(std::string(base) + "x: { <<: *base, <<: *more }"), "duplicate key \"<<\"");
}

TEST(Yaml, IgnoredTopLevelKeysAreLeftOut) {
  EXPECT_EQ(parse("!ignore a: &x 1\n!ignore a: 2\nb: *x\n"), "{b: 1}");
}

TEST(Yaml, PlacesCountFromOne) {
  Diagnostics diagnostics;
  const auto tree =
      parse_yaml(diagnostics.add_source("text", "a: 1\nlonger:\n  - \"x\"\n"), diagnostics);
  ASSERT_TRUE(tree && tree->root);
  const auto& entries = tree->root->entries;
  EXPECT_EQ(entries[1].place, (Place{.source = 0, .line = 2, .column = 1, .length = 6}));
  EXPECT_EQ(entries[1].value->items[0]->place,
            (Place{.source = 0, .line = 3, .column = 5, .length = 3}));
}

TEST(Yaml, RefusesWhatIsNotText) {
  EXPECT_EQ(parse("a: \xFF\n"), "not UTF-8 text");
  EXPECT_EQ(parse("a: \xC0\xAF\n"), "not UTF-8 text");
  EXPECT_EQ(parse("a: \xED\xA0\x80\n"), "not UTF-8 text");
  EXPECT_EQ(parse("a: \xF4\x90\x80\x80\n"), "not UTF-8 text");
  EXPECT_EQ(parse("a: \xC3"), "not UTF-8 text");
  EXPECT_EQ(parse(std::string("a: \0b\n", 6)), "not UTF-8 text");
}

TEST(Yaml, RefusesWhatIsTooLarge) {
  EXPECT_EQ(parse(std::string(kLargestTextBytes + 1, '#')), "larger than 8 MiB");
  EXPECT_EQ(parse(std::string(kLargestTextBytes, '#')), "");
}

TEST(Yaml, RefusesAliasesThatMultiply) {
  // Every level is ten times the one before: ten million values in 400 bytes. Neither merging nor
  // depth gets around it.
  std::string lists = "!ignore l0: &l0 [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n";
  std::string merges = "!ignore m0: &m0 {a0: 0, b0: 0}\n";
  for (int i = 1; i < 7; ++i) {
    const std::string n = std::to_string(i), before = std::to_string(i - 1);
    lists += "!ignore l" + n + ": &l" + n + " [";
    merges += "!ignore m" + n + ": &m" + n + " {";
    for (int j = 0; j < 10; ++j) {
      lists += (j ? ", *l" : "*l") + before;
      merges += std::string(j ? ", " : "") + "k" + std::to_string(j) + ": { <<: *m" + before + " }";
    }
    lists += "]\n";
    merges += "}\n";
  }
  EXPECT_EQ(parse(lists), "more than 1000000 values, aliases included");
  EXPECT_EQ(parse(merges), "more than 1000000 values, aliases included");
}

TEST(Yaml, RefusesDepthThatAliasesMake) {
  std::string text = "!ignore a0: &a0 [0]\n";
  for (int i = 1; i < 120; ++i) {
    text += "!ignore a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" +
            std::to_string(i - 1) + "]\n";
  }
  EXPECT_EQ(parse(text), "more than 100 levels");
}

}  // namespace
}  // namespace damper::config
