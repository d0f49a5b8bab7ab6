#include "stream/operators.h"

#include <algorithm>
#include <array>
#include <unistd.h>

#include "base/text.h"
#include "http/grpc_status.h"
#include "net/tls_facts.h"
#include "net/transport.h"

namespace damper::stream {
namespace {

Error invalid(std::string detail) { return {Errc::kInvalid, Side::kLocal, std::move(detail)}; }

// --- values ---

bool append_text(std::string& out, std::string_view text) {
  out.append(text);
  return !text.empty();
}

template <class Number>
bool append_count(std::string& out, Number n) {
  append_number(out, n);
  return true;
}

bool append_span(std::string& out, std::optional<TimePoint> from, std::optional<TimePoint> to,
                 Duration unit = std::chrono::milliseconds(1)) {
  return from && to && *to >= *from && append_count(out, (*to - *from) / unit);
}

std::string_view without_port(std::string_view address) {
  if (address.starts_with("unix:")) return address;
  address = address.substr(0, address.rfind(':'));
  if (!address.starts_with('[')) return address;
  return address.substr(1, address.size() - 2);
}

std::string_view port_of(std::string_view address) {
  const auto colon = address.rfind(':');
  if (address.starts_with("unix:") || colon == std::string_view::npos) return {};
  return address.substr(colon + 1);
}

using View = std::string_view AccessRecord::*;

template <View kMember>
bool write_text(const AccessRecord& r, const Arguments&, std::string& out) {
  return append_text(out, r.*kMember);
}

template <View kMember>
bool write_address_without_port(const AccessRecord& r, const Arguments&, std::string& out) {
  return append_text(out, without_port(r.*kMember));
}

template <auto kMember>
bool write_count(const AccessRecord& r, const Arguments&, std::string& out) {
  return append_count(out, r.*kMember);
}

bool write_nothing(const AccessRecord&, const Arguments&, std::string&) { return false; }

// --- header fields ---

bool append_field(std::string& out, const http::Fields& fields, const HeaderName& name) {
  const auto value =
      name.id == http::HeaderId::kOther ? fields.find(name.text) : fields.find(name.id);
  out.append(value.value_or(""));
  return value.has_value();
}

bool append_length(std::string& out, std::optional<std::uint64_t> length) {
  return length && append_count(out, *length);
}

bool append_request_header(std::string& out, const AccessRecord& r, const HeaderName& name) {
  const http::RequestHead& head = *r.request;
  switch (name.source) {
    case HeaderName::Source::kMethod: return append_text(out, head.method);
    case HeaderName::Source::kPath: return append_text(out, head.path);
    case HeaderName::Source::kAuthority: return append_text(out, head.authority);
    case HeaderName::Source::kScheme: return append_text(out, head.scheme);
    case HeaderName::Source::kContentLength: return append_length(out, head.content_length);
    case HeaderName::Source::kUpgrade: return append_text(out, head.upgrade);
    case HeaderName::Source::kOriginalPath:
      return append_text(out, r.path_before_rewrite) || append_field(out, head.fields, name);
    case HeaderName::Source::kField: return append_field(out, head.fields, name);
    case HeaderName::Source::kStatus: return false;
  }
  return false;
}

bool append_response_header(std::string& out, const AccessRecord& r, const HeaderName& name) {
  const http::ResponseHead& head = *r.response;
  switch (name.source) {
    case HeaderName::Source::kStatus: return append_count(out, head.status);
    case HeaderName::Source::kContentLength: return append_length(out, head.content_length);
    case HeaderName::Source::kUpgrade: return append_text(out, head.upgrade);
    default: return append_field(out, head.fields, name);
  }
}

bool write_request_header(const AccessRecord& r, const Arguments& a, std::string& out) {
  return r.request && std::any_of(a.headers.begin(), a.headers.end(), [&](const HeaderName& n) {
           return append_request_header(out, r, n);
         });
}

bool write_response_header(const AccessRecord& r, const Arguments& a, std::string& out) {
  return r.response && std::any_of(a.headers.begin(), a.headers.end(), [&](const HeaderName& n) {
           return append_response_header(out, r, n);
         });
}

bool write_trailer(const AccessRecord& r, const Arguments& a, std::string& out) {
  return r.response_trailers &&
         std::any_of(a.headers.begin(), a.headers.end(), [&](const HeaderName& n) {
           return append_field(out, *r.response_trailers, n);
         });
}

// --- the rest, in the order of the table ---

bool write_start_time(const AccessRecord& r, const Arguments& a, std::string& out) {
  if (a.time) {
    a.time->write(r.start_time, out);
  } else {
    append_iso8601(out, r.start_time);
  }
  return true;
}

bool write_protocol(const AccessRecord& r, const Arguments&, std::string& out) {
  return r.request && append_text(out, http::name(r.request->protocol));
}

bool write_flags(const AccessRecord& r, const Arguments&, std::string& out) {
  out.append(to_string(r.flags));
  return true;
}

bool write_long_flags(const AccessRecord& r, const Arguments&, std::string& out) {
  const std::size_t start = out.size();
  for (std::size_t i = 0; i < r.flags.size(); ++i) {
    if (!r.flags.test(i)) continue;
    if (out.size() > start) out.push_back(',');
    out.append(long_name(static_cast<Flag>(i)));
  }
  if (out.size() == start) out.push_back('-');
  return true;
}

std::optional<TimePoint> at_start(const AccessRecord& r) { return r.start; }
std::optional<TimePoint> at_request_end(const AccessRecord& r) { return r.request_end; }
std::optional<TimePoint> at_upstream_start(const AccessRecord& r) { return r.upstream_start; }
std::optional<TimePoint> at_response_start(const AccessRecord& r) { return r.response_start; }
std::optional<TimePoint> at_end(const AccessRecord& r) { return r.end; }

template <Instant kFrom, Instant kTo>
bool write_span(const AccessRecord& r, const Arguments&, std::string& out) {
  return append_span(out, kFrom(r), kTo(r));
}

bool write_common_duration(const AccessRecord& r, const Arguments& a, std::string& out) {
  return append_span(out, a.from(r), a.to(r), a.unit);
}

bool write_attempt_count(const AccessRecord& r, const Arguments&, std::string& out) {
  return append_count(out, r.attempts.size());
}

bool write_hosts_attempted(const AccessRecord& r, const Arguments&, std::string& out) {
  const std::size_t start = out.size();
  for (const AttemptRecord& attempt : r.attempts) {
    if (attempt.host.empty()) continue;
    if (out.size() > start) out.push_back(',');
    out.append(attempt.host);
  }
  return out.size() > start;
}

// "10.0.0.1:80:3ms:503,10.0.0.2:80:5ms:200": read it from the right, a host has colons of its own.
bool write_attempts(const AccessRecord& r, const Arguments&, std::string& out) {
  for (const AttemptRecord& attempt : r.attempts) {
    if (&attempt != &r.attempts.front()) out.push_back(',');
    out.append(attempt.host.empty() ? "-" : attempt.host).push_back(':');
    append_number(out, milliseconds(attempt.duration));
    out.append("ms:").append(attempt.outcome.empty() ? "-" : attempt.outcome);
  }
  return !r.attempts.empty();
}

bool write_local_port(const AccessRecord& r, const Arguments&, std::string& out) {
  return append_text(out, port_of(r.downstream_local));
}

const net::TlsFacts* downstream_tls(const AccessRecord& r) {
  return r.downstream_transport ? r.downstream_transport->tls() : nullptr;
}

template <auto kMember>
bool write_tls(const AccessRecord& r, const Arguments&, std::string& out) {
  const net::TlsFacts* tls = downstream_tls(r);
  return tls && append_text(out, tls->*kMember);
}

template <auto kMember>
bool write_tls_names(const AccessRecord& r, const Arguments&, std::string& out) {
  const net::TlsFacts* tls = downstream_tls(r);
  if (!tls) return false;
  const std::size_t start = out.size();
  for (const std::string& name : tls->*kMember) {
    if (out.size() > start) out.push_back(',');
    out.append(name);
  }
  return out.size() > start;
}

bool write_grpc_status(const AccessRecord& r, const Arguments& a, std::string& out) {
  if (!r.request || !r.request->is_grpc()) return false;
  const int status = grpc_status(r);
  if (a.grpc_name && append_text(out, a.grpc_name(status))) return true;
  return append_count(out, status);
}

bool write_stored(const AccessRecord&, const Arguments& a, std::string& out) {
  return append_text(out, a.text);
}

// What was left when the request ended; of one that still runs, what it began with.
bool write_deadline_left(const AccessRecord& r, const Arguments&, std::string& out) {
  return r.deadline && append_count(out, milliseconds(*r.deadline - r.end.value_or(r.start)));
}

// --- arguments ---

HeaderName header_named(std::string_view text) {
  using Source = HeaderName::Source;
  constexpr std::pair<std::string_view, Source> kSpecial[] = {
      {":method", Source::kMethod},
      {":path", Source::kPath},
      {":authority", Source::kAuthority},
      {"host", Source::kAuthority},
      {":scheme", Source::kScheme},
      {":status", Source::kStatus},
      {"content-length", Source::kContentLength},
      {"upgrade", Source::kUpgrade},
      {"x-envoy-original-path", Source::kOriginalPath},
  };
  HeaderName out{.text = lower(text)};
  out.id = http::header_id(out.text);
  for (const auto& [name, source] : kSpecial) {
    if (name == out.text) out.source = source;
  }
  return out;
}

// "X" or "X?Y".
Status read_headers(std::string_view argument, Arguments& out) {
  const auto question = argument.find('?');
  out.headers.push_back(header_named(argument.substr(0, question)));
  if (question != std::string_view::npos) {
    out.headers.push_back(header_named(argument.substr(question + 1)));
  }
  for (const HeaderName& h : out.headers) {
    if (h.text.empty() || h.text.find_first_of(" ?") != std::string::npos) {
      return invalid("needs the name of a header, or two with '?' between them");
    }
  }
  return Ok{};
}

Status read_time_format(std::string_view argument, Arguments& out) {
  if (argument.empty()) return Ok{};
  TRY_ASSIGN(out.time, TimeFormat::compile(argument));
  return Ok{};
}

Status read_instant(std::string_view name, Instant& out) {
  constexpr std::pair<std::string_view, Instant> kInstants[] = {
      {"DS_RX_BEG", at_start},
      {"DS_RX_END", at_request_end},
      {"US_TX_BEG", at_upstream_start},
      {"US_RX_BEG", at_response_start},
      {"DS_TX_END", at_end},
  };
  std::string names;
  for (const auto& [known, instant] : kInstants) {
    if (known == name) {
      out = instant;
      return Ok{};
    }
    names.append(names.empty() ? "" : ", ").append(known);
  }
  return invalid("unknown point in time \"" + std::string(name) + "\"; there are " + names);
}

Result<Duration> read_unit(std::string_view name) {
  if (name == "ms") return Duration(std::chrono::milliseconds(1));
  if (name == "us") return Duration(std::chrono::microseconds(1));
  if (name == "ns") return Duration(std::chrono::nanoseconds(1));
  return invalid("unknown unit \"" + std::string(name) + "\"; there are ms, us, ns");
}

Status read_span(std::string_view argument, Arguments& out) {
  const auto parts = split(argument, ':');
  if (parts.size() != 3) return invalid("needs (start:end:unit)");
  TRY(read_instant(parts[0], out.from));
  TRY(read_instant(parts[1], out.to));
  TRY_ASSIGN(out.unit, read_unit(parts[2]));
  return Ok{};
}

Status read_grpc_form(std::string_view argument, Arguments& out) {
  if (argument.empty() || argument == "CAMEL_STRING") {
    out.grpc_name = http::grpc_camel_name;
  } else if (argument == "SNAKE_STRING") {
    out.grpc_name = http::grpc_snake_name;
  } else if (argument != "NUMBER") {
    return invalid("takes CAMEL_STRING, SNAKE_STRING or NUMBER");
  }
  return Ok{};
}

Status read_hostname(std::string_view, Arguments& out) {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) == 0) out.text = name;
  return Ok{};
}

