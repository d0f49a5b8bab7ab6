#include "server/live_overrides.h"

#include <algorithm>

#include "base/log.h"
#include "config/values.h"

namespace damper::server {
namespace {

using upstream::LiveMode;

constexpr LiveMode kModes[] = {LiveMode::kNormal, LiveMode::kConnectFailureOnly, LiveMode::kOff};
constexpr std::string_view kParameters[] = {"mode", "for", "ratio", "format"};

Error bad(std::string_view name, std::string_view value, std::string_view allowed) {
  return {Errc::kInvalid, Side::kLocal,
          std::string(name) + "=" + std::string(value) + ": " + std::string(allowed)};
}

std::optional<LiveMode> parse_mode(std::string_view text) {
  const auto at = std::find_if(std::begin(kModes), std::end(kModes),
                               [text](LiveMode mode) { return word(mode) == text; });
  return at == std::end(kModes) ? std::nullopt : std::optional(*at);
}

// "5%", or 0.05 as in the file.
std::optional<double> parse_ratio(std::string_view text) {
  const bool percent = text.ends_with('%');
  const auto number = config::parse_decimal(percent ? text.substr(0, text.size() - 1) : text);
  if (!number) return std::nullopt;
  const double in_percent = percent ? *number : *number * 100;
  if (in_percent < 0 || in_percent > 100) return std::nullopt;
  return in_percent;
}

std::string text_of(const LiveOverride& said) {
  std::string out = "mode=" + std::string(word(said.mode));
  if (said.ratio_percent) out += " ratio_percent=" + std::to_string(*said.ratio_percent);
  if (said.hold) out += " for=" + config::to_text(*said.hold);
  return out;
}

}  // namespace

std::string_view word(LiveMode mode) {
  switch (mode) {
    case LiveMode::kNormal: return "normal";
    case LiveMode::kConnectFailureOnly: return "connect_failure_only";
    case LiveMode::kOff: return "off";
  }
  return "";
}

Result<LiveOverride> parse_live_override(const AdminQuery& query) {
  for (const auto& [name, value] : query.parameters) {
    if (std::find(std::begin(kParameters), std::end(kParameters), name) != std::end(kParameters)) {
      continue;
    }
    return bad(name, value, "unknown; the parameters are mode, for and ratio");
  }
  LiveOverride out;
  if (!query.has("mode")) {
    return Error{Errc::kInvalid, Side::kLocal,
                 "mode is missing: normal, connect_failure_only or off; ratio and for may follow"};
  }
  const auto mode_text = query.get("mode");
  const auto mode = parse_mode(mode_text);
  if (!mode) return bad("mode", mode_text, "allowed are normal, connect_failure_only and off");
  out.mode = *mode;
  if (const auto text = query.get("for"); query.has("for")) {
    out.hold = config::parse_duration(text);
    if (!out.hold || *out.hold <= Duration::zero()) {
      return bad("for", text, "allowed is a duration above 0, such as 30s, 10m or 2h");
    }
  }
  if (const auto text = query.get("ratio"); query.has("ratio")) {
    out.ratio_percent = parse_ratio(text);
    if (!out.ratio_percent) return bad("ratio", text, "allowed is 0% to 100%, or 0 to 1");
  }
  return out;
}

void LiveOverrides::set(std::shared_ptr<upstream::ClusterState> cluster, const LiveOverride& said) {
  const std::string& name = cluster->name;
  apply(*cluster, said);
  log::info("live_override cluster={} {}", name, text_of(said));
  InForce now{.said = said, .since = scheduler_.now(), .end = nullptr};
  if (said.hold) {
    now.end = scheduler_.timer([this, cluster] {
      apply(*cluster, {});
      log::info("live_override_ended cluster={}", cluster->name);
      by_cluster_[cluster->name].said = {};
    });
    now.end->arm(*said.hold);
  }
  by_cluster_.insert_or_assign(name, std::move(now));
}

void LiveOverrides::apply(upstream::ClusterState& cluster, const LiveOverride& said) {
  cells_.add(cluster.stats.retry.live_override_changes);
  cluster.live_mode.store(said.mode, std::memory_order_relaxed);
  for (const auto priority : {config::Priority::kDefault, config::Priority::kHigh}) {
    cluster.budget(priority).override_ratio(said.ratio_percent);
  }
}

LiveOverride LiveOverrides::of(const std::string& cluster) const {
  const auto at = by_cluster_.find(cluster);
  if (at == by_cluster_.end()) return {};
  LiveOverride out = at->second.said;
  if (out.hold) out.hold = std::max(at->second.since + *out.hold - scheduler_.now(), Duration(0));
  return out;
}

}  // namespace damper::server
