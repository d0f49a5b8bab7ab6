#include "config/load/access_log.h"

#include <algorithm>

#include "config/load/common.h"

namespace damper::config {
namespace {

constexpr std::string_view kFile = "envoy.extensions.access_loggers.file.v3.FileAccessLog";
constexpr std::string_view kStdout = "envoy.extensions.access_loggers.stream.v3.StdoutAccessLog";
constexpr std::string_view kStderr = "envoy.extensions.access_loggers.stream.v3.StderrAccessLog";

constexpr std::string_view kFlags[] = {"LH", "UH", "UT",  "LR",    "UR",   "UF",   "UC", "UO",
                                       "NR", "DI", "FI",  "RL",    "UAEX", "RLSE", "DC", "URX",
                                       "SI", "IH", "DPE", "UMSDR", "RFCF", "NFCF", "DT", "UPE",
                                       "NC", "OM", "DF",  "DO",    "DR",   "UDO"};

// The numbers of RFC-less google.rpc.Code.
constexpr std::string_view kGrpcStatuses[] = {
    "OK",        "CANCELED",       "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

LogFilter read_log_filter(Cursor c);

void read_comparison(Cursor c, LogFilter& out) {
  if (!c) return;
  Cursor comparison = c.object("comparison");
  if (!comparison) c.missing("comparison");
  using Comparison = LogFilter::Comparison;
  comparison.read_word<Comparison>("op", out.comparison,
                                   {{"EQ", Comparison::kEqual},
                                    {"GE", Comparison::kGreaterOrEqual},
                                    {"LE", Comparison::kLessOrEqual},
                                    {"NE", Comparison::kNotEqual}});
  if (Cursor value = comparison.at("value"); value.is_mapping()) {
    value.read("default_value", out.value);
    value.no_other_keys("RuntimeUInt32");
  } else if (value) {
    value.get(out.value);
  }
  comparison.no_other_keys("ComparisonFilter");
  c.no_other_keys("ComparingFilter");
}

void read_flags(Cursor c, LogFilter& out) {
  for (const Cursor& item : c.list("flags")) {
    std::string flag;
    if (!item.get(flag)) continue;
    if (std::find(std::begin(kFlags), std::end(kFlags), flag) == std::end(kFlags)) {
      item.error("unknown response flag \"" + flag + "\"");
    }
    out.flags.push_back(std::move(flag));
  }
  c.no_other_keys("ResponseFlagFilter");
}

void read_grpc_statuses(Cursor c, LogFilter& out) {
  for (const Cursor& item : c.list("statuses")) {
    std::string name;
    if (!item.get(name)) continue;
    const auto it = std::find(std::begin(kGrpcStatuses), std::end(kGrpcStatuses), name);
    if (it == std::end(kGrpcStatuses)) {
      item.error("unknown gRPC status \"" + name + "\"");
    } else {
      out.grpc_statuses.push_back(static_cast<int>(it - std::begin(kGrpcStatuses)));
    }
  }
  c.read("exclude", out.exclude);
  c.no_other_keys("GrpcStatusFilter");
}

void read_runtime_share(Cursor c, LogFilter& out) {
  out.share = read_fraction(c.at("percent_sampled"), {0});
  c.no_other_keys("RuntimeFilter");
}

void read_header_filter(Cursor c, LogFilter& out) {
  if (const Cursor header = c.at("header")) {
    out.header = read_header_match(header);
  } else if (c) {
    c.missing("header");
  }
  c.no_other_keys("HeaderFilter");
}

void read_log_filters(Cursor c, LogFilter& out) {
  for (const Cursor& item : c.list("filters")) out.filters.push_back(read_log_filter(item));
  c.no_other_keys("LogFilters");
}

void read_nothing(Cursor c, LogFilter&) { c.no_other_keys("NotHealthCheckFilter"); }

struct LogFilterKind {
  std::string_view key;
  LogFilter::Kind kind;
  void (*read)(Cursor, LogFilter&);
};

constexpr LogFilterKind kLogFilters[] = {
    {"status_code_filter", LogFilter::Kind::kStatus, read_comparison},
    {"duration_filter", LogFilter::Kind::kDuration, read_comparison},
    {"not_health_check_filter", LogFilter::Kind::kNotHealthCheck, read_nothing},
    {"traceable_filter", LogFilter::Kind::kTraceable, read_nothing},
    {"response_flag_filter", LogFilter::Kind::kResponseFlag, read_flags},
    {"header_filter", LogFilter::Kind::kHeader, read_header_filter},
    {"grpc_status_filter", LogFilter::Kind::kGrpcStatus, read_grpc_statuses},
    {"runtime_filter", LogFilter::Kind::kRuntime, read_runtime_share},
    {"and_filter", LogFilter::Kind::kAnd, read_log_filters},
    {"or_filter", LogFilter::Kind::kOr, read_log_filters},
};

LogFilter read_log_filter(Cursor c) {
  LogFilter out;
  if (!c.is_mapping_or_error()) return out;
  int kinds = 0;
  for (const LogFilterKind& kind : kLogFilters) {
    const Cursor filter = c.object(kind.key);
    if (!filter) continue;
    ++kinds;
    out.kind = kind.kind;
    kind.read(filter, out);
  }
  if (kinds > 1) c.error("one filter at a time; and_filter and or_filter join several");
  c.no_other_keys("AccessLogFilter");
  return out;
}

AccessLog::Json read_json(Cursor c) {
  using Kind = AccessLog::Json::Kind;
  AccessLog::Json out;
  if (c.is_mapping()) {
    out.kind = Kind::kObject;
    for (auto& [key, value] : c.named()) out.object.emplace_back(key, read_json(value));
  } else if (c.is_list()) {
    out.kind = Kind::kList;
    for (const Cursor& item : c.items()) out.list.push_back(read_json(item));
  } else if (!c.is_scalar()) {
    out.kind = Kind::kNull;
  } else {
    const Value& node = *c.value();
    out.text = node.text;
    if (!node.quoted && (node.text == "true" || node.text == "false")) out.kind = Kind::kBool;
    if (!node.quoted && parse_decimal(node.text)) out.kind = Kind::kNumber;
  }
  return out;
}

void read_json_format(const Cursor& c, AccessLog& out) {
  if (c && c.is_mapping_or_error()) out.json = read_json(c);
}

void read_format(Cursor c, AccessLog& out) {
  if (!c) return;
  c.one_of({"text_format", "text_format_source", "json_format"}, false);
  c.read("text_format", out.text_format);
  if (Cursor source = c.object("text_format_source")) {
    source.read("inline_string", out.text_format);
    source.no_other_keys("DataSource");
  }
  read_json_format(c.at("json_format"), out);
  c.read("omit_empty_values", out.omit_empty_values);
  c.no_other_keys("SubstitutionFormatString");
}

void read_logger(Cursor c, AccessLog& out) {
  const std::string type = read_type(c);
  if (type == kFile) {
    if (!c.has("path")) c.missing("path");
    c.read("path", out.path);
    c.read("format", out.text_format);
    read_json_format(c.at("json_format"), out);
    read_json_format(c.at("typed_json_format"), out);
  } else if (type == kStdout || type == kStderr) {
    out.path = type == kStdout ? "/dev/stdout" : "/dev/stderr";
  } else {
    if (!type.empty()) c.at("@type").unsupported("access logger " + type);
    return;
  }
  read_format(c.object("log_format"), out);
  c.no_other_keys("FileAccessLog");
}

// What most log pipelines want to know, with the words of Damper beside Envoy's.
AccessLog::Json standard_json() {
  constexpr std::pair<const char*, const char*> kFields[] = {
      {"time", "%START_TIME%"},
      {"client", "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%"},
      {"method", "%REQ(:METHOD)%"},
      {"path", "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%"},
      {"protocol", "%PROTOCOL%"},
      {"status", "%RESPONSE_CODE%"},
      {"flags", "%RESPONSE_FLAGS%"},
      {"details", "%RESPONSE_CODE_DETAILS%"},
      {"bytes_received", "%BYTES_RECEIVED%"},
      {"bytes_sent", "%BYTES_SENT%"},
      {"duration", "%DURATION%"},
      {"upstream", "%UPSTREAM_HOST%"},
      {"cluster", "%UPSTREAM_CLUSTER%"},
      {"attempts", "%UPSTREAM_REQUEST_ATTEMPT_COUNT%"},
      {"retry", "%RETRY_VERDICT%"},
      {"request_id", "%REQ(X-REQUEST-ID)%"},
  };
  AccessLog::Json out;
  out.kind = AccessLog::Json::Kind::kObject;
  for (const auto& [name, format] : kFields) {
    out.object.emplace_back(name, AccessLog::Json{.object = {}, .list = {}, .text = format});
  }
  return out;
}

AccessLog short_log(const std::string& word) {
  AccessLog out;
  out.path = word == "stdout" || word == "json" ? "/dev/stdout"
             : word == "stderr"                 ? "/dev/stderr"
                                                : word;
  if (word == "json") out.json = standard_json();
  return out;
}

AccessLog read_short_mapping(Cursor c) {
  std::string path = "stdout";
  c.read("path", path);
  AccessLog out = short_log(path);
  c.one_of({"format", "json"}, false);
  c.read("format", out.text_format);
  if (const Cursor json = c.at("json"); json.is_mapping()) {
    out.json = read_json(json);
  } else if (bool standard = false; json.get(standard) && standard) {
    out.json = standard_json();
  }
  c.read("omit_empty_values", out.omit_empty_values);
  if (const Cursor filter = c.object("filter")) out.filter = read_log_filter(filter);
  c.no_other_keys("ShortAccessLog");
  return out;
}

AccessLog read_access_log(Cursor c) {
  AccessLog out;
  std::string word;
  if (c.is_scalar() && c.get(word)) return short_log(word);
  if (!c.is_mapping_or_error()) return out;
  if (!c.has("typed_config") && !c.has("name")) return read_short_mapping(c);
  std::string name;
  c.read("name", name);
  if (!c.has("typed_config")) c.missing("typed_config");
  if (const Cursor logger = c.object("typed_config")) read_logger(logger, out);
  if (const Cursor filter = c.object("filter")) out.filter = read_log_filter(filter);
  c.no_other_keys("AccessLog");
  return out;
}

}  // namespace

std::vector<AccessLog> read_access_logs(const Cursor& c) {
  std::vector<AccessLog> out;
  if (!c) return out;
  if (!c.is_list()) return {read_access_log(c)};
  for (const Cursor& item : c.items()) out.push_back(read_access_log(item));
  return out;
}

}  // namespace damper::config
