#include "stats/scope.h"

#include <utility>

namespace damper::stats {

Scope Scope::sub(std::string_view part) const {
  return {*registry_, name(part), family(part), label_};
}

std::vector<Label> Scope::labels(std::vector<Label> further) const {
  further.insert(further.begin(), label_);
  return further;
}

Gauge Scope::gauge(std::string_view leaf) const {
  return registry_->gauge(name(leaf), family(leaf), labels({}));
}

Counter Scope::counter(std::string_view leaf, std::string_view in_family,
                       std::vector<Label> further) const {
  return registry_->counter(name(leaf), family(in_family), labels(std::move(further)));
}

Histogram Scope::histogram(std::string_view leaf, std::string_view in_family,
                           std::vector<Label> further) const {
  return registry_->histogram(name(leaf), family(in_family), labels(std::move(further)));
}

std::vector<Counter> Scope::counters(std::string_view in_family, std::string_view label,
                                     const std::vector<std::string_view>& words) const {
  std::vector<Counter> out;
  out.reserve(words.size());
  for (const auto word : words) {
    const std::string leaf = std::string(in_family).append(".").append(word);
    out.push_back(counter(leaf, in_family, {{std::string(label), std::string(word)}}));
  }
  return out;
}

ResponseCounters::ResponseCounters(Scope scope, std::string stem, PerCode per_code)
    : scope_(std::move(scope)),
      stem_(std::move(stem)),
      per_code_(per_code),
      completed_(scope_.counter(stem_ + "_completed")) {
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const std::string digit = std::to_string(i + 1);
    classes_[i] = scope_.counter(stem_ + "_" + digit + "xx", stem_ + "_xx",
                                 {{"envoy_response_code_class", digit}});
  }
}

void ResponseCounters::count(Cells& cells, int status) {
  cells.add(completed_);
  if (status < kLowest || status > kHighest) return;
  cells.add(of_class(status / 100));
  if (per_code_ == PerCode::kYes) cells.add(of_code(status));
}

// Two threads that see a code for the first time name it twice, which gives the same counter.
Counter ResponseCounters::of_code(int status) {
  auto& index = codes_[static_cast<std::size_t>(status - kLowest)];
  if (const std::uint32_t known = index.load(std::memory_order_acquire); known != 0) {
    return {known};
  }
  const std::string code = std::to_string(status);
  const Counter named = scope_.counter(stem_ + "_" + code, stem_, {{"envoy_response_code", code}});
  index.store(named.index, std::memory_order_release);
  return named;
}

}  // namespace damper::stats
