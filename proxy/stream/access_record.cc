#include "stream/access_record.h"

#include <array>

#include "http/grpc_status.h"

namespace damper::stream {
namespace {

struct FlagName {
  Flag flag;
  std::string_view short_name;
  std::string_view long_name;
};

constexpr std::array kNames = {
    FlagName{Flag::kRetryLimit, "URX", "UpstreamRetryLimitExceeded"},
    FlagName{Flag::kNoHealthyHost, "UH", "NoHealthyUpstream"},
    FlagName{Flag::kUpstreamFailure, "UF", "UpstreamConnectionFailure"},
    FlagName{Flag::kUpstreamOverflow, "UO", "UpstreamOverflow"},
    FlagName{Flag::kNoRoute, "NR", "NoRouteFound"},
    FlagName{Flag::kNoCluster, "NC", "NoClusterFound"},
    FlagName{Flag::kUpstreamTimeout, "UT", "UpstreamRequestTimeout"},
    FlagName{Flag::kUpstreamReset, "UR", "UpstreamRemoteReset"},
    FlagName{Flag::kUpstreamTermination, "UC", "UpstreamConnectionTermination"},
    FlagName{Flag::kUpstreamProtocol, "UPE", "UpstreamProtocolError"},
    FlagName{Flag::kDelayInjected, "DI", "DelayInjected"},
    FlagName{Flag::kFaultInjected, "FI", "FaultInjected"},
    FlagName{Flag::kRateLimited, "RL", "RateLimited"},
    FlagName{Flag::kDownstreamTermination, "DC", "DownstreamConnectionTermination"},
    FlagName{Flag::kDownstreamReset, "DR", "DownstreamRemoteReset"},
    FlagName{Flag::kDownstreamProtocol, "DPE", "DownstreamProtocolError"},
    FlagName{Flag::kInvalidEnvoyHeaders, "IH", "InvalidEnvoyRequestHeaders"},
    FlagName{Flag::kStreamIdleTimeout, "SI", "StreamIdleTimeout"},
    FlagName{Flag::kMaxDuration, "UMSDR", "UpstreamMaxStreamDurationReached"},
    FlagName{Flag::kDurationTimeout, "DT", "DurationTimeout"},
    FlagName{Flag::kOverload, "OM", "OverloadManagerTerminated"},
    FlagName{Flag::kLocalReset, "LR", "LocalReset"},
};
static_assert(kNames.size() == static_cast<std::size_t>(Flag::kCount));

constexpr bool in_order() {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (static_cast<std::size_t>(kNames[i].flag) != i) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

std::string_view short_name(Flag flag) { return kNames[static_cast<std::size_t>(flag)].short_name; }

std::string_view long_name(Flag flag) { return kNames[static_cast<std::size_t>(flag)].long_name; }

std::optional<Flag> parse_flag(std::string_view text) {
  for (const FlagName& n : kNames) {
    if (n.short_name == text) return n.flag;
  }
  return std::nullopt;
}

std::string to_string(const Flags& flags) {
  std::string out;
  for (const FlagName& n : kNames) {
    if (!has(flags, n.flag)) continue;
    if (!out.empty()) out.push_back(',');
    out.append(n.short_name);
  }
  return out.empty() ? "-" : out;
}

int grpc_status(const AccessRecord& r) {
  std::optional<int> status;
  if (r.response_trailers) status = http::grpc_status(*r.response_trailers);
  if (!status && r.response) status = http::grpc_status(r.response->fields);
  return status.value_or(http::grpc_status_for(r.status));
}

}  // namespace damper::stream
