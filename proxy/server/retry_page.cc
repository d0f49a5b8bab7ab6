#include "server/retry_page.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/json.h"

namespace damper::server {
namespace {

using config::Priority;

constexpr std::pair<std::string_view, Priority> kPriorities[] = {{"default", Priority::kDefault},
                                                                 {"high", Priority::kHigh}};

std::int64_t seconds_of(Duration d) { return std::chrono::ceil<std::chrono::seconds>(d).count(); }

}  // namespace

std::string RetryPage::text(const Clusters& clusters) const {
  std::size_t width = std::string_view("cluster").size();
  for (const auto& cluster : clusters) width = std::max(width, cluster->name.size());
  std::string out;
  fmt::format_to(std::back_inserter(out),
                 "{:<{}}  priority  mode                  left_s  ratio  originals  retries  "
                 "charged  credits  amplification\n",
                 "cluster", width);
  for (const auto& cluster : clusters) {
    for (const auto& [word, priority] : kPriorities) append_line(out, *cluster, width, priority);
  }
  return out;
}

void RetryPage::append_line(std::string& out, upstream::ClusterState& cluster,
                            std::size_t name_width, Priority priority) const {
  const LiveOverride live = overrides_.of(cluster.name);
  const upstream::BudgetLedger& budget = cluster.budget(priority).live();
  fmt::format_to(std::back_inserter(out),
                 "{:<{}}  {:<8}  {:<20}  {:>6}  {:>5}  {:>9}  {:>7}  {:>7}  {:>7}  {:>13.2f}\n",
                 cluster.name, name_width, kPriorities[static_cast<std::size_t>(priority)].first,
                 word(live.mode), live.hold ? std::to_string(seconds_of(*live.hold)) : "-",
                 live.ratio_percent ? fmt::format("{}%", *live.ratio_percent) : "-",
                 budget.active_originals(), budget.active_retries(), budget.charged(now_),
                 budget.credits(now_), amplification_.of(cluster.name, cluster.stats.retry));
}

std::string RetryPage::json(const Clusters& clusters) const {
  std::string out = "{\"clusters\":[";
  for (const auto& cluster : clusters) {
    if (cluster != clusters.front()) out += ',';
    append_cluster(out, *cluster);
  }
  return out + "]}\n";
}

void RetryPage::append_cluster(std::string& out, upstream::ClusterState& cluster) const {
  const LiveOverride live = overrides_.of(cluster.name);
  out += "{\"name\":";
  append_json_string(out, cluster.name);
  fmt::format_to(
      std::back_inserter(out),
      ",\"mode\":\"{}\",\"seconds_left\":{},\"ratio_percent\":{},\"amplification\":{:.3f}",
      word(live.mode), live.hold ? std::to_string(seconds_of(*live.hold)) : "null",
      live.ratio_percent ? fmt::format("{}", *live.ratio_percent) : "null",
      amplification_.of(cluster.name, cluster.stats.retry));
  out += ",\"budgets\":{";
  for (const auto& [word, priority] : kPriorities) {
    fmt::format_to(std::back_inserter(out), "{}\"{}\":", priority == Priority::kHigh ? "," : "",
                   word);
    append_budget(out, cluster.budget(priority).live());
  }
  out += "}}";
}

void RetryPage::append_budget(std::string& out, const upstream::BudgetLedger& budget) const {
  fmt::format_to(std::back_inserter(out),
                 "{{\"active_originals\":{},\"active_retries\":{},\"charged\":{},\"credits\":{},"
                 "\"would_refuse\":{}}}",
                 budget.active_originals(), budget.active_retries(), budget.charged(now_),
                 budget.credits(now_), budget.would_refuse(now_));
}

}  // namespace damper::server
