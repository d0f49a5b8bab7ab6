#include "stream/format.h"

#include <gtest/gtest.h>

#include "tests/support/sample_record.h"

namespace damper::stream {
namespace {

std::string written(const Result<Format>& format, const AccessRecord& record) {
  if (!format) return "error: " + format.error().detail;
  std::string out;
  format->write(record, out);
  return out;
}

TEST(Format, TheDefaultLineIsEnvoys) {
  const tests::SampleRecord sample;
  EXPECT_EQ(written(Format::of({}), sample.record),
            "[2026-01-02T03:04:05.678Z] \"GET /old/path?x=1 HTTP/1.1\" 200 - 12 345 25 17 "
            "\"10.1.1.1\" \"curl/8.0\" \"id-1\" \"orders.example\" \"10.0.0.2:80\"\n");
}

TEST(Format, TheDefaultLineOfABadRequestIsMadeOfDashes) {
  AccessRecord record;
  record.status = 400;
  set(record.flags, Flag::kDownstreamProtocol);
  EXPECT_EQ(written(Format::of({}), record),
            "[1970-01-01T00:00:00.000Z] \"- - -\" 400 DPE 0 0 - - \"-\" \"-\" \"-\" \"-\" \"-\"\n");
}

TEST(Format, ALogsOwnTextIsTakenAsItIs) {
  const tests::SampleRecord sample;
  config::AccessLog log;
  log.text_format = "%START_TIME% in %REQ(:METHOD)% %REQ(X)% %RESPONSE_CODE%\n";
  EXPECT_EQ(written(Format::of(log), sample.record), "2026-01-02T03:04:05.678Z in GET - 200\n");
  log.omit_empty_values = true;
  EXPECT_EQ(written(Format::of(log), sample.record), "2026-01-02T03:04:05.678Z in GET  200\n");
}

TEST(Format, NoValueForgesALine) {
  tests::SampleRecord sample;
  sample.request.fields.set("user-agent", "a\r\n[fake] \x7f\tb\x1b[0m");
  EXPECT_EQ(written(Format::text("%REQ(USER-AGENT)%\n"), sample.record),
            "a\\x0d\\x0a[fake] \\x7f\\x09b\\x1b[0m\n");
}

TEST(Format, HeaderValuesKeepTabsAndNothingForWhatIsMissing) {
  tests::SampleRecord sample;
  sample.request.fields.set("user-agent", "a\tb\nc");
  EXPECT_EQ(written(Format::header_value("<%REQ(USER-AGENT)%%REQ(NOT-THERE)%>"), sample.record),
            "<a\tb\\x0ac>");
}

TEST(Format, OnlyTextWithoutOperatorsIsLiteral) {
  EXPECT_TRUE(Format::header_value("50%%")->is_literal());
  EXPECT_TRUE(Format::header_value("")->is_literal());
  EXPECT_FALSE(Format::header_value("%PROTOCOL%")->is_literal());
  EXPECT_EQ(written(Format::header_value("50%%"), {}), "50%");
}

TEST(Format, AnErrorNamesTheOperator) {
  EXPECT_EQ(written(Format::text("%UPSTREAM_HOSTS%"), {}),
            "error: unknown operator %UPSTREAM_HOSTS%, did you mean %UPSTREAM_HOST%?");
}

TEST(Format, WritingAppends) {
  std::string out = "kept ";
  Format::text("%RESPONSE_CODE%")->write({}, out);
  EXPECT_EQ(out, "kept 0");
}

}  // namespace
}  // namespace damper::stream
