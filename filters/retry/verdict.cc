#include "filters/retry/verdict.h"

#include <algorithm>
#include <array>

namespace damper::retry {
namespace {

constexpr std::array<std::string_view, 20> kCauses = {"connect_failure",
                                                      "connect_timeout",
                                                      "reset",
                                                      "refused_stream",
                                                      "timeout",
                                                      "idle_timeout",
                                                      "protocol_error",
                                                      "429",
                                                      "502",
                                                      "503",
                                                      "504",
                                                      "5xx",
                                                      "4xx",
                                                      "grpc_cancelled",
                                                      "grpc_deadline_exceeded",
                                                      "grpc_internal",
                                                      "grpc_resource_exhausted",
                                                      "grpc_unavailable",
                                                      "hedge",
                                                      "other"};

std::size_t place_of(std::string_view cause) {
  return static_cast<std::size_t>(std::find(kCauses.begin(), kCauses.end(), cause) -
                                  kCauses.begin());
}

}  // namespace

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
    case Verdict::kBreakerOpen: return "breaker_open";
    case Verdict::kBudgetConcurrency: return "budget_concurrency";
    case Verdict::kBudgetWindow: return "budget_window";
    case Verdict::kBudgetRate: return "budget_rate";
    case Verdict::kBudgetThrottle: return "budget_throttle";
  }
  return "";
}

Verdict budget_verdict(upstream::BudgetPart part) {
  switch (part) {
    case upstream::BudgetPart::kConcurrency: return Verdict::kBudgetConcurrency;
    case upstream::BudgetPart::kWindow: return Verdict::kBudgetWindow;
    case upstream::BudgetPart::kRate: return Verdict::kBudgetRate;
    case upstream::BudgetPart::kThrottle: return Verdict::kBudgetThrottle;
  }
  return Verdict::kNone;
}

bool is_budget(Verdict verdict) { return verdict >= Verdict::kBudgetConcurrency; }

std::vector<std::string_view> verdict_words() {
  std::vector<std::string_view> words;
  for (auto v = Verdict::kResponseStarted; v <= Verdict::kBudgetThrottle;
       v = static_cast<Verdict>(static_cast<int>(v) + 1)) {
    words.push_back(word(v));
  }
  return words;
}

std::vector<std::string_view> cause_words() { return {kCauses.begin(), kCauses.end()}; }

std::size_t cause_index(std::string_view outcome_word) {
  if (const std::size_t exact = place_of(outcome_word); exact < kCauses.size()) return exact;
  if (outcome_word.starts_with('5')) return place_of("5xx");
  if (outcome_word.starts_with('4')) return place_of("4xx");
  return place_of("other");
}

}  // namespace damper::retry
