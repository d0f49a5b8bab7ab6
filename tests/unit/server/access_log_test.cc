#include "server/access_log.h"

#include <gtest/gtest.h>

#include "tests/support/sample_record.h"

namespace damper::server {
namespace {

// What is logged to stdout for the sample, "error: …" if the log cannot be made.
std::string logged(config::AccessLog config) {
  config.path = "/dev/stdout";
  ::testing::internal::CaptureStdout();
  std::string error;
  {
    stats::Registry registry;
    AccessLogSink sink(registry);
    AccessLogBuffer buffer(sink, registry.new_cells());
    const auto log = AccessLog::create(config, sink);
    const tests::SampleRecord sample;
    if (log) {
      log->log(sample.record, buffer, 0);
    } else {
      error = "error: " + log.error().detail;
    }
  }
  return ::testing::internal::GetCapturedStdout() + error;
}

TEST(AccessLog, WritesALineInItsFormat) {
  EXPECT_EQ(logged({.text_format = "%REQ(:METHOD)% %RESPONSE_CODE%\n"}), "GET 200\n");
}

TEST(AccessLog, JsonLinesEndWithTheLine) {
  config::AccessLog config;
  config.json = config::AccessLog::Json{.object = {{"code", {.text = "%RESPONSE_CODE%"}}},
                                        .kind = config::AccessLog::Json::Kind::kObject};
  EXPECT_EQ(logged(config), "{\"code\":200}\n");
}

TEST(AccessLog, RequestsThatTheFilterRefusesAreNotLogged) {
  config::AccessLog config{.text_format = "%RESPONSE_CODE%\n"};
  config.filter = config::LogFilter{.kind = config::LogFilter::Kind::kStatus,
                                    .comparison = config::LogFilter::Comparison::kGreaterOrEqual,
                                    .value = 500};
  EXPECT_EQ(logged(config), "");
  config.filter->value = 200;
  EXPECT_EQ(logged(config), "200\n");
}

TEST(AccessLog, MistakesOfFormatFilterAndFileAreErrors) {
  EXPECT_EQ(logged({.text_format = "%NOPE%"}), "error: unknown operator %NOPE%");
  config::AccessLog config;
  config.filter = config::LogFilter{.kind = config::LogFilter::Kind::kResponseFlag, .flags = {"?"}};
  EXPECT_EQ(logged(config).substr(0, 33), "error: unknown response flag \"?\"");
  stats::Registry registry;
  AccessLogSink sink(registry);
  EXPECT_FALSE(AccessLog::create({.path = "/no/such/folder/log"}, sink));
}

}  // namespace
}  // namespace damper::server