// --- the table ---

struct Definition {
  std::string_view name;
  decltype(Operator::write) write;
  Status (*read)(std::string_view argument, Arguments& out) = nullptr;
  bool number = false;
};

constexpr bool kNumber = true;
using Record = AccessRecord;
using Tls = net::TlsFacts;

constexpr std::array kOperators = {
    Definition{"ATTEMPTS", write_attempts},
    Definition{"BYTES_RECEIVED", write_count<&Record::bytes_received>, nullptr, kNumber},
    Definition{"BYTES_SENT", write_count<&Record::bytes_sent>, nullptr, kNumber},
    Definition{"COMMON_DURATION", write_common_duration, read_span, kNumber},
    Definition{"CONNECTION_ID", write_count<&Record::connection_id>, nullptr, kNumber},
    Definition{"DEADLINE_LEFT", write_deadline_left, nullptr, kNumber},
    Definition{"DOWNSTREAM_DIRECT_REMOTE_ADDRESS", write_text<&Record::downstream_remote>},
    Definition{"DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT",
               write_address_without_port<&Record::downstream_remote>},
    Definition{"DOWNSTREAM_LOCAL_ADDRESS", write_text<&Record::downstream_local>},
    Definition{"DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT",
               write_address_without_port<&Record::downstream_local>},
    Definition{"DOWNSTREAM_LOCAL_DNS_SAN", write_tls_names<&Tls::local_dns_sans>},
    Definition{"DOWNSTREAM_LOCAL_PORT", write_local_port, nullptr, kNumber},
    Definition{"DOWNSTREAM_LOCAL_SUBJECT", write_tls<&Tls::local_subject>},
    Definition{"DOWNSTREAM_LOCAL_URI_SAN", write_tls_names<&Tls::local_uri_sans>},
    Definition{"DOWNSTREAM_PEER_DNS_SAN", write_tls_names<&Tls::peer_dns_sans>},
    Definition{"DOWNSTREAM_PEER_SUBJECT", write_tls<&Tls::peer_subject>},
    Definition{"DOWNSTREAM_PEER_URI_SAN", write_tls_names<&Tls::peer_uri_sans>},
    Definition{"DOWNSTREAM_REMOTE_ADDRESS", write_text<&Record::downstream_remote>},
    Definition{"DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT",
               write_address_without_port<&Record::downstream_remote>},
    Definition{"DOWNSTREAM_TLS_CIPHER", write_tls<&Tls::cipher>},
    Definition{"DOWNSTREAM_TLS_VERSION", write_tls<&Tls::version>},
    Definition{"DURATION", write_span<at_start, at_end>, nullptr, kNumber},
    Definition{"GRPC_STATUS", write_grpc_status, read_grpc_form},
    Definition{"GRPC_STATUS_NUMBER", write_grpc_status, nullptr, kNumber},
    Definition{"HOSTNAME", write_stored, read_hostname},
    Definition{"IDEMPOTENCY_KEY", write_text<&Record::idempotency_key>},
    Definition{"PARENT_IDEMPOTENCY_KEY", write_text<&Record::parent_key>},
    Definition{"PROTOCOL", write_protocol},
    Definition{"REQ", write_request_header, read_headers},
    Definition{"REQUESTED_SERVER_NAME", write_tls<&Tls::server_name>},
    Definition{"REQUEST_DURATION", write_span<at_start, at_request_end>, nullptr, kNumber},
    Definition{"RESP", write_response_header, read_headers},
    Definition{"RESPONSE_CODE", write_count<&Record::status>, nullptr, kNumber},
    Definition{"RESPONSE_CODE_DETAILS", write_text<&Record::details>},
    Definition{"RESPONSE_DURATION", write_span<at_start, at_response_start>, nullptr, kNumber},
    Definition{"RESPONSE_FLAGS", write_flags},
    Definition{"RESPONSE_FLAGS_LONG", write_long_flags},
    Definition{"RESPONSE_TX_DURATION", write_span<at_response_start, at_end>, nullptr, kNumber},
    Definition{"RETRY_SHADOW_VERDICT", write_text<&Record::retry_shadow_verdict>},
    Definition{"RETRY_VERDICT", write_text<&Record::retry_verdict>},
    Definition{"ROUTE_NAME", write_text<&Record::route_name>},
    Definition{"START_TIME", write_start_time, read_time_format},
    Definition{"STREAM_ID", write_count<&Record::stream_id>, nullptr, kNumber},
    Definition{"TRAILER", write_trailer, read_headers},
    Definition{"UPSTREAM_CLUSTER", write_text<&Record::cluster>},
    Definition{"UPSTREAM_CLUSTER_RAW", write_text<&Record::cluster>},
    Definition{"UPSTREAM_CONNECTION_ID", write_count<&Record::upstream_connection_id>, nullptr,
               kNumber},
    Definition{"UPSTREAM_HOST", write_text<&Record::upstream_host>},
    Definition{"UPSTREAM_HOSTS_ATTEMPTED", write_hosts_attempted},
    Definition{"UPSTREAM_LOCAL_ADDRESS", write_text<&Record::upstream_local>},
    Definition{"UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT",
               write_address_without_port<&Record::upstream_local>},
    Definition{"UPSTREAM_REQUEST_ATTEMPT_COUNT", write_attempt_count, nullptr, kNumber},
    Definition{"UPSTREAM_TRANSPORT_FAILURE_REASON", write_text<&Record::upstream_failure_reason>},
    Definition{"VIRTUAL_CLUSTER_NAME", write_nothing},  // we have none
    Definition{"VIRTUAL_HOST_NAME", write_text<&Record::virtual_host>},
};

