#include "server/access_log_filter.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/text.h"

namespace damper::server {
namespace {

// Flags of Envoy that name what does not happen here: allowed, and never set.
constexpr std::array<std::string_view, 8> kForeignFlags = {"LH",   "UAEX", "RLSE", "RFCF",
                                                           "NFCF", "DF",   "DO",   "UDO"};

Error unknown_flag(std::string_view name) {
  std::vector<std::string_view> names(kForeignFlags.begin(), kForeignFlags.end());
  for (std::size_t i = 0; i < stream::Flags().size(); ++i) {
    names.push_back(stream::short_name(static_cast<stream::Flag>(i)));
  }
  std::string detail = "unknown response flag \"" + std::string(name) + "\"";
  if (const auto meant = nearest(name, names); !meant.empty()) {
    detail.append(", did you mean \"").append(meant).append("\"?");
  }
  return {Errc::kInvalid, Side::kLocal, std::move(detail)};
}

// We make no traces: what the caller samples is traced (the last bit of traceparent's flags).
bool is_traced(const stream::AccessRecord& record) {
  constexpr std::size_t kFlagsAt = 53;  // of "00-<32 digits>-<16 digits>-01"
  if (!record.request || record.health_check) return false;
  const auto parent = record.request->fields.find(http::HeaderId::kTraceparent);
  if (!parent || parent->size() < kFlagsAt + 2) return false;
  return std::string_view("13579bdf").find((*parent)[kFlagsAt + 1]) != std::string_view::npos;
}

std::uint64_t duration_ms(const stream::AccessRecord& record) {
  const auto ms = milliseconds(record.end.value_or(record.start) - record.start);
  return static_cast<std::uint64_t>(std::max<std::int64_t>(ms, 0));
}

}  // namespace

Result<AccessLogFilter> AccessLogFilter::compile(const config::LogFilter& rule) {
  AccessLogFilter out;
  out.rule_ = rule;
  out.rule_.filters.clear();
  TRY(out.compile_flags(rule.flags));
  if (rule.header) {
    TRY_ASSIGN(out.header_, route::HeaderMatcher::compile(*rule.header));
  }
  for (const config::LogFilter& part : rule.filters) {
    auto compiled = compile(part);
    if (!compiled) return std::move(compiled).error();
    out.filters_.push_back(*std::move(compiled));
  }
  return out;
}

Status AccessLogFilter::compile_flags(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (const auto flag = stream::parse_flag(name)) {
      stream::set(flags_, *flag);
    } else if (std::find(kForeignFlags.begin(), kForeignFlags.end(), name) == kForeignFlags.end()) {
      return unknown_flag(name);
    }
  }
  return Ok{};
}

bool AccessLogFilter::passes(const stream::AccessRecord& record, std::uint64_t draw) const {
  using Kind = config::LogFilter::Kind;
  const auto part_passes = [&](const AccessLogFilter& f) { return f.passes(record, draw); };
  switch (rule_.kind) {
    case Kind::kStatus: return compare(static_cast<std::uint64_t>(record.status));
    case Kind::kDuration: return compare(duration_ms(record));
    case Kind::kNotHealthCheck: return !record.health_check;
    case Kind::kTraceable: return is_traced(record);
    case Kind::kResponseFlag: return passes_flags(record.flags);
    case Kind::kHeader: return header_ && record.request && header_->matches(*record.request);
    case Kind::kGrpcStatus: return passes_grpc_status(record);
    case Kind::kRuntime: return draw % 1'000'000 < rule_.share.parts_per_million;
    case Kind::kAnd: return std::all_of(filters_.begin(), filters_.end(), part_passes);
    case Kind::kOr: return std::any_of(filters_.begin(), filters_.end(), part_passes);
  }
  return true;
}

bool AccessLogFilter::passes_flags(const stream::Flags& flags) const {
  return rule_.flags.empty() ? flags.any() : (flags & flags_).any();
}

bool AccessLogFilter::passes_grpc_status(const stream::AccessRecord& record) const {
  const auto& wanted = rule_.grpc_statuses;
  const bool found =
      std::find(wanted.begin(), wanted.end(), stream::grpc_status(record)) != wanted.end();
  return found != rule_.exclude;
}

bool AccessLogFilter::compare(std::uint64_t value) const {
  using Comparison = config::LogFilter::Comparison;
  switch (rule_.comparison) {
    case Comparison::kEqual: return value == rule_.value;
    case Comparison::kGreaterOrEqual: return value >= rule_.value;
    case Comparison::kLessOrEqual: return value <= rule_.value;
    case Comparison::kNotEqual: return value != rule_.value;
  }
  return true;
}

}  // namespace damper::server
