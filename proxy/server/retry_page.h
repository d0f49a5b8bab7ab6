// What /retry shows of each cluster: live override, budgets by priority, amplification, as a table
// or as JSON.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "server/amplification_window.h"
#include "server/live_overrides.h"

namespace damper::server {

class RetryPage {
 public:
  using Clusters = std::vector<std::shared_ptr<upstream::ClusterState>>;

  RetryPage(const LiveOverrides& overrides, const AmplificationWindow& amplification, TimePoint now)
      : overrides_(overrides), amplification_(amplification), now_(now) {}

  std::string text(const Clusters& clusters) const;  // a line for each cluster and priority
  std::string json(const Clusters& clusters) const;

 private:
  void append_line(std::string& out, upstream::ClusterState& cluster, std::size_t name_width,
                   config::Priority priority) const;
  void append_cluster(std::string& out, upstream::ClusterState& cluster) const;
  void append_budget(std::string& out, const upstream::BudgetLedger& budget) const;

  const LiveOverrides& overrides_;
  const AmplificationWindow& amplification_;
  const TimePoint now_;
};

}  // namespace damper::server
