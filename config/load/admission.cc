#include "config/load/admission.h"

#include "config/load/common.h"

namespace damper::config {
namespace {

constexpr Range<std::uint32_t> kAtLeastOne{.least = 1};

AdaptiveLimit read_adaptive(Cursor c) {
  AdaptiveLimit out;
  c.read("initial", out.initial, kAtLeastOne);
  c.read("min", out.min, kAtLeastOne);
  c.read("max", out.max, kAtLeastOne);
  c.read("window", out.window, kPositive);
  c.read("percentile", out.percentile, Range<std::uint32_t>{.least = 1, .most = 99});
  c.read_percent("tolerance", out.tolerance_percent);
  c.read("remeasure_interval", out.remeasure_interval, kPositive);
  c.no_other_keys("AdaptiveLimit");
  if (out.min > out.initial || out.initial > out.max) {
    c.error("min, initial and max do not rise", "they are " + std::to_string(out.min) + ", " +
                                                    std::to_string(out.initial) + " and " +
                                                    std::to_string(out.max));
  }
  return out;
}

// 64, adaptive, or { adaptive: { … } }.
void read_max_concurrency(Cursor c, AdmissionFilter& out) {
  if (!c) return;
  if (c.is_mapping()) {
    if (!c.has("adaptive")) c.missing("adaptive");
    if (const Cursor adaptive = c.object("adaptive")) {
      out.max_concurrency = read_adaptive(adaptive);
    }
    c.no_other_keys("max_concurrency");
  } else if (c.is_scalar() && c.value()->text == "adaptive") {
    out.max_concurrency = AdaptiveLimit{};
  } else if (c.is_scalar() && !parse_integer(c.value()->text)) {
    c.expected("a whole number or \"adaptive\"");
  } else {
    std::uint32_t most = 0;
    if (c.get(most, kAtLeastOne)) out.max_concurrency = most;
  }
}

}  // namespace

FilterSettings read_admission(Cursor& c) {
  AdmissionFilter out;
  if (!c.has("max_concurrency")) c.missing("max_concurrency");
  read_max_concurrency(c.at("max_concurrency"), out);
  c.read("max_queue", out.max_queue);
  c.read("max_wait", out.max_wait, kPositive);
  read_filter_mode(c, out.mode);
  c.no_other_keys("Admission");
  return out;
}

}  // namespace damper::config
