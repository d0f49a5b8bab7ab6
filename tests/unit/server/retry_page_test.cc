#include "server/retry_page.h"

#include <gtest/gtest.h>

#include "tests/support/manual_scheduler.h"

namespace damper::server {
namespace {

using namespace std::chrono_literals;

struct RetryPageTest : testing::Test {
  static std::shared_ptr<upstream::ClusterState> make(const std::string& name,
                                                      stats::Registry& registry) {
    return std::make_shared<upstream::ClusterState>(config::Cluster{.name = name}, registry,
                                                    stats::RetryWords{}, 1);
  }
  RetryPage page() { return {overrides, amplification, scheduler.now()}; }

  tests::ManualScheduler scheduler;
  stats::Registry registry;
  LiveOverrides overrides{scheduler, registry.new_cells()};
  AmplificationWindow amplification{registry};
  const RetryPage::Clusters clusters{make("app", registry), make("\"long name\"", registry)};
};

TEST_F(RetryPageTest, IsATableWithALineForEachClusterAndPriority) {
  overrides.set(clusters[0],
                {.mode = upstream::LiveMode::kOff, .ratio_percent = 5, .hold = 90'500ms});
  upstream::BudgetAccount request(clusters[0]->budget(config::Priority::kDefault), 0, "", "",
                                  scheduler.now());
  request.success(scheduler.now());
  EXPECT_EQ(page().text(clusters),
            "cluster      priority  mode                  left_s  ratio  originals  retries  "
            "charged  credits  amplification\n"
            "app          default   off                       91     5%          1        0  "
            "      0        1           1.00\n"
            "app          high      off                       91     5%          0        0  "
            "      0        0           1.00\n"
            "\"long name\"  default   normal                     -      -          0        0  "
            "      0        0           1.00\n"
            "\"long name\"  high      normal                     -      -          0        0  "
            "      0        0           1.00\n");
}

TEST_F(RetryPageTest, IsJsonToo) {
  overrides.set(clusters[1], {.ratio_percent = 2.5, .hold = 10s});
  const std::string idle =
      "{\"active_originals\":0,\"active_retries\":0,\"charged\":0,\"credits\":0,"
      "\"would_refuse\":false}";
  const std::string budgets = ",\"budgets\":{\"default\":" + idle + ",\"high\":" + idle + "}}";
  EXPECT_EQ(page().json(clusters),
            "{\"clusters\":[{\"name\":\"app\",\"mode\":\"normal\",\"seconds_left\":null,"
            "\"ratio_percent\":null,\"amplification\":1.000" +
                budgets +
                ",{\"name\":\"\\\"long name\\\"\",\"mode\":\"normal\",\"seconds_left\":10,"
                "\"ratio_percent\":2.5,\"amplification\":1.000" +
                budgets + "]}\n");
  EXPECT_EQ(page().json({}), "{\"clusters\":[]}\n");
}

}  // namespace
}  // namespace damper::server
