#include "config/load/admission.h"

#include <gtest/gtest.h>

#include "tests/support/config_text.h"

namespace damper::config {
namespace {

AdmissionFilter load_admission(const std::string& fields) {
  const Listener listener = load_listener("filters: [ admission: { " + fields + " } ]");
  return std::get<AdmissionFilter>(listener.http.filters.back().settings);
}

TEST(AdmissionFilter, HasItsDefaults) {
  const AdmissionFilter filter = load_admission("max_concurrency: 64");
  EXPECT_EQ(std::get<std::uint32_t>(filter.max_concurrency), 64u);
  EXPECT_EQ(filter.max_queue, std::nullopt);
  EXPECT_EQ(filter.max_wait, 1s);
  EXPECT_EQ(filter.mode, FilterMode::kEnforce);
}

TEST(AdmissionFilter, HasAllThatIsWritten) {
  const AdmissionFilter filter =
      load_admission("max_concurrency: 1, max_queue: 0, max_wait: 250ms, mode: shadow");
  EXPECT_EQ(filter.max_queue, 0u);
  EXPECT_EQ(filter.max_wait, 250ms);
  EXPECT_EQ(filter.mode, FilterMode::kShadow);
}

TEST(AdmissionFilter, MayBeAdaptive) {
  const auto limit = [](const std::string& fields) {
    return std::get<AdaptiveLimit>(load_admission("max_concurrency: " + fields).max_concurrency);
  };
  EXPECT_EQ(limit("adaptive"), AdaptiveLimit{});
  EXPECT_EQ(limit("{ adaptive: {} }"), AdaptiveLimit{});
  EXPECT_EQ(limit("{ adaptive: { initial: 5, min: 2, max: 9, window: 1s, percentile: 90, "
                  "tolerance: 10%, remeasure_interval: 1m } }"),
            (AdaptiveLimit{.initial = 5,
                           .min = 2,
                           .max = 9,
                           .window = 1s,
                           .percentile = 90,
                           .tolerance_percent = 10,
                           .remeasure_interval = 60s}));
}

TEST(AdmissionFilter, HasATypeForBootstraps) {
  const Listener listener = load_listener(R"(http_filters:
  - name: a
    typed_config: { "@type": type.googleapis.com/damper.filters.admission.v1.Admission, maxConcurrency: 3 }
  - name: envoy.filters.http.router)");
  const auto& filter = std::get<AdmissionFilter>(listener.http.filters.back().settings);
  EXPECT_EQ(std::get<std::uint32_t>(filter.max_concurrency), 3u);
}

}  // namespace
}  // namespace damper::config
