#include "stats/scope.h"

#include <gtest/gtest.h>

namespace damper::stats {
namespace {

TEST(Scope, SaysPrefixFamilyAndLabelOnce) {
  Registry r;
  Cells& cells = r.new_cells();
  const Scope scope(r, "cluster.a.", "cluster.", {"name", "a"});
  cells.add(scope.sub("retry.").counter("total"));
  EXPECT_EQ(r.text("", false), "cluster.a.retry.total: 1\n");
  EXPECT_EQ(r.prometheus("", false),
            "# TYPE envoy_cluster_retry_total counter\n"
            "envoy_cluster_retry_total{name=\"a\"} 1\n");
}

TEST(Scope, WordsBecomeCountersInTheirOrder) {
  Registry r;
  Cells& cells = r.new_cells();
  const Scope scope(r, "cluster.a.", "cluster.", {"name", "a"});
  cells.add(scope.counters("refused", "why", {"limit", "budget"})[1], 3);
  EXPECT_EQ(r.prometheus("", true),
            "# TYPE envoy_cluster_refused counter\n"
            "envoy_cluster_refused{name=\"a\",why=\"budget\"} 3\n");
}

TEST(ResponseCounters, CodesAreNamedWhenTheyAreFirstSeen) {
  Registry r;
  Cells& cells = r.new_cells();
  ResponseCounters codes({r, "x.", "x.", {"l", "v"}}, "rq", ResponseCounters::PerCode::kYes);
  EXPECT_EQ(r.text("rq_503", false), "");
  codes.count(cells, 503);
  codes.count(cells, 503);
  codes.count(cells, 101);
  EXPECT_EQ(r.text("", true),
            "x.rq_101: 1\nx.rq_1xx: 1\nx.rq_503: 2\nx.rq_5xx: 2\nx.rq_completed: 3\n");
}

TEST(ResponseCounters, AStatusOutsideTheRangeIsOnlyCompleted) {
  Registry r;
  Cells& cells = r.new_cells();
  ResponseCounters codes({r, "x.", "x.", {"l", "v"}}, "rq", ResponseCounters::PerCode::kYes);
  for (const int status : {0, 99, 600, -1}) codes.count(cells, status);
  EXPECT_EQ(r.text("", true), "x.rq_completed: 4\n");
}

}  // namespace
}  // namespace damper::stats
