// Names the statistics of one thing (a listener, a cluster): what their names, families and labels
// have in common is said once.
#pragma once
#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "stats/stats.h"

namespace damper::stats {

class Scope {
 public:
  // "cluster.orders." and "cluster." with the label that says "orders".
  Scope(Registry& registry, std::string name_prefix, std::string family_prefix, Label label)
      : registry_(&registry),
        name_prefix_(std::move(name_prefix)),
        family_prefix_(std::move(family_prefix)),
        label_(std::move(label)) {}

  Scope sub(std::string_view part) const;  // "circuit_breakers.default."

  Counter counter(std::string_view leaf) const { return counter(leaf, leaf, {}); }
  Gauge gauge(std::string_view leaf) const;
  Histogram histogram(std::string_view leaf) const { return histogram(leaf, leaf, {}); }
  // Where a further label tells the members of a family apart: leaf "upstream_rq_503" of the family
  // "upstream_rq" with envoy_response_code="503".
  Counter counter(std::string_view leaf, std::string_view family, std::vector<Label> further) const;
  Histogram histogram(std::string_view leaf, std::string_view family,
                      std::vector<Label> further) const;

  // One counter a word, in the order of the words: "retry_refused.limit", label verdict="limit".
  std::vector<Counter> counters(std::string_view family, std::string_view label,
                                const std::vector<std::string_view>& words) const;

 private:
  std::string name(std::string_view leaf) const { return name_prefix_ + std::string(leaf); }
  std::string family(std::string_view leaf) const { return family_prefix_ + std::string(leaf); }
  std::vector<Label> labels(std::vector<Label> further) const;

  Registry* registry_;
  std::string name_prefix_;
  std::string family_prefix_;
  Label label_;
};

// Responses by status: "<stem>_completed", "_1xx" … "_5xx" and, if asked for, one counter a code,
// which is named when the code is first seen. Threads may share it.
class ResponseCounters {
 public:
  enum class PerCode { kNo, kYes };
  ResponseCounters(Scope scope, std::string stem, PerCode per_code);

  // A final response, or a 101; a status outside 100–599 counts as completed only.
  void count(Cells& cells, int status);

  Counter completed() const { return completed_; }
  Counter of_class(int hundreds) const { return classes_[static_cast<std::size_t>(hundreds - 1)]; }

 private:
  static constexpr int kLowest = 100, kHighest = 599;

  Counter of_code(int status);

  Scope scope_;
  std::string stem_;
  PerCode per_code_;
  Counter completed_;
  std::array<Counter, 5> classes_;
  std::array<std::atomic<std::uint32_t>, kHighest - kLowest + 1> codes_{};  // 0: not named yet
};

}  // namespace damper::stats
