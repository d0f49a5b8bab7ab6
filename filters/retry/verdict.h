// Why a request gets no further attempt. The word of a verdict is its label in statistics, in the
// access log and in x-damper-retry.
#pragma once
#include <cstdint>
#include <string_view>

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
  kBudgetConcurrency,  // the budget of the cluster, by the part that refused
  kBudgetWindow,
  kBudgetRate,
  kBudgetThrottle,
};

std::string_view word(Verdict verdict);  // "not_retriable"; empty for kNone

}  // namespace damper::retry
