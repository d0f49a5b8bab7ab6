#include "config/load/budget.h"

#include <cmath>

#include "config/model/common.h"
#include "config/session.h"

namespace damper::config {
namespace {

// A shorter interval would be a timer that never rests, and no budget.
constexpr Duration kShortestInterval = 10ms;

// 0.1, "10%", { value: 10 }. Decimal fractions stay exact: 0.29 is 29 percent, not a little less.
void read_ratio(const Cursor& c, double& percent) {
  if (!c) return;
  const bool plain = c.is_scalar() && c.value()->text.find('%') == std::string::npos;
  if (!plain) {
    c.get_percent(percent);
    return;
  }
  const auto ratio = parse_decimal(c.value()->text);
  if (!ratio) return c.expected("a ratio such as 0.1 or 10%");
  if (*ratio < 0 || *ratio > 1) {
    return c.error(c.value()->text + " is out of range",
                   "0 to 1, or with a percent sign 0% to 100%");
  }
  percent = std::round(*ratio * 1e11) / 1e9;
}

BudgetWindow read_window(Cursor c) {
  BudgetWindow out;
  c.read("interval", out.interval, kShortestInterval);
  read_ratio(c.at("ratio"), out.ratio_percent);
  c.read("min_retries", out.min_retries);
  using Credit = BudgetWindow::Credit;
  c.read_word<Credit>("credit", out.credit,
                      {{"successes", Credit::kSuccesses}, {"requests", Credit::kRequests}});
  c.read("timeout_cost", out.timeout_cost);
  c.read("unprocessed_cost", out.unprocessed_cost);
  c.no_other_keys("BudgetWindow");
  return out;
}

BudgetThrottle read_throttle(Cursor c) {
  BudgetThrottle out;
  constexpr std::uint32_t kMost = 1000;  // gRFC A6
  c.read("max_tokens", out.max_tokens, Range<std::uint32_t>{.least = 1, .most = kMost});
  if (const Cursor ratio = c.at("token_ratio")) {
    const auto told = ratio.is_scalar() ? parse_decimal(ratio.value()->text) : std::nullopt;
    if (!told || *told < 0.001 || *told > kMost) {
      ratio.expected("tokens per success, 0.001 to 1000");
    } else {
      out.token_ratio = *told;
    }
  }
  c.no_other_keys("BudgetThrottle");
  return out;
}

// Envoy's windowed form: its users asked for a ratio of requests, and get one.
BudgetWindow window_over(Duration interval, const BudgetConcurrency& envoy) {
  BudgetWindow out;
  out.interval = interval;
  out.ratio_percent = envoy.percent;
  out.min_retries = envoy.min_retry_concurrency;
  out.credit = BudgetWindow::Credit::kRequests;
  return out;
}

// The parts of a budget that refuse, and for whom.
void read_budget_parts(Cursor& c, RetryBudget& out) {
  BudgetConcurrency concurrency;
  c.read_percent("budget_percent", concurrency.percent);
  c.read("min_retry_concurrency", concurrency.min_retry_concurrency);
  if (const Cursor window = c.object("window")) out.window = read_window(window);
  c.read("max_retries_per_second", out.max_retries_per_second);
  if (const Cursor throttle = c.object("throttle")) out.throttle = read_throttle(throttle);
  Duration interval{};
  c.read("budget_interval", interval);
  using Scope = RetryBudget::Scope;
  c.read_word<Scope>(
      "scope", out.scope,
      {{"cluster", Scope::kCluster}, {"route", Scope::kRoute}, {"operation", Scope::kOperation}});

  const bool other_part = out.has_parts();
  const bool written = c.has("budget_percent") || c.has("min_retry_concurrency");
  if (interval > Duration::zero()) {
    const Cursor where = c.at("budget_interval");
    if (interval < kShortestInterval) where.error("must be at least " + to_text(kShortestInterval));
    if (out.window)
      where.error("budget_interval and window are two ways to write the same part",
                  "write only window");
    out.window = window_over(interval, concurrency);
  } else if (!out.disabled && (written || !other_part)) {
    out.concurrency = concurrency;
  }
}

void read_thresholds(Cursor& c, Thresholds& out) {
  c.read("max_connections", out.max_connections);
  c.read("max_pending_requests", out.max_pending_requests);
  c.read("max_requests", out.max_requests);
  c.read("max_retries", out.max_retries);
  c.read("track_remaining", out.track_remaining);
  if (const Cursor budget = c.object("retry_budget")) out.retry_budget = read_retry_budget(budget);
  if (out.retry_budget && out.max_retries)
    c.at("max_retries").without_effect("max_retries has no effect beside a retry_budget");
  c.no_other_keys("Thresholds");
}

}  // namespace

RetryBudget read_retry_budget(Cursor c) {
  RetryBudget out;
  c.read("disabled", out.disabled);
  read_budget_parts(c, out);
  using Mode = RetryBudget::Mode;
  c.read_word<Mode>("mode", out.mode, {{"enforce", Mode::kEnforce}, {"shadow", Mode::kShadow}});
  if (Cursor candidate = c.object("candidate")) {
    read_budget_parts(candidate, out.candidate.emplace_back());
    candidate.no_other_keys("RetryBudgetCandidate");
    if (out.mode == Mode::kShadow) {
      candidate.error("one budget at a time can be in shadow", "remove mode: shadow, or candidate");
    }
  }
  c.no_other_keys("RetryBudget");
  return out;
}

void read_circuit_breakers(Cursor c, Cluster& out) {
  if (!c) return;
  bool written[2] = {};
  for (Cursor item : c.list("thresholds")) {
    if (!item.is_mapping_or_error()) continue;
    auto priority = Priority::kDefault;
    item.read_word<Priority>("priority", priority,
                             {{"DEFAULT", Priority::kDefault}, {"HIGH", Priority::kHigh}});
    Thresholds thresholds;
    read_thresholds(item, thresholds);
    bool& taken = written[static_cast<std::size_t>(priority)];
    if (taken) {
      item.warning("a second entry of this priority: the first one holds");
      continue;
    }
    taken = true;
    item.session().mentions.thresholds.push_back({thresholds, {item.place(), item.path()}});
    (priority == Priority::kDefault ? out.thresholds : out.thresholds_high.emplace()) =
        std::move(thresholds);
  }
  c.no_other_keys("CircuitBreakers");
}

}  // namespace damper::config