Error unknown_operator(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Definition& d : kOperators) names.push_back(d.name);
  std::string detail = "unknown operator %" + std::string(name) + "%";
  if (const auto meant = nearest(name, names); !meant.empty()) {
    detail.append(", did you mean %").append(meant).append("%?");
  }
  return invalid(std::move(detail));
}

}  // namespace

Result<Operator> compile_operator(std::string_view name, std::string_view argument,
                                  std::optional<std::size_t> at_most_bytes) {
  const auto* found = std::find_if(kOperators.begin(), kOperators.end(),
                                   [name](const Definition& d) { return d.name == name; });
  if (found == kOperators.end()) return unknown_operator(name);
  const std::string where = "operator %" + std::string(name) + "%: ";
  Operator out{.write = found->write,
               .arguments = {},
               .number = found->number && !at_most_bytes,
               .at_most_bytes = at_most_bytes};
  if (!found->read) {
    if (!argument.empty()) return invalid(where + "takes no argument");
    return out;
  }
  if (auto status = found->read(argument, out.arguments); !status) {
    return invalid(where + status.error().detail);
  }
  return out;
}

bool Operator::append(const AccessRecord& record, std::string& out) const {
  const std::size_t start = out.size();
  if (!write(record, arguments, out)) return false;
  if (at_most_bytes && out.size() - start > *at_most_bytes) out.resize(start + *at_most_bytes);
  return true;
}

}  // namespace damper::stream
