#include "upstream/circuit_breaker.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace damper::upstream {
namespace {

TEST(CircuitBreaker, TakesItsLimitsFromTheThresholds) {
  CircuitBreaker breaker({.max_connections = 1, .max_pending_requests = 2, .max_requests = 3});
  EXPECT_EQ(breaker.connections.max(), 1u);
  EXPECT_EQ(breaker.pending_requests.max(), 2u);
  EXPECT_EQ(breaker.requests.max(), 3u);
}

TEST(CircuitBreaker, RefusesWhatIsOverTheLimitAndTakesPlacesBack) {
  Limit limit(2);
  auto first = limit.take();
  {
    const auto second = limit.take();
    EXPECT_TRUE(first && second);
    EXPECT_TRUE(limit.reached());
    EXPECT_FALSE(limit.take());
  }
  EXPECT_EQ(limit.used(), 1u);
  EXPECT_FALSE(limit.reached());
  first = Limit::Ticket();
  EXPECT_EQ(limit.used(), 0u);
}

TEST(CircuitBreaker, ATicketMovesWithItsPlace) {
  Limit limit(1);
  auto ticket = limit.take();
  const auto moved = std::move(ticket);
  EXPECT_TRUE(moved);
  EXPECT_EQ(limit.used(), 1u);
}

TEST(CircuitBreaker, ANewLimitHoldsForThePlacesThatAreTaken) {
  CircuitBreaker breaker({.max_requests = 2});
  const auto first = breaker.requests.take();
  const auto second = breaker.requests.take();
  breaker.reconfigure({.max_requests = 1});
  EXPECT_FALSE(breaker.requests.take());
  breaker.reconfigure({.max_requests = 3});
  EXPECT_TRUE(breaker.requests.take());
}

TEST(CircuitBreaker, ThreadsTogetherNeverExceedTheLimit) {
  constexpr std::uint32_t kMax = 3;
  Limit limit(kMax);
  std::atomic<std::uint32_t> inside{0}, most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5'000; ++i) {
        const auto ticket = limit.take();
        if (!ticket) continue;
        const std::uint32_t n = inside.fetch_add(1) + 1;
        for (auto seen = most.load(); n > seen && !most.compare_exchange_weak(seen, n);) {
        }
        inside.fetch_sub(1);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_LE(most.load(), kMax);
  EXPECT_EQ(limit.used(), 0u);
}

}  // namespace
}  // namespace damper::upstream
