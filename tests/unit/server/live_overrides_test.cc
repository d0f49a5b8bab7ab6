#include "server/live_overrides.h"

#include <gtest/gtest.h>

#include "tests/support/manual_scheduler.h"

namespace damper::server {
namespace {

using namespace std::chrono_literals;
using upstream::LiveMode;

Result<LiveOverride> parse(const std::string& parameters) {
  return parse_live_override(AdminQuery::parse("POST", "/?" + parameters, ""));
}

TEST(LiveOverride, IsReadFromParameters) {
  const std::pair<const char*, LiveOverride> cases[] = {
      {"mode=off", {.mode = LiveMode::kOff}},
      {"mode=normal&format=json", {.mode = LiveMode::kNormal}},
      {"mode=connect_failure_only&for=10m", {.mode = LiveMode::kConnectFailureOnly, .hold = 10min}},
      {"mode=normal&ratio=5%", {.ratio_percent = 5}},
      {"mode=normal&ratio=0.25&for=1s", {.ratio_percent = 25, .hold = 1s}},
      {"mode=normal&ratio=100%", {.ratio_percent = 100}},
      {"mode=normal&ratio=0", {.ratio_percent = 0}}};
  for (const auto& [text, expected] : cases) {
    const auto said = parse(text);
    ASSERT_TRUE(said) << text;
    EXPECT_EQ(*said, expected) << text;
  }
}

TEST(LiveOverride, ABadValueIsRefusedWithWhatIsAllowed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "mode is missing"},
      {"ratio=5%&for=10m", "mode is missing"},
      {"mode=on", "mode=on: allowed are normal, connect_failure_only and off"},
      {"mode=", "allowed are normal"},
      {"mode=off&for=0s", "allowed is a duration above 0"},
      {"mode=off&for=10", "for=10: allowed is a duration"},
      {"mode=off&for=-1s", "allowed is a duration"},
      {"mode=off&ratio=101%", "ratio=101%: allowed is 0% to 100%, or 0 to 1"},
      {"mode=off&ratio=1.1", "allowed is 0% to 100%"},
      {"mode=off&ratio=-1%", "allowed is 0% to 100%"},
      {"mode=off&ratio=many", "allowed is 0% to 100%"},
      {"mod=off", "mod=off: unknown; the parameters are mode, for and ratio"}};
  for (const auto& [text, why] : cases) {
    const auto said = parse(text);
    ASSERT_FALSE(said) << text;
    EXPECT_NE(said.error().detail.find(why), std::string::npos) << said.error().detail;
  }
}

struct LiveOverridesTest : testing::Test {
  std::uint64_t changes() const {
    return registry.value(cluster->stats.retry.live_override_changes);
  }

  tests::ManualScheduler scheduler;
  stats::Registry registry;
  stats::Cells& cells = registry.new_cells();
  std::shared_ptr<upstream::ClusterState> cluster = std::make_shared<upstream::ClusterState>(
      config::Cluster{.name = "app"}, registry, stats::RetryWords{}, 1);
  LiveOverrides overrides{scheduler, cells};
};

TEST_F(LiveOverridesTest, WithoutAWordTheFileHolds) {
  EXPECT_EQ(overrides.of("app"), LiveOverride{});
  EXPECT_EQ(changes(), 0u);
}

TEST_F(LiveOverridesTest, HoldUntilTheNextWord) {
  overrides.set(cluster, {.mode = LiveMode::kOff});
  scheduler.advance(24h);
  EXPECT_EQ(cluster->live_mode, LiveMode::kOff);
  EXPECT_EQ(overrides.of("app"), LiveOverride{.mode = LiveMode::kOff});
  overrides.set(cluster, {});
  EXPECT_EQ(cluster->live_mode, LiveMode::kNormal);
  EXPECT_EQ(changes(), 2u);
}

TEST_F(LiveOverridesTest, FallBackByThemselves) {
  overrides.set(cluster,
                {.mode = LiveMode::kConnectFailureOnly, .ratio_percent = 1, .hold = 10min});
  scheduler.advance(4min);
  EXPECT_EQ(overrides.of("app").hold, 6min);
  EXPECT_EQ(cluster->live_mode, LiveMode::kConnectFailureOnly);
  scheduler.advance(6min);
  EXPECT_EQ(cluster->live_mode, LiveMode::kNormal);
  EXPECT_EQ(overrides.of("app"), LiveOverride{});
  EXPECT_EQ(changes(), 2u);
  scheduler.advance(24h);
  EXPECT_EQ(changes(), 2u);
}

TEST_F(LiveOverridesTest, ANewWordEndsTheOldOneWithItsTime) {
  overrides.set(cluster, {.mode = LiveMode::kOff, .hold = 1min});
  overrides.set(cluster, {.mode = LiveMode::kOff, .hold = 1h});
  scheduler.advance(2min);
  EXPECT_EQ(cluster->live_mode, LiveMode::kOff);
  overrides.set(cluster, {.mode = LiveMode::kOff});
  scheduler.advance(24h);
  EXPECT_EQ(cluster->live_mode, LiveMode::kOff);
}

TEST_F(LiveOverridesTest, TheRatioReplacesThatOfTheWindowForAWhile) {
  upstream::BudgetAccount budget(cluster->budget(config::Priority::kDefault), 0, "", "",
                                 scheduler.now());
  for (int i = 0; i < 100; ++i) budget.success(scheduler.now());
  // How many retries are let in, one after the other.
  const auto retries = [&] {
    for (int n = 0;; ++n) {
      auto answer = budget.try_retry(upstream::RetryCause::kFailure, scheduler.now());
      auto* const ticket = std::get_if<upstream::RetryTicket>(&answer);
      if (!ticket) return n;
      ticket->attempt_started();
    }
  };
  overrides.set(cluster, {.ratio_percent = 5, .hold = 1s});
  EXPECT_EQ(retries(), 5);
  scheduler.advance(1s);
  EXPECT_EQ(retries(), 5);  // 10% of 100, less the five before
}

}  // namespace
}  // namespace damper::server
