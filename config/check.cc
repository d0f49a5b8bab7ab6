#include "config/check.h"

#include <cmath>

#include "base/text.h"
#include "config/values.h"

namespace damper::config {
namespace {

class Checks {
 public:
  Checks(const Bootstrap& bootstrap, Session& session) : bootstrap_(bootstrap), session_(session) {}

  void run() {
    cluster_references();
    if (!session_.diagnostics.ok())
      return;  // settings that were refused have their defaults: no ground for advice
    for (const auto& [policy, at] : session_.mentions.policies) retry_policy(policy, at);
    for (const RetryUse& use : session_.mentions.retries) fits_timeout(use);
    for (const auto& [thresholds, at] : session_.mentions.thresholds) budget(thresholds, at);
    for (const auto& [role, at] : session_.mentions.layers) layer(role, at);
  }

 private:
  void error(const Mention& at, std::string message, std::string hint = {}) {
    session_.diagnostics.error({at.place, at.path, std::move(message), std::move(hint)});
  }
  void warning(const Mention& at, std::string message, std::string hint = {}) {
    session_.diagnostics.warning({at.place, at.path, std::move(message), std::move(hint)});
  }
  void without_effect(const Mention& at, std::string message) {
    session_.diagnostics.without_effect({at.place, at.path, std::move(message), {}});
  }

  void cluster_references() {
    std::vector<std::string_view> names;
    for (const Cluster& c : bootstrap_.clusters) names.push_back(c.name);
    for (const auto& [name, at] : session_.mentions.cluster_names) {
      if (bootstrap_.find_cluster(name)) continue;
      const auto best = nearest(name, names);
      error(at, "unknown cluster \"" + name + "\"",
            best.empty() ? "" : "did you mean \"" + std::string(best) + "\"?");
    }
  }

  void retry_policy(const RetryPolicy& policy, const Mention& at) {
    const bool codes = policy.retry_on.has(RetryOn::kRetriableStatusCodes);
    const bool headers = policy.retry_on.has(RetryOn::kRetriableHeaders);
    if (policy.retry_on.empty())
      warning(at, "retry_on is empty: nothing is retried unless a request asks for it");
    if (!policy.retry_on.empty() && policy.num_retries == 0)
      warning(at, "num_retries is 0: nothing is retried");
    if (codes && policy.retriable_status_codes.empty())
      warning(at, "retriable-status-codes needs retriable_status_codes");
    if (headers && policy.retriable_headers.empty())
      warning(at, "retriable-headers needs retriable_headers");
    if (!codes && !policy.retriable_status_codes.empty()) {
      without_effect(
          at, "retriable_status_codes has no effect without retriable-status-codes in retry_on");
    }
    if (!headers && !policy.retriable_headers.empty()) {
      without_effect(at, "retriable_headers has no effect without retriable-headers in retry_on");
    }
    if (!policy.retry_non_idempotent_on.empty()) {
      warning(at,
              "retry_non_idempotent_on repeats requests that may have been carried out: a POST can "
              "happen twice");
    }
  }

  static bool retries(const RetryPolicy& p) { return !p.retry_on.empty() && p.num_retries > 0; }

  void fits_timeout(const RetryUse& use) {
    const RetryPolicy& p = use.policy;
    if (!retries(p)) return;
    if (p.per_try_timeout == Duration::zero()) {
      warning(use.at,
              "retries without per_try_timeout: one slow attempt can take the whole timeout");
      return;
    }
    if (use.timeout == Duration::zero()) return;
    if (p.per_try_timeout >= use.timeout) {
      warning(use.at, "per_try_timeout (" + to_text(p.per_try_timeout) +
                          ") is not shorter than the timeout (" + to_text(use.timeout) +
                          "): a slow attempt is never retried");
    } else if (const double needed = seconds_needed(p); needed > seconds(use.timeout)) {
      warning(use.at, std::to_string(p.num_retries + 1ULL) + " tries of " +
                          to_text(p.per_try_timeout) + " and their waits do not fit the timeout (" +
                          to_text(use.timeout) + ")");
    }
  }

  static double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

  // All tries in full, and waits as they are on average: half of what they may be.
  static double seconds_needed(const RetryPolicy& p) {
    double wait = seconds(p.back_off.base_interval);
    const double longest = seconds(p.back_off.cap());
    double needed = seconds(p.per_try_timeout) * (p.num_retries + 1.0);
    for (std::uint32_t i = 0; i < p.num_retries && wait < longest; ++i, wait *= 2)
      needed += wait / 2;
    return needed;
  }

  void budget(const Thresholds& thresholds, const Mention& at) {
    const auto& budget = thresholds.retry_budget;
    if (budget && budget->disabled) {
      warning(at, "the retry budget is disabled: nothing bounds how retries multiply the load");
    } else if (budget && budget->mode == RetryBudget::Mode::kShadow) {
      warning(at, "the retry budget is in shadow: it counts, and nothing bounds the retries",
              "to try out another one beside it write candidate: {…}");
    } else if ((budget && !budget->window) || (!budget && thresholds.max_retries)) {
      warning(at, "a retry budget without a window lets a quiet service retry every request",
              "add window: {}");
    }
  }

  void layer(LayerRole role, const Mention& at) {
    if (role == LayerRole::kEvery) {
      warning(at, "role every neither sends nor heeds marks: retries of several layers multiply");
    }
  }

  const Bootstrap& bootstrap_;
  Session& session_;
};

}  // namespace

void check(const Bootstrap& bootstrap, Session& session) { Checks(bootstrap, session).run(); }

}  // namespace damper::config
