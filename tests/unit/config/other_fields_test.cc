#include "config/other_fields.h"

#include <gtest/gtest.h>
#include <set>

#include "config/load.h"

namespace damper::config {
namespace {

TEST(OtherFields, AreFoundInBothSpellings) {
  for (const char* key : {"health_checks", "healthChecks"}) {
    const OtherFields* fields = find_other_field("Cluster", key);
    ASSERT_TRUE(fields) << key;
    EXPECT_EQ(fields->fate, OtherFields::Fate::kUnsupported);
    EXPECT_EQ(fields->what, "health checks");
  }
  EXPECT_FALSE(find_other_field("Cluster", "health_check"));
  EXPECT_FALSE(find_other_field("Listener", "health_checks"));
}

TEST(OtherFields, StandInOneRowEach) {
  for (const char* message :
       {"Bootstrap", "Listener", "HttpConnectionManager", "VirtualHost", "Route", "RouteMatch",
        "RouteAction", "RetryPolicy", "Cluster", "Thresholds", "RetryBudget", "OutlierDetection"}) {
    std::vector<std::string_view> keys;
    append_other_fields(message, keys);
    EXPECT_FALSE(keys.empty()) << message;
    EXPECT_EQ(std::set<std::string_view>(keys.begin(), keys.end()).size(), keys.size()) << message;
  }
}

TEST(OtherFields, AListenerInShortFormHasThoseOfTheConnectionManagerToo) {
  EXPECT_TRUE(find_other_field("ShortListener", "use_original_dst"));
  EXPECT_TRUE(find_other_field("ShortListener", "local_reply_config"));
  EXPECT_FALSE(find_other_field("ShortListener", "virtual_hosts"));
}

// A value that asks for nothing is no reason to refuse a file.
TEST(OtherFields, AreHarmlessWhereTheyAskForNothing) {
  for (const char* field :
       {"health_checks: []", "transport_socket_matches: ~", "use_tcp_for_dns_lookups: false"}) {
    const Loaded loaded =
        load_text("a.yaml", "clusters: [ { name: a, " + std::string(field) + " } ]");
    EXPECT_TRUE(loaded.bootstrap) << loaded.diagnostics.render_all();
    EXPECT_EQ(loaded.diagnostics.fields_without_effect().size(), 1u) << field;
  }
  EXPECT_FALSE(
      load_text("a.yaml", "clusters: [ { name: a, use_tcp_for_dns_lookups: true } ]").bootstrap);
}

}  // namespace
}  // namespace damper::config
