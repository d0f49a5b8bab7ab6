#include "config/to_json.h"

#include <gtest/gtest.h>
#include <string>

#include "config/yaml.h"

namespace damper::config {
namespace {

std::string json(const std::string& yaml) {
  Diagnostics diagnostics;
  const auto tree = parse_yaml(diagnostics.add_source("test.yaml", yaml), diagnostics);
  if (!tree || !tree->root) return diagnostics.render_all();
  return to_json(*tree->root);
}

TEST(ToJson, KeepsMappingsAndSequencesInTheirOrder) {
  EXPECT_EQ(json("b: [1, { c: x }, []]\na: {}\n"), R"({"b":[1,{"c":"x"},[]],"a":{}})");
}

TEST(ToJson, AScalarThatJsonReadsAlikeIsWrittenAsItIs) {
  for (const char* scalar : {"0", "7", "-5", "true", "false", "null", "123456789012345"}) {
    EXPECT_EQ(json(std::string("[") + scalar + "]"), std::string("[") + scalar + "]");
  }
}

TEST(ToJson, EveryOtherScalarIsText) {
  const std::pair<const char*, const char*> scalars[] = {
      {"0.25s", R"("0.25s")"},
      {"007", R"("007")"},
      {"-", R"("-")"},
      {"-01", R"("-01")"},
      {"1.5", R"("1.5")"},
      {"0x10", R"("0x10")"},
      {"True", R"("True")"},
      {"'5'", R"("5")"},
      {R"("true")", R"("true")"},
      {"''", R"("")"},
      {"1234567890123456", R"("1234567890123456")"}};  // more than a double holds
  for (const auto& [yaml, text] : scalars) {
    EXPECT_EQ(json(std::string("[") + yaml + "]"), std::string("[") + text + "]");
  }
}

TEST(ToJson, AnEmptyValueIsNull) { EXPECT_EQ(json("a:\nb: ~\n"), R"({"a":null,"b":null})"); }

TEST(ToJson, KeysAndTextAreEscaped) {
  EXPECT_EQ(json(R"({ "a\"b": "line\n\\" })"), R"({"a\"b":"line\n\\"})");
}

TEST(ToJson, AnAliasIsWrittenOut) {
  EXPECT_EQ(json("a: &x { n: 1 }\nb: *x\n"), R"({"a":{"n":1},"b":{"n":1}})");
}

TEST(ToJson, JsonComesBackAsItWas) {
  const std::string text = R"({"name":"a","list":[1,true,"1",null],"nested":{"x":{}}})";
  EXPECT_EQ(json(text), text);
}

}  // namespace
}  // namespace damper::config
