#include "filters/router/retry_matchers.h"

#include <utility>

namespace damper::router {

Result<ClusterMatchers> compile_cluster_matchers(const std::vector<config::Cluster>& clusters) {
  ClusterMatchers out;
  for (const config::Cluster& cluster : clusters) {
    if (!cluster.retry_policy) continue;
    RetryMatchers matchers;
    TRY_ASSIGN(matchers.response, route::compile(cluster.retry_policy->retriable_headers));
    TRY_ASSIGN(matchers.request, route::compile(cluster.retry_policy->retriable_request_headers));
    out.emplace(&cluster, std::move(matchers));
  }
  return out;
}

}  // namespace damper::router
