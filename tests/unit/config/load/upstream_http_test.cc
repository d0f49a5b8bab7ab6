#include "config/load/upstream_http.h"

#include <gtest/gtest.h>

#include "tests/support/config_text.h"

namespace damper::config {
namespace {

const std::string kTyped =
    "typed_extension_protocol_options: { envoy.extensions.upstreams.http.v3.HttpProtocolOptions: { "
    "\"@type\": "
    "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, ";

TEST(UpstreamProtocol, IsChosenInSeveralForms) {
  const std::pair<std::string, UpstreamHttp> cases[] = {
      {"", UpstreamHttp::kHttp1},
      {"http: 1", UpstreamHttp::kHttp1},
      {"http: auto", UpstreamHttp::kAuto},
      {kTyped + "explicit_http_config: { http_protocol_options: {} } } }", UpstreamHttp::kHttp1},
      {kTyped + "use_downstream_protocol_config: { http2_protocol_options: {} } } }",
       UpstreamHttp::kDownstream},
      {kTyped + "use_downstream_protocol_config: {} } }", UpstreamHttp::kHttp1},
      {kTyped + "explicit_http_config: { http2_protocol_options: {} } } }", UpstreamHttp::kHttp2},
      {"http: 2", UpstreamHttp::kHttp2},
      {"http2_protocol_options: {}", UpstreamHttp::kHttp2},
      {kTyped + "auto_config: { http2_protocol_options: {} } } }", UpstreamHttp::kAuto},
  };
  for (const auto& [fields, protocol] : cases)
    EXPECT_EQ(load_cluster(fields).http, protocol) << fields;
}

TEST(UpstreamProtocol, ReadsTheOlderFieldsOfTheCluster) {
  const Cluster cluster = load_cluster(
      "common_http_protocol_options: { idle_timeout: 5s }\n  max_requests_per_connection: 9\n"
      "  http_protocol_options: { enable_trailers: true }");
  EXPECT_EQ(cluster.idle_timeout, 5s);
  EXPECT_EQ(cluster.max_requests_per_connection, 9u);
  EXPECT_TRUE(cluster.enable_trailers);
}

TEST(UpstreamProtocol, HasARetryPolicyThatGoesBeforeTheRoutes) {
  const Cluster cluster =
      load_cluster(kTyped + "auto_config: {}, retry_policy: { num_retries: 4 } } }");
  EXPECT_EQ(cluster.retry_policy->num_retries, 4u);
}

}  // namespace
}  // namespace damper::config
