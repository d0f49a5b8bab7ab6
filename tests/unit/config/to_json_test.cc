#include "config/to_json.h"

#include <gtest/gtest.h>

#include "config/load.h"

namespace damper::config {
namespace {

std::string json_of(const std::string& yaml) { return load_text("test.yaml", yaml).json; }

TEST(ToJson, KeepsShapeOrderAndKinds) {
  EXPECT_EQ(json_of("b: [ 1, two, { c: true } ]\na: ~\n"),
            R"({"b":[1,"two",{"c":true}],"a":null})");
}

TEST(ToJson, OnlyWhatJsonReadsAlikeIsNoText) {
  EXPECT_EQ(json_of("[ 0, -7, 007, 1.5, 0x10, 1s, yes, \"5\" ]"),
            R"([0,-7,"007","1.5","0x10","1s","yes","5"])");
}

TEST(ToJson, TextIsEscaped) { EXPECT_EQ(json_of("a: \"q\\\"\\n\""), "{\"a\":\"q\\\"\\n\"}"); }

TEST(ToJson, AnOverlayIsInIt) {
  EXPECT_EQ(load_text("test.yaml", "a: 1", {.overlay = "b: 2"}).json, R"({"a":1,"b":2})");
}

}  // namespace
}  // namespace damper::config
