#include "filters/retry/verdict.h"

namespace damper::retry {

std::string_view word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNone: return "";
    case Verdict::kResponseStarted: return "response_started";
    case Verdict::kNotRetriable: return "not_retriable";
    case Verdict::kMarked: return "marked";
    case Verdict::kNotIdempotent: return "not_idempotent";
    case Verdict::kBodyLost: return "body_lost";
    case Verdict::kLimit: return "limit";
    case Verdict::kDeadline: return "deadline";
    case Verdict::kLiveOff: return "live_off";
    case Verdict::kBudgetConcurrency: return "budget_concurrency";
    case Verdict::kBudgetWindow: return "budget_window";
    case Verdict::kBudgetRate: return "budget_rate";
    case Verdict::kBudgetThrottle: return "budget_throttle";
  }
  return "";
}

}  // namespace damper::retry
