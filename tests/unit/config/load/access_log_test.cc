#include "config/load/access_log.h"

#include <gtest/gtest.h>

#include "tests/support/config_text.h"

namespace damper::config {
namespace {

TEST(AccessLogs, HaveShortForms) {
  const auto first = [](const std::string& form) {
    return load_listener("access_log: " + form).http.access_logs.at(0);
  };
  EXPECT_EQ(first("stdout"), (AccessLog{.path = "/dev/stdout", .text_format = ""}));
  EXPECT_EQ(first("stderr"), (AccessLog{.path = "/dev/stderr", .text_format = ""}));
  EXPECT_EQ(first("/var/log/a.log"), (AccessLog{.path = "/var/log/a.log", .text_format = ""}));
  EXPECT_EQ(first("{ path: a.log, format: \"%DURATION%\" }"),
            (AccessLog{.path = "a.log", .text_format = "%DURATION%"}));
  EXPECT_EQ(first("json").path, "/dev/stdout");
  EXPECT_FALSE(first("json").json->object.empty());
  EXPECT_EQ(first("{ path: a.log, json: true }").json, first("json").json);
  EXPECT_EQ(load_listener("access_log: [ stdout, a.log ]").http.access_logs.size(), 2u);
}

TEST(AccessLogs, JsonKeepsItsShape) {
  const Listener listener =
      load_listener("access_log: { json: { b: \"%A%\", a: [ 5, true, null, \"6\" ] } }");
  const auto& json = listener.http.access_logs.at(0).json->object;
  using Kind = AccessLog::Json::Kind;
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0].first, "b");
  EXPECT_EQ(json[0].second.text, "%A%");
  std::vector<Kind> kinds;
  for (const auto& item : json[1].second.list) kinds.push_back(item.kind);
  EXPECT_EQ(kinds, (std::vector<Kind>{Kind::kNumber, Kind::kBool, Kind::kNull, Kind::kText}));
}

TEST(AccessLogs, FiltersFormATree) {
  const Listener listener = load_listener(
      "access_log: { filter: { and_filter: { filters: [ { status_code_filter: { comparison: { op: "
      "GE, value: { default_value: 400 } } } }, "
      "{ response_flag_filter: { flags: [ UO ] } }, { grpc_status_filter: { statuses: [ "
      "UNAVAILABLE ], exclude: true } } ] } } }");
  const LogFilter& filter = *listener.http.access_logs.at(0).filter;
  EXPECT_EQ(filter.kind, LogFilter::Kind::kAnd);
  ASSERT_EQ(filter.filters.size(), 3u);
  EXPECT_EQ(filter.filters[0].comparison, LogFilter::Comparison::kGreaterOrEqual);
  EXPECT_EQ(filter.filters[0].value, 400u);
  EXPECT_EQ(filter.filters[1].flags, std::vector<std::string>{"UO"});
  EXPECT_EQ(filter.filters[2].grpc_statuses, std::vector<int>{14});
  EXPECT_TRUE(filter.filters[2].exclude);
}

}  // namespace
}  // namespace damper::config
