// Access logs.
#pragma once
#include <memory>

#include "config/model/common.h"

namespace damper::config {

// Which requests are logged: Envoy config.accesslog.v3.AccessLogFilter, a tree.
struct LogFilter {
  enum class Kind {
    kStatus,
    kDuration,
    kNotHealthCheck,
    kTraceable,
    kResponseFlag,
    kHeader,
    kGrpcStatus,
    kRuntime,
    kAnd,
    kOr
  };
  enum class Comparison { kEqual, kGreaterOrEqual, kLessOrEqual, kNotEqual };
  Kind kind = Kind::kAnd;
  Comparison comparison = Comparison::kEqual;  // kStatus, kDuration
  std::uint64_t value = 0;                     // kStatus: code; kDuration: milliseconds
  std::vector<std::string> flags;              // kResponseFlag: any of them; empty: any flag at all
  std::optional<HeaderMatch> header;
  std::vector<int> grpc_statuses;
  bool exclude = false;            // kGrpcStatus
  Fraction share;                  // kRuntime
  std::vector<LogFilter> filters;  // kAnd, kOr
  bool operator==(const LogFilter&) const = default;
};

struct AccessLog {
  // A JSON format: keys in order, values are text formats; nested objects and arrays keep their
  // shape.
  struct Json {
    std::vector<std::pair<std::string, Json>> object;
    std::vector<Json> list;
    std::string text;  // a format
    enum class Kind { kText, kObject, kList, kNumber, kBool, kNull };
    Kind kind = Kind::kText;
    bool operator==(const Json&) const = default;
  };

  std::string path;         // a file, "/dev/stdout", "/dev/stderr"
  std::string text_format;  // empty and no json: the default format
  std::optional<Json> json;
  bool omit_empty_values = false;
  std::optional<LogFilter> filter;
  bool operator==(const AccessLog&) const = default;
};

}  // namespace damper::config
