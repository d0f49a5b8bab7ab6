#include "filters/router/retry_matchers.h"

#include <gtest/gtest.h>

namespace damper::router {
namespace {

TEST(RetryMatchers, AreCompiledForClustersWithAPolicy) {
  std::vector<config::Cluster> clusters(2);
  clusters[1].retry_policy.emplace();
  clusters[1].retry_policy->retriable_headers = {{.name = "x-a"}, {.name = "x-b"}};
  clusters[1].retry_policy->retriable_request_headers = {{.name = "x-c"}};
  const auto matchers = compile_cluster_matchers(clusters);
  ASSERT_TRUE(matchers);
  ASSERT_EQ(matchers->size(), 1u);
  EXPECT_EQ(matchers->at(&clusters[1]).response.size(), 2u);
  EXPECT_EQ(matchers->at(&clusters[1]).request.size(), 1u);
}

TEST(RetryMatchers, AreRefusedIfAPatternIsNone) {
  std::vector<config::Cluster> clusters(1);
  clusters[0].retry_policy.emplace();
  clusters[0].retry_policy->retriable_headers = {
      {.name = "x-a",
       .value = config::StringMatch{.kind = config::StringMatch::Kind::kRegex, .text = "("}}};
  EXPECT_FALSE(compile_cluster_matchers(clusters));
}

}  // namespace
}  // namespace damper::router
