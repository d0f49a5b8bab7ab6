// What is known about one request when it is over: the source of the access log and of header
// operators (%REQ(x)%).
#pragma once
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "http/message.h"

namespace damper::net {
class Transport;
}

namespace damper::stream {

// Envoy's response flags, in the order in which the log shows several of them.
enum class Flag : std::uint8_t {
  kRetryLimit,             // URX
  kNoHealthyHost,          // UH
  kUpstreamFailure,        // UF: no connection could be made
  kUpstreamOverflow,       // UO: a limit of the cluster, an empty budget, an open breaker
  kNoRoute,                // NR
  kNoCluster,              // NC
  kUpstreamTimeout,        // UT
  kUpstreamReset,          // UR
  kUpstreamTermination,    // UC
  kUpstreamProtocol,       // UPE
  kDelayInjected,          // DI
  kFaultInjected,          // FI
  kRateLimited,            // RL
  kDownstreamTermination,  // DC
  kDownstreamReset,        // DR
  kDownstreamProtocol,     // DPE
  kInvalidEnvoyHeaders,    // IH
  kStreamIdleTimeout,      // SI
  kMaxDuration,            // UMSDR
  kDurationTimeout,        // DT
  kOverload,               // OM
  kLocalReset,             // LR
  kCount,
};
using Flags = std::bitset<static_cast<std::size_t>(Flag::kCount)>;
inline void set(Flags& flags, Flag f) { flags.set(static_cast<std::size_t>(f)); }
inline bool has(const Flags& flags, Flag f) { return flags.test(static_cast<std::size_t>(f)); }

std::string_view short_name(Flag flag);  // "URX"
std::string_view long_name(Flag flag);   // "UpstreamRetryLimitExceeded"
std::optional<Flag> parse_flag(std::string_view short_name);
std::string to_string(const Flags& flags);  // "URX,UC", "-" for none

struct AttemptRecord {
  std::string_view host;  // "10.0.0.1:80"; empty if none was found
  Duration duration{};
  std::string_view outcome;  // "200", "reset", "connect_failure", "timeout", …
};

// How long an answer takes at least, with a margin: the deadline filter's knowledge, for whoever
// lets a request wait before it starts.
struct ExpectedCost {
  Duration at_rest{};
  Duration queued{};  // while requests wait for admission
};

struct AccessRecord {
  // The client has gone before its answer was complete.
  bool client_left() const {
    return has(flags, Flag::kDownstreamTermination) || has(flags, Flag::kDownstreamReset);
  }

  // The heads live at least as long as the record; null before they exist.
  const http::RequestHead* request = nullptr;
  const http::ResponseHead* response = nullptr;
  const http::Fields* response_trailers = nullptr;

  std::uint64_t stream_id = 0;      // counts in the process; also in log lines as s=
  std::uint64_t connection_id = 0;  // c=
  std::uint64_t upstream_connection_id = 0;
  std::string_view downstream_remote;  // "127.0.0.1:43210"
  std::string_view downstream_local;
  const net::Transport* downstream_transport = nullptr;  // knows of TLS; lives as the heads do
  std::string_view upstream_local;
  std::string_view listener;

  WallTime start_time{};
  TimePoint start{};
  TimePoint work_start{};                   // it has passed all filters; {}: it has not
  std::optional<TimePoint> request_end;     // the last byte of the request came
  std::optional<TimePoint> upstream_start;  // the first attempt was sent
  std::optional<TimePoint> response_start;  // the head of the final response came
  std::optional<TimePoint> end;

  int status = 0;
  bool health_check = false;
  bool key_made_here = false;  // the idempotency key is not the client's
  bool request_id_made_here = false;
  Flags flags;
  std::string_view details;  // Envoy's response code details; static text or owned by the stream
  std::uint64_t bytes_received = 0;  // of bodies
  std::uint64_t bytes_sent = 0;
  std::string_view route_name;
  std::string_view virtual_host;
  std::string_view cluster;
  std::string_view upstream_host;            // of the last attempt
  std::string_view upstream_failure_reason;  // of its transport
  std::string_view path_before_rewrite;      // x-envoy-original-path, if it was rewritten
  std::vector<AttemptRecord> attempts;
  std::string_view retry_verdict;  // why there was no further attempt; empty: none was wanted
  std::string_view retry_shadow_verdict;  // why a budget in shadow would have refused one
  std::string_view idempotency_key;
  std::string_view parent_key;  // of the inbound request that the call was made for
  std::optional<TimePoint> deadline;
  Duration min_attempt_time{-1};              // less is not worth a retry; below nothing: learned
  std::optional<ExpectedCost> expected_cost;  // none: whatever time is left is enough
};

// As the trailers or the head say it; else what the HTTP status stands for.
int grpc_status(const AccessRecord& record);

}  // namespace damper::stream
