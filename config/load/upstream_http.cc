#include "config/load/upstream_http.h"

#include "config/load/common.h"
#include "config/load/http2.h"
#include "config/load/retry.h"
#include "config/load/tls.h"

namespace damper::config {
namespace {

constexpr std::string_view kOptions = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

void read_common(Cursor c, Cluster& out) {
  if (!c) return;
  c.read("idle_timeout", out.idle_timeout);
  c.read("max_connection_duration", out.max_connection_duration);
  c.read("max_requests_per_connection", out.max_requests_per_connection);
  c.read("max_headers_count", out.max_response_headers_count, Range<std::uint32_t>{.least = 1});
  c.read("max_response_headers_kb", out.max_response_headers_kb,
         Range<std::uint32_t>{.least = 1, .most = 8192});
  c.no_other_keys("UpstreamCommonOptions");
}

void read_http1(Cursor c, Cluster& out) {
  if (!c) return;
  c.read("enable_trailers", out.enable_trailers);
  c.no_other_keys("UpstreamHttp1Options");
}

void read_explicit(Cursor c, Cluster& out) {
  if (!c) return;
  c.one_of({"http_protocol_options", "http2_protocol_options"}, !c.has("http3_protocol_options"));
  read_http1(c.object("http_protocol_options"), out);
  if (const Cursor http2 = c.object("http2_protocol_options")) {
    out.http = UpstreamHttp::kHttp2;
    read_http2_options(http2, out.http2);
  }
  c.no_other_keys("ExplicitHttpConfig");
}

void read_options(Cursor c, Cluster& out) {
  if (!expect_type(c, kOptions)) return;
  c.one_of({"explicit_http_config", "use_downstream_protocol_config", "auto_config"}, true);
  read_common(c.object("common_http_protocol_options"), out);
  read_auto_sni(c.object("upstream_http_protocol_options"), out);
  read_explicit(c.object("explicit_http_config"), out);
  if (Cursor same = c.object("use_downstream_protocol_config")) {
    // As in Envoy: HTTP/2 goes out only where its options are written, be they empty.
    const Cursor http2 = same.object("http2_protocol_options");
    if (http2) out.http = UpstreamHttp::kDownstream;
    read_http2_options(http2, out.http2);
    read_http1(same.object("http_protocol_options"), out);
    same.no_other_keys("UseDownstreamHttpConfig");
  }
  if (Cursor automatic = c.object("auto_config")) {
    out.http = UpstreamHttp::kAuto;
    read_http1(automatic.object("http_protocol_options"), out);
    read_http2_options(automatic.object("http2_protocol_options"), out.http2);
    automatic.no_other_keys("AutoHttpConfig");
  }
  if (const Cursor policy = c.object("retry_policy")) out.retry_policy = read_retry_policy(policy);
  c.no_other_keys("UpstreamHttpProtocolOptions");
}

}  // namespace

void read_upstream_http(Cursor& cluster, Cluster& out) {
  read_common(cluster.object("common_http_protocol_options"), out);
  read_auto_sni(cluster.object("upstream_http_protocol_options"), out);
  read_http1(cluster.object("http_protocol_options"), out);
  cluster.read("max_requests_per_connection", out.max_requests_per_connection);
  if (const Cursor http2 = cluster.object("http2_protocol_options")) {
    out.http = UpstreamHttp::kHttp2;
    read_http2_options(http2, out.http2);
  }
  if (const Cursor http = cluster.at("http")) {
    http.get_word<UpstreamHttp>(
        out.http, "http",
        {{"1", UpstreamHttp::kHttp1}, {"2", UpstreamHttp::kHttp2}, {"auto", UpstreamHttp::kAuto}});
  }
  if (Cursor typed = cluster.object("typed_extension_protocol_options")) {
    for (auto& [name, options] : typed.named()) {
      if (name == kOptions && options.is_mapping_or_error()) read_options(options, out);
      if (name != kOptions) options.unsupported("options " + name);
    }
  }
}

}  // namespace damper::config
