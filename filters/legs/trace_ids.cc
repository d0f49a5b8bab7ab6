#include "filters/legs/trace_ids.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace damper::legs {
namespace {

using http::HeaderId;

constexpr std::size_t kMostMembers = 32;  // W3C Trace Context §3.3.1.1

bool is_hex(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return hex_digit(c) >= 0; });
}

bool is_zero(std::string_view text) { return text.find_first_not_of('0') == text.npos; }

// "00-<32 hex>-<16 hex>-01"; later versions may be longer.
std::string_view trace_of(std::string_view traceparent) {
  constexpr std::size_t kAt = 3;
  constexpr std::size_t kLength = 32;
  if (traceparent.size() < kAt + kLength + 1 || traceparent[kAt - 1] != '-' ||
      traceparent[kAt + kLength] != '-') {
    return {};
  }
  const std::string_view id = traceparent.substr(kAt, kLength);
  return is_hex(id) && !is_zero(id) ? id : std::string_view{};
}

// "<trace id>-<span id>-1-<parent>"; "0" alone says that nothing is traced.
std::string_view b3_of(std::string_view value) {
  const std::string_view id = value.substr(0, value.find('-'));
  const bool long_enough = id.size() == 16 || id.size() == 32;
  return long_enough && is_hex(id) && !is_zero(id) ? id : std::string_view{};
}

bool is_member(std::string_view member, std::string_view key) {
  return member.size() > key.size() && member.starts_with(key) && member[key.size()] == '=';
}

std::optional<std::uint64_t> nonce_of(std::string_view tracestate) {
  for (const std::string_view member : split(tracestate, ',')) {
    if (!is_member(member, kNonceMember)) continue;
    const std::string_view text = member.substr(kNonceMember.size() + 1);
    std::uint64_t nonce = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), nonce, 16);
    if (error == std::errc{} && end == text.data() + text.size()) return nonce;
  }
  return std::nullopt;
}

// The members of another hop's list, but for the one that is replaced.
void append_others(std::string& state, std::string_view key, std::string_view list) {
  std::size_t members = 1;
  for (const std::string_view member : split(list, ',')) {
    if (is_member(member, key)) continue;
    if (++members > kMostMembers) break;
    state.append(",").append(member);
  }
}

}  // namespace

TraceIds plain_trace_ids(const http::Fields& fields) {
  TraceIds ids;
  if (const auto value = fields.find(HeaderId::kTraceparent)) ids.trace = trace_of(*value);
  if (const auto value = fields.find(HeaderId::kXRequestId)) ids.request = *value;
  if (const auto value = fields.find(HeaderId::kB3)) ids.b3 = b3_of(*value);
  if (ids.b3.empty()) {
    if (const auto value = fields.find(HeaderId::kXB3Traceid)) ids.b3 = b3_of(*value);
  }
  return ids;
}

TraceIds trace_ids(const http::Fields& fields) {
  TraceIds ids = plain_trace_ids(fields);
  if (!ids.trace.empty() && fields.has(HeaderId::kTracestate)) {
    ids.nonce = nonce_of(*fields.joined("tracestate"));
  }
  return ids;
}

void set_tracestate_member(http::Fields& fields, std::string_view key, std::string_view value) {
  if (!fields.has(HeaderId::kTraceparent)) return;
  std::string state;
  state.append(key).append("=").append(value);
  if (fields.has(HeaderId::kTracestate)) append_others(state, key, *fields.joined("tracestate"));
  fields.set(HeaderId::kTracestate, state);
}

std::string format_nonce(std::uint64_t nonce) {
  char text[16];
  const auto end = std::to_chars(text, text + sizeof text, nonce, 16).ptr;
  return {text, end};
}

}  // namespace damper::legs
