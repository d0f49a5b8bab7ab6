// Why a request gets no further attempt. The word of a verdict is its label in statistics, in the
// access log and in x-damper-retry.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "upstream/budget_ledger.h"

namespace damper::retry {

// In the order in which they are asked: the first that holds is the verdict.
enum class Verdict : std::uint8_t {
  kNone,               // nothing was refused: no policy, or no failure
  kResponseStarted,    // the final head has gone downstream
  kNotRetriable,       // retry_on does not match the outcome
  kMarked,             // another layer has said "do not retry"
  kNotIdempotent,      // it may have been processed, and must not be twice
  kBodyLost,           // the replay copy of the body was given up
  kLimit,              // num_retries are spent
  kDeadline,           // the wait and another attempt do not fit into the time left
  kLiveOff,            // switched off by a live override
  kBreakerOpen,        // the failure-rate breaker of the cluster is not closed
  kBudgetConcurrency,  // the budget of the cluster, by the part that refused
  kBudgetWindow,
  kBudgetRate,
  kBudgetThrottle,
};

std::string_view word(Verdict verdict);  // "not_retriable"; empty for kNone
bool is_budget(Verdict verdict);
Verdict budget_verdict(upstream::BudgetPart part);

// For statistics: the words of all verdicts but kNone, and a verdict's place among them.
std::vector<std::string_view> verdict_words();
inline std::size_t index_of(Verdict verdict) { return static_cast<std::size_t>(verdict) - 1; }

// What a retry followed, coarse enough to count: "connect_failure", "reset", "timeout", "503",
// "5xx", …
std::vector<std::string_view> cause_words();
std::size_t cause_index(std::string_view outcome_word);

}  // namespace damper::retry
