#include "server/amplification_window.h"

#include <gtest/gtest.h>

namespace damper::server {
namespace {

struct Bench {
  void requests(std::uint64_t originals, std::uint64_t retries) {
    cells.add(stats.retry.original_requests, originals);
    cells.add(stats.retry.retry_attempts[0], retries);
  }
  double amplification() const { return window.of("app", stats.retry); }
  void seconds(int n) {
    for (int i = 0; i < n; ++i) window.sample("app", stats.retry);
  }

  stats::Registry registry;
  stats::Cells& cells = registry.new_cells();
  stats::ClusterStats stats{registry, "app", {.verdicts = {}, .causes = {"5xx"}}};
  AmplificationWindow window{registry};
};

TEST(AmplificationWindow, IsOneWithoutRequests) { EXPECT_DOUBLE_EQ(Bench().amplification(), 1); }

TEST(AmplificationWindow, CountsWhatCameSinceTheLastSampleToo) {
  Bench bench;
  bench.requests(10, 5);
  EXPECT_DOUBLE_EQ(bench.amplification(), 1.5);
}

TEST(AmplificationWindow, ForgetsWhatIsOlderThanTenSeconds) {
  Bench bench;
  bench.seconds(1);
  bench.requests(10, 10);
  bench.seconds(9);
  bench.requests(10, 0);
  EXPECT_DOUBLE_EQ(bench.amplification(), 1.5);
  bench.seconds(1);
  EXPECT_DOUBLE_EQ(bench.amplification(), 1);
  bench.seconds(9);
  EXPECT_DOUBLE_EQ(bench.amplification(), 1);
}

}  // namespace
}  // namespace damper::server
