#include "config/load/http.h"

#include <algorithm>

#include "config/load/access_log.h"
#include "config/load/common.h"
#include "config/load/filters.h"
#include "config/load/http2.h"
#include "config/load/route.h"
#include "config/load/route_action.h"
#include "config/session.h"

namespace damper::config {
namespace {

constexpr std::uint32_t kMostHeadersKb = 8192;

void read_codec(Cursor& c, HttpOptions& out) {
  if (const Cursor codec = c.at("codec_type")) {
    codec.get_word<CodecType>(
        out.codec_type, "codec_type",
        {{"AUTO", CodecType::kAuto}, {"HTTP1", CodecType::kHttp1}, {"HTTP2", CodecType::kHttp2}});
  }
  if (Cursor http1 = c.object("http_protocol_options")) {
    http1.read("accept_http_10", out.http1.accept_http_10);
    http1.read("default_host_for_http_10", out.http1.default_host_for_http_10);
    http1.read("enable_trailers", out.http1.enable_trailers);
    http1.read("allow_absolute_url", out.http1.allow_absolute_url);
    http1.no_other_keys("Http1ProtocolOptions");
  }
  read_http2_options(c.object("http2_protocol_options"), out.http2);
}

void read_identity(Cursor& c, HttpOptions& out) {
  c.read("use_remote_address", out.use_remote_address);
  if (Cursor internal = c.object("internal_address_config")) {
    out.internal_addresses = read_ranges(internal.list("cidr_ranges"));
    internal.no_other_keys("InternalAddressConfig");
  }
  c.read("xff_num_trusted_hops", out.xff_num_trusted_hops);
  c.read("skip_xff_append", out.skip_xff_append);
  c.read("generate_request_id", out.generate_request_id);
  c.read("preserve_external_request_id", out.preserve_external_request_id);
  c.read("always_set_request_id_in_response", out.always_set_request_id_in_response);
  c.read("add_user_agent", out.add_user_agent);
  c.read("server_name", out.server_name);
  using ServerHeader = HttpOptions::ServerHeader;
  c.read_word<ServerHeader>("server_header_transformation", out.server_header,
                            {{"OVERWRITE", ServerHeader::kOverwrite},
                             {"APPEND_IF_ABSENT", ServerHeader::kAppendIfAbsent},
                             {"PASS_THROUGH", ServerHeader::kPassThrough}});
  c.read("via", out.via);
}

void read_common_options(Cursor c, HttpOptions& out) {
  if (!c) return;
  c.read("idle_timeout", out.idle_timeout);
  c.read("max_connection_duration", out.max_connection_duration);
  c.read("max_stream_duration", out.max_stream_duration);
  c.read("max_headers_count", out.max_headers_count, Range<std::uint32_t>{.least = 1});
  c.read("max_requests_per_connection", out.max_requests_per_connection);
  using Underscores = HttpOptions::Underscores;
  c.read_word<Underscores>("headers_with_underscores_action", out.headers_with_underscores,
                           {{"ALLOW", Underscores::kAllow},
                            {"REJECT_REQUEST", Underscores::kRejectRequest},
                            {"DROP_HEADER", Underscores::kDropHeader}});
  c.no_other_keys("HttpProtocolOptions");
}

void read_limits(Cursor& c, HttpOptions& out) {
  read_common_options(c.object("common_http_protocol_options"), out);
  c.read("stream_idle_timeout", out.stream_idle_timeout);
  c.read("request_timeout", out.request_timeout);
  c.read("request_headers_timeout", out.request_headers_timeout);
  c.read("delayed_close_timeout", out.delayed_close_timeout);
  c.read("max_request_headers_kb", out.max_request_headers_kb,
         Range<std::uint32_t>{.least = 1, .most = kMostHeadersKb});
}

void read_path_handling(Cursor& c, HttpOptions& out) {
  c.read("normalize_path", out.normalize_path);
  c.read("merge_slashes", out.merge_slashes);
  using Escaped = HttpOptions::EscapedSlashes;
  c.read_word<Escaped>("path_with_escaped_slashes_action", out.path_with_escaped_slashes,
                       {{"IMPLEMENTATION_SPECIFIC_DEFAULT", Escaped::kKeepUnchanged},
                        {"KEEP_UNCHANGED", Escaped::kKeepUnchanged},
                        {"REJECT_REQUEST", Escaped::kReject},
                        {"UNESCAPE_AND_REDIRECT", Escaped::kUnescapeAndRedirect},
                        {"UNESCAPE_AND_FORWARD", Escaped::kUnescapeAndForward}});
  c.one_of({"strip_any_host_port", "strip_matching_host_port"}, false);
  c.read("strip_any_host_port", out.strip_any_host_port);
  c.read("strip_matching_host_port", out.strip_matching_host_port);
}

HttpOptions read_settings(Cursor& c, const std::string& name) {
  HttpOptions out;
  out.stat_prefix = name;
  c.read("stat_prefix", out.stat_prefix);
  read_codec(c, out);
  read_identity(c, out);
  read_limits(c, out);
  read_path_handling(c, out);
  out.websocket = read_upgrades(c.list("upgrade_configs")).value_or(false);
  c.read("proxy_100_continue", out.proxy_100_continue);
  c.object("tracing").no_other_keys("Tracing");
  out.access_logs = read_access_logs(c.at("access_log"));
  read_http_filters(c.list("http_filters"), out);
  return out;
}

// In the short form deadlines are kept without a word about them.
void add_deadline(HttpOptions& out) {
  const auto is_deadline = [](const Filter& f) {
    return std::holds_alternative<DeadlineFilter>(f.settings);
  };
  if (std::any_of(out.filters.begin(), out.filters.end(), is_deadline)) return;
  out.filters.insert(out.filters.begin(), {.name = "deadline", .settings = DeadlineFilter{}});
}

}  // namespace

HttpOptions read_connection_manager(Cursor c, const std::string& name) {
  HttpOptions out = read_settings(c, name);
  if (c.has("route_config")) {
    out.routes = read_route_config(c.object("route_config"), name);
  } else if (!c.has("rds") && !c.has("scoped_routes")) {
    c.missing("route_config");
  }
  c.no_other_keys("HttpConnectionManager");
  return out;
}

HttpOptions read_short_http(Cursor& c, const std::string& name) {
  HttpOptions out = read_settings(c, name);
  c.one_of({"http_filters", "filters"}, false);
  read_short_filters(c.list("filters"), out);
  if (!c.has("http_filters")) add_deadline(out);
  c.one_of({"routes", "virtual_hosts", "route_config"}, !c.has("rds"));
  if (const Cursor config = c.object("route_config")) {
    out.routes = read_route_config(config, name);
  } else {
    out.routes.name = name;
    out.routes.virtual_hosts = read_virtual_hosts(c.list("virtual_hosts"), name);
    if (c.has("routes")) out.routes.virtual_hosts.push_back(read_only_virtual_host(c, name));
  }
  return out;
}

}  // namespace damper::config
