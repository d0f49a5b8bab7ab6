#include "config/load/filters.h"

#include <gtest/gtest.h>

#include "tests/support/config_text.h"

namespace damper::config {
namespace {

TEST(Routes, OverrideFilters) {
  const Route route = load_route(
      R"({ match: { prefix: / }, direct_response: { status: 200 }, typed_per_filter_config: {
    fault: { "@type": type.googleapis.com/envoy.config.route.v3.FilterConfig, disabled: true },
    small: { "@type": type.googleapis.com/envoy.extensions.filters.http.buffer.v3.BufferPerRoute, buffer: { max_request_bytes: 5 } } } })");
  ASSERT_EQ(route.filter_overrides.size(), 2u);
  EXPECT_EQ(route.filter_overrides[0],
            (FilterOverride{.name = "fault", .disabled = true, .settings = std::nullopt}));
  EXPECT_EQ(route.filter_overrides[1],
            (FilterOverride{.name = "small", .disabled = false, .settings = BufferFilter{5}}));
}

TEST(FaultFilter, AbortsWithAStatusOfHttpOrOfGrpc) {
  const auto read = [](const std::string& abort) {
    const Listener listener = load_listener("filters: [ fault: { abort: " + abort + " } ]");
    return std::get<FaultFilter>(listener.http.filters.back().settings);
  };
  EXPECT_EQ(read("{ http_status: 429, percentage: 5 }").abort_grpc_status, std::nullopt);
  EXPECT_EQ(read("{ grpc_status: 14, percentage: 5 }").abort_grpc_status, 14);
}

TEST(HeaderMutationFilter, ARemovalUndoesAnEarlierAddition) {
  const Listener listener = load_listener(R"(http_filters:
  - name: h
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation
      mutations: { request_mutations: [ { append: { header: { key: a, value: "1" } } }, { remove: A }, { append: { header: { key: a, value: "2" } } } ] })");
  const auto& mutations = std::get<HeadersFilter>(listener.http.filters.at(0).settings).mutations;
  ASSERT_EQ(mutations.request_add.size(), 1u);
  EXPECT_EQ(mutations.request_add[0].value, "2");
  EXPECT_EQ(mutations.request_remove, std::vector<std::string>{"a"});
}

TEST(IdempotencyFilter, ReadsWhatIsWritten) {
  const auto read = [](const std::string& filter) {
    const Listener listener = load_listener(filter);
    return std::get<IdempotencyFilter>(listener.http.filters.back().settings);
  };
  EXPECT_EQ(read("filters: [ idempotency ]"), IdempotencyFilter{});
  EXPECT_EQ(read("filters: [ idempotency: { generate: true, header: X-Once } ]"),
            (IdempotencyFilter{.generate = true, .header = "x-once"}));
  EXPECT_EQ(read(R"(http_filters:
  - name: keys
    typed_config:
      "@type": type.googleapis.com/damper.filters.idempotency.v1.Idempotency
      generate: true)"),
            (IdempotencyFilter{.generate = true}));
}

}  // namespace
}  // namespace damper::config
