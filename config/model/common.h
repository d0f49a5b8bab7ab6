// Words that several subjects of the configuration share. Values: they copy and compare, and know
// no file.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace damper::config {

using namespace std::chrono_literals;

// An IP address or a name with a port, or the path of a unix socket.
struct Endpoint {
  std::string host;  // "127.0.0.1", "::1", "orders.svc"; empty for a unix socket
  std::uint16_t port = 0;
  std::string unix_path;  // "@name" is in the abstract namespace

  bool is_unix() const { return !unix_path.empty(); }
  std::string to_string() const;  // "127.0.0.1:80", "[::1]:80", "unix:/run/app.sock"
  bool operator==(const Endpoint&) const = default;
};

struct CidrRange {
  std::string address_prefix;
  int prefix_len = 0;
  bool operator==(const CidrRange&) const = default;
};

// Envoy type.matcher.v3.StringMatcher.
struct StringMatch {
  enum class Kind { kExact, kPrefix, kSuffix, kContains, kRegex };
  Kind kind = Kind::kExact;
  std::string text;
  bool ignore_case = false;
  bool operator==(const StringMatch&) const = default;
};

// Envoy config.route.v3.HeaderMatcher. Pseudo-headers ":method", ":path", ":authority", ":scheme"
// are names too.
struct HeaderMatch {
  std::string name;  // lower case
  std::optional<StringMatch> value;
  std::optional<std::pair<std::int64_t, std::int64_t>> range;  // [start, end)
  bool present = true;  // with neither value nor range: must the header be there?
  bool invert = false;
  bool treat_missing_as_empty = false;
  bool operator==(const HeaderMatch&) const = default;
};

// A share of requests, Envoy type.v3.FractionalPercent: `numerator` of a million.
struct Fraction {
  std::uint32_t parts_per_million = 1'000'000;
  bool operator==(const Fraction&) const = default;
};

struct HeaderAdd {
  enum class Append {
    kAppendIfExistsOrAdd,
    kAddIfAbsent,
    kOverwriteIfExistsOrAdd,
    kOverwriteIfExists
  };
  std::string name;   // lower case
  std::string value;  // may hold access log operators (%REQ(x)%)
  Append append = Append::kAppendIfExistsOrAdd;
  bool keep_empty_value = false;
  bool operator==(const HeaderAdd&) const = default;
};

// request_headers_to_add/remove and response_headers_to_add/remove of one level.
struct HeaderMutations {
  std::vector<HeaderAdd> request_add;
  std::vector<std::string> request_remove;
  std::vector<HeaderAdd> response_add;
  std::vector<std::string> response_remove;
  bool operator==(const HeaderMutations&) const = default;
};

// Envoy config.core.v3.Http2ProtocolOptions, of either side.
struct Http2Options {
  std::uint32_t hpack_table_bytes = 4096;
  std::uint32_t max_concurrent_streams = 1024;
  std::uint32_t stream_window_bytes = 256 * 1024;       // initial_stream_window_size
  std::uint32_t connection_window_bytes = 1024 * 1024;  // initial_connection_window_size
  bool allow_connect = false;  // RFC 8441; `websocket` of the route decides
  std::uint32_t max_outbound_frames = 10'000;
  std::uint32_t max_outbound_control_frames = 1'000;
  std::uint32_t max_consecutive_empty_frames = 1;  // …_inbound_frames_with_empty_payload
  std::uint32_t max_priority_frames_per_stream = 100;
  std::uint32_t max_window_updates_per_data_frame = 10;
  // connection_keepalive: a PING after so long without a byte from the peer; 0: none.
  Duration keepalive_interval{};
  Duration keepalive_timeout{};
  double keepalive_jitter_percent = 15;
  bool operator==(const Http2Options&) const = default;
};

enum class Priority : std::uint8_t { kDefault, kHigh };

}  // namespace damper::config
