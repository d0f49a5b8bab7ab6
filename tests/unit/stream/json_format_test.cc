#include "stream/json_format.h"

#include <gtest/gtest.h>

#include "tests/support/sample_record.h"

namespace damper::stream {
namespace {

using Json = config::AccessLog::Json;

Json text(std::string format) { return {.text = std::move(format)}; }
Json constant(Json::Kind kind, std::string as_written) {
  return {.text = std::move(as_written), .kind = kind};
}
Json object(std::vector<std::pair<std::string, Json>> members) {
  return {.object = std::move(members), .kind = Json::Kind::kObject};
}
Json list(std::vector<Json> items) { return {.list = std::move(items), .kind = Json::Kind::kList}; }

std::string written(const Json& json, const AccessRecord& record, bool omit_empty_values = false) {
  auto format = JsonFormat::compile(json, omit_empty_values);
  if (!format) return "error: " + format.error().detail;
  std::string out;
  format->write(record, out);
  return out;
}

TEST(JsonFormat, AnOperatorAloneKeepsItsType) {
  const tests::SampleRecord sample;
  EXPECT_EQ(written(object({{"status", text("%RESPONSE_CODE%")},
                            {"took", text("%DURATION%")},
                            {"took_ms", text("%DURATION%ms")},
                            {"cut", text("%RESPONSE_CODE:2%")},
                            {"path", text("%REQ(:PATH)%")},
                            {"start", text("%START_TIME%")},
                            {"literal", text("x")}}),
                    sample.record),
            R"({"status":200,"took":25,"took_ms":"25ms","cut":"20","path":"/new/path?x=1",)"
            R"("start":"2026-01-02T03:04:05.678Z","literal":"x"})");
}

TEST(JsonFormat, MissingValuesAreNullAloneAndADashInText) {
  const Json json = object({{"a", text("%REQ(X)%")},
                            {"b", text("<%REQ(X)%>")},
                            {"c", list({text("%REQ(X)%")})},
                            {"d", object({{"e", text("%DURATION%")}})},
                            {"f", text("%RESPONSE_CODE%")}});
  EXPECT_EQ(written(json, {}), R"({"a":null,"b":"<->","c":[null],"d":{"e":null},"f":0})");
}

TEST(JsonFormat, MissingMembersAreLeftOutIfTheLogSaysSo) {
  const Json json = object({{"a", text("%REQ(X)%")},
                            {"b", text("<%REQ(X)%>")},
                            {"c", list({text("%REQ(X)%")})},
                            {"d", object({{"e", text("%DURATION%")}})},
                            {"f", text("%RESPONSE_CODE%")},
                            {"g", text("%REQ(X)%")}});
  EXPECT_EQ(written(json, {}, true), R"({"b":"<>","c":[null],"d":{},"f":0})");
}

TEST(JsonFormat, ConstantsAndShapesAreKept) {
  EXPECT_EQ(written(object({{"n", constant(Json::Kind::kNumber, "1.50")},
                            {"half", constant(Json::Kind::kNumber, ".5")},
                            {"yes", constant(Json::Kind::kBool, "true")},
                            {"no", constant(Json::Kind::kBool, "false")},
                            {"none", constant(Json::Kind::kNull, "")},
                            {"list", list({text("a"), list({}), object({})})}}),
                    {}),
            R"({"n":1.5,"half":0.5,"yes":true,"no":false,"none":null,"list":["a",[],{}]})");
}

TEST(JsonFormat, KeysTextAndValuesAreEscaped) {
  tests::SampleRecord sample;
  sample.request.fields.set("user-agent", "a\"b\n\xff");
  EXPECT_EQ(
      written(object({{"k\"", text("\"%REQ(USER-AGENT)%\"")}, {"v", text("%REQ(USER-AGENT)%")}}),
              sample.record),
      R"({"k\"":"\"a\"b\n\\xff\"","v":"a\"b\n\\xff"})");
}

TEST(JsonFormat, MistakesAreErrors) {
  EXPECT_EQ(written(object({{"a", list({text("%DURATON%")})}}), {}),
            "error: unknown operator %DURATON%, did you mean %DURATION%?");
  for (const char* number : {"", "x", "1x", ".inf", "inf", "nan", "0x10"}) {
    EXPECT_FALSE(JsonFormat::compile(constant(Json::Kind::kNumber, number), false)) << number;
  }
}

}  // namespace
}  // namespace damper::stream
