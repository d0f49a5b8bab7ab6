#include "config/load/endpoints.h"

#include <gtest/gtest.h>

#include "tests/support/config_text.h"

namespace damper::config {
namespace {

TEST(Clusters, TheTypeOfEndpointsIsChosenByTheirForm) {
  const auto type_of = [](const std::string& fields) {
    return load("clusters: [ { name: a, " + fields + " } ]").clusters[0].type;
  };
  EXPECT_EQ(type_of("endpoints: [ \"10.0.0.1:80\", \"[::1]:80\", \"unix:/run/a\" ]"),
            Cluster::Type::kStatic);
  EXPECT_EQ(type_of("endpoints: [ \"10.0.0.1:80\", \"a.svc:80\" ]"), Cluster::Type::kStrictDns);
  EXPECT_EQ(type_of("type: LOGICAL_DNS, endpoints: [ \"a.svc:80\" ]"), Cluster::Type::kLogicalDns);
  EXPECT_EQ(type_of("cluster_type: { name: envoy.clusters.dns, typed_config: { \"@type\": "
                    "type.googleapis.com/envoy.extensions.clusters.dns.v3.DnsCluster, "
                    "all_addresses_in_single_endpoint: true } }"),
            Cluster::Type::kLogicalDns);
}

}  // namespace
}  // namespace damper::config
