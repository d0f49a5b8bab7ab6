// Listeners and how they speak HTTP. Envoy config.listener.v3 and HttpConnectionManager.
#pragma once
#include "config/model/common.h"
#include "config/model/filters.h"
#include "config/model/log.h"
#include "config/model/route.h"
#include "config/model/tls.h"

namespace damper::config {

enum class CodecType { kAuto, kHttp1, kHttp2 };
enum class Direction { kUnspecified, kInbound, kOutbound };

struct Http1Options {  // Envoy Http1ProtocolOptions
  bool accept_http_10 = false;
  std::string default_host_for_http_10;
  bool enable_trailers = false;
  bool allow_absolute_url = true;
  bool operator==(const Http1Options&) const = default;
};

// HttpConnectionManager: everything about requests that does not depend on the route.
struct HttpOptions {
  std::string stat_prefix;
  CodecType codec_type = CodecType::kAuto;
  Http1Options http1;
  Http2Options http2;

  bool use_remote_address = false;
  std::optional<std::vector<CidrRange>> internal_addresses;  // internal_address_config
  std::uint32_t xff_num_trusted_hops = 0;
  bool skip_xff_append = false;
  bool generate_request_id = true;
  bool preserve_external_request_id = false;
  bool always_set_request_id_in_response = false;
  bool add_user_agent = false;
  std::string server_name = "damper";
  enum class ServerHeader { kOverwrite, kAppendIfAbsent, kPassThrough };
  ServerHeader server_header = ServerHeader::kOverwrite;
  std::string via;

  Duration idle_timeout = 1h;           // of a connection without a request; 0: none
  Duration stream_idle_timeout = 5min;  // of a request without progress; 0: none
  Duration request_timeout{};           // until the request has been received; 0: none
  Duration request_headers_timeout{};   // until its head has been received; 0: none
  Duration max_stream_duration{};       // 0: none
  Duration max_connection_duration{};   // 0: none
  Duration delayed_close_timeout = 1s;
  std::uint32_t max_request_headers_kb = 60;
  std::uint32_t max_headers_count = 100;
  std::uint32_t max_requests_per_connection = 0;  // 0: any
  enum class Underscores { kAllow, kRejectRequest, kDropHeader };
  Underscores headers_with_underscores = Underscores::kAllow;

  bool normalize_path = false;
  bool merge_slashes = false;
  enum class EscapedSlashes { kKeepUnchanged, kReject, kUnescapeAndRedirect, kUnescapeAndForward };
  EscapedSlashes path_with_escaped_slashes = EscapedSlashes::kKeepUnchanged;
  bool strip_any_host_port = false;
  bool strip_matching_host_port = false;

  bool websocket = false;  // upgrade_configs: websocket
  bool proxy_100_continue = false;
  bool suppress_envoy_headers = false;       // of the router filter
  bool respect_expected_rq_timeout = false;  // of the router filter

  RouteConfig routes;
  std::vector<Filter> filters;  // in order, without the router
  std::vector<AccessLog> access_logs;
  bool operator==(const HttpOptions&) const = default;
};

struct Listener {
  std::string name;
  Endpoint address;
  std::vector<Endpoint> additional_addresses;
  Direction direction = Direction::kUnspecified;
  std::uint32_t buffer_limit_bytes = 1024 * 1024;  // per_connection_buffer_limit_bytes
  bool reuse_port = true;
  int backlog = 4096;
  std::uint32_t max_connections = 0;  // 0: any
  std::string stat_prefix;            // of listener.<…>; empty: the address
  std::optional<DownstreamTls> tls;
  HttpOptions http;
  // Damper's own.
  bool edge = false;
  std::optional<std::vector<CidrRange>>
      trust;  // who may steer by x-envoy-*; loopback and unix sockets by default
  bool operator==(const Listener&) const = default;
};

}  // namespace damper::config
