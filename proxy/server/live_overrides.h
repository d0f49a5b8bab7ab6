// What operators have said about the retries of clusters while the process runs (semantics.md §12):
// sets it, remembers until when it holds, and takes it back. Each change is logged and counted.
// Main thread only.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "event/scheduler.h"
#include "server/admin_query.h"
#include "upstream/cluster_state.h"

namespace damper::server {

struct LiveOverride {
  upstream::LiveMode mode = upstream::LiveMode::kNormal;
  std::optional<double> ratio_percent;  // of the budget's window, in place of the file's
  std::optional<Duration> hold;         // then the file holds again; none: until the next word
  bool operator==(const LiveOverride&) const = default;
};

std::string_view word(upstream::LiveMode mode);  // "connect_failure_only"

// "mode=off&for=10m&ratio=5%", each part optional, but not all. The Error says what is allowed.
Result<LiveOverride> parse_live_override(const AdminQuery& query);

class LiveOverrides {
 public:
  LiveOverrides(event::Scheduler& scheduler, stats::Cells& cells)
      : scheduler_(scheduler), cells_(cells) {}

  void set(std::shared_ptr<upstream::ClusterState> cluster, const LiveOverride& said);

  // What holds now; `hold` is what is left of it.
  LiveOverride of(const std::string& cluster) const;

 private:
  struct InForce {
    LiveOverride said;
    TimePoint since;
    std::unique_ptr<event::Timer> end;
  };
  void apply(upstream::ClusterState& cluster, const LiveOverride& said);

  event::Scheduler& scheduler_;
  stats::Cells& cells_;
  std::map<std::string, InForce> by_cluster_;
};

}  // namespace damper::server
