#include "upstream/host_pool.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/support/pool_bench.h"

namespace damper::upstream {
namespace {

using namespace std::chrono_literals;
using Log = std::vector<std::string>;

using Bench = PoolBench;
using User = NotingPoolUser;

config::Cluster limited(config::Thresholds thresholds) {
  return {.name = "app", .thresholds = thresholds};
}

TEST(HostPool, ARequestGetsAConnectionAndTheNextOneUsesItAgain) {
  Bench bench;
  bench.acquire("a");
  EXPECT_EQ(bench.log, Log{});
  EXPECT_EQ(bench.turn(), Log{"a on 1"});
  tests::Peer& peer = bench.accept();
  EXPECT_EQ(bench.answer(peer), Log{"a answered"});
  bench.acquire("b");
  EXPECT_EQ(bench.log, Log{"b on 1"});
  EXPECT_EQ(bench.count(bench.state.stats.upstream_cx_total), 1u);
  EXPECT_EQ(bench.gauge(bench.state.stats.upstream_rq_pending_active), 0);
}

TEST(HostPool, RequestsAtTheSameTimeHaveAConnectionEach) {
  Bench bench;
  bench.acquire("a");
  bench.acquire("b");
  EXPECT_EQ(bench.turn(), (Log{"a on 1", "b on 2"}));
  EXPECT_EQ(bench.gauge(bench.state.stats.upstream_cx_active), 2);
}

TEST(HostPool, TheConnectionThatWasUsedLastIsUsedNext) {
  Bench bench;
  bench.acquire("a");
  bench.acquire("b");
  bench.turn();
  tests::Peer& first = bench.accept();
  tests::Peer& second = bench.accept();
  bench.answer(second);
  bench.answer(first);
  bench.acquire("c");
  bench.acquire("d");
  EXPECT_EQ(bench.log, (Log{"c on 1", "d on 2"}));
}

TEST(HostPool, AtTheLimitOfConnectionsRequestsWaitForOneInOrder) {
  Bench bench(limited({.max_connections = 1}));
  bench.acquire("a");
  bench.turn();
  bench.acquire("b");
  bench.acquire("c");
  tests::Peer& peer = bench.accept();
  EXPECT_EQ(bench.turn(3), Log{});
  EXPECT_GT(bench.count(bench.state.stats.upstream_cx_overflow), 0u);
  peer.send(kOk);
  EXPECT_EQ(bench.turn(3), (Log{"a answered", "b on 1"}));
  peer.send(kOk);
  EXPECT_EQ(bench.turn(3), (Log{"b answered", "c on 1"}));
}

TEST(HostPool, WhoComesLaterDoesNotOvertakeWhoWaits) {
  Bench bench(limited({.max_connections = 1}));
  User& a = bench.acquire("a");
  bench.turn();
  bench.acquire("b");
  a.then = [&] { bench.worker.loop.post([&] { bench.acquire("c"); }); };
  tests::Peer& peer = bench.accept();
  peer.send(kOk);
  EXPECT_EQ(bench.turn(3), (Log{"a answered", "b on 1"}));
}

TEST(HostPool, APoolWithoutConnectionsMayOpenOneOverTheLimit) {
  Bench bench(limited({.max_connections = 1}));
  const auto held_by_another = bench.state.breaker(config::Priority::kDefault).connections.take();
  bench.acquire("a");
  bench.acquire("b");
  EXPECT_EQ(bench.turn(2), Log{"a on 1"});
}

TEST(HostPool, ARequestThatMayNotEvenWaitOverflows) {
  Bench bench(limited({.max_connections = 1, .max_pending_requests = 1}));
  bench.acquire("a");
  bench.turn();
  bench.acquire("b");
  bench.acquire("c");
  EXPECT_EQ(bench.log, Log{"c overflow"});
  EXPECT_EQ(bench.count(bench.state.stats.upstream_rq_pending_overflow), 1u);
}

TEST(HostPool, EachPriorityHasItsOwnLimits) {
  Bench bench(limited({.max_connections = 1, .max_pending_requests = 0}));
  bench.acquire("a");
  EXPECT_EQ(bench.log, Log{"a overflow"});
  bench.pool = std::make_unique<HostPool>(bench.worker, bench.config, bench.state, bench.timeouts,
                                          bench.host, config::Priority::kHigh, bench.config->http);
  bench.acquire("b");
  EXPECT_EQ(bench.turn(), (Log{"a overflow", "b on 1"}));
}

TEST(HostPool, WhenNobodyListensEveryRequestFails) {
  Bench bench({.name = "app"}, tests::deserted_address());
  bench.acquire("a");
  bench.acquire("b");
  EXPECT_EQ(bench.turn(2), (Log{"a connect failure", "b connect failure"}));
  EXPECT_EQ(bench.count(bench.state.stats.upstream_cx_connect_fail), 2u);
  EXPECT_TRUE(bench.pool->empty());
}

TEST(HostPool, AConnectThatTakesTooLongTimesOut) {
  tests::Backend full(0);
  std::vector<net::Fd> fill;
  for (int i = 0; i < 3; ++i) fill.push_back(*net::connect_to(full.address(), std::nullopt));
  Bench bench({.name = "app", .connect_timeout = 5s}, full.address());
  bench.acquire("a");
  bench.time.advance(5s - 1ns);
  EXPECT_EQ(bench.turn(), Log{});
  bench.time.advance(1ns);
  EXPECT_EQ(bench.turn(), Log{"a connect timeout"});
  EXPECT_EQ(bench.count(bench.state.stats.upstream_cx_connect_timeout), 1u);
  EXPECT_TRUE(bench.pool->empty());
}

TEST(HostPool, WhoCancelsIsNotCalledAndItsConnectionIsThereForTheNext) {
  Bench bench;
  bench.pool->cancel(bench.acquire("a"));
  EXPECT_EQ(bench.turn(2), Log{});
  EXPECT_EQ(bench.count(bench.state.stats.upstream_rq_cancelled), 1u);
  bench.acquire("b");
  EXPECT_EQ(bench.log, Log{"b on 1"});
  bench.pool->cancel(bench.users.back());  // too late: nothing happens
  EXPECT_EQ(bench.count(bench.state.stats.upstream_rq_cancelled), 1u);
}

TEST(HostPool, AConnectionThatIsIdleForTooLongIsClosed) {
  Bench bench({.name = "app", .idle_timeout = 60s});
  tests::Peer& peer = bench.warm_up();
  bench.time.advance(60s - 1ns);
  bench.turn();
  EXPECT_FALSE(peer.ended());
  bench.time.advance(1ns);
  EXPECT_TRUE(peer.ended());
  EXPECT_EQ(bench.count(bench.state.stats.upstream_cx_idle_timeout), 1u);
}

TEST(HostPool, WithoutAnIdleTimeoutAConnectionStaysEvenAfterAnAbandonedResponse) {
  Bench bench({.name = "app", .idle_timeout = 0s});
  User& a = bench.acquire("a");
  bench.turn();
  tests::Peer& peer = bench.accept();
  a.connection->abandon(a.id);
  bench.answer(peer);
  bench.time.advance(24h);
  EXPECT_FALSE(peer.ended());
}

TEST(HostPool, AConnectionTakesOnlySoManyRequests) {
  Bench bench({.name = "app", .max_requests_per_connection = 2});
  tests::Peer& peer = bench.warm_up();
  bench.acquire("b");
  bench.answer(peer);
  EXPECT_TRUE(peer.ended());
  EXPECT_EQ(bench.count(bench.state.stats.upstream_cx_max_requests), 1u);
  bench.acquire("c");
  EXPECT_EQ(bench.turn(), Log{"c on 2"});
}

TEST(HostPool, AnOldConnectionIsNotUsedAgain) {
  Bench bench({.name = "app", .max_connection_duration = 1ms});
  bench.warm_up();
  const TimePoint old = bench.worker.loop.now() + 1ms;
  EXPECT_TRUE(tests::run_until(bench.worker.loop, [&] { return bench.worker.loop.now() >= old; }));
  bench.acquire("b");
  EXPECT_EQ(bench.turn().back(), "b on 2");
  EXPECT_EQ(bench.count(bench.state.stats.upstream_cx_max_duration_reached), 1u);
}

TEST(HostPool, AFreedConnectionIsHandedOnOnlyIfItsEndDoesNotComeBehindTheAnswer) {
  Bench bench(limited({.max_connections = 1}));
  bench.acquire("a");
  bench.turn();
  bench.acquire("b");
  tests::Peer& peer = bench.accept();
  peer.received();
  peer.send(kOk);
  peer.close();
  EXPECT_TRUE(tests::run_until(bench.worker.loop, [&] { return bench.log.size() == 2; }));
  EXPECT_EQ(bench.log, (Log{"a answered", "b on 2"}));
}

TEST(HostPool, AHostThatClosesUnderARequestIsGivenMoreTimeToDoSo) {
  Bench bench(limited({.max_connections = 1}));
  tests::Peer& first = bench.warm_up();
  bench.acquire("b");
  bench.turn();
  first.received();
  first.close();
  EXPECT_EQ(bench.turn(), Log{"b lost the race"});
  bench.acquire("c");
  bench.acquire("d");
  EXPECT_EQ(bench.turn(), Log{"c on 2"});
  tests::Peer& second = bench.accept();
  second.received();
  const TimePoint answered = bench.worker.loop.now();
  bench.answer(second);
  EXPECT_TRUE(tests::run_until(bench.worker.loop, [&] { return !bench.log.empty(); }));
  EXPECT_EQ(bench.log, Log{"d on 2"});
  EXPECT_GE(bench.worker.loop.now() - answered, 1ms);
}

TEST(HostPool, ADrainClosesIdleConnectionsNowAndOthersAfterTheirRequest) {
  Bench bench;
  bench.acquire("a");
  bench.acquire("b");
  bench.turn();
  tests::Peer& idle = bench.accept();
  tests::Peer& busy = bench.accept();
  bench.answer(idle);
  bench.pool->drain();
  bench.turn();
  EXPECT_TRUE(idle.ended());
  EXPECT_FALSE(busy.ended());
  EXPECT_FALSE(bench.pool->empty());
  EXPECT_EQ(bench.answer(busy), Log{"b answered"});
  EXPECT_TRUE(busy.ended());
  EXPECT_TRUE(bench.pool->empty());
}

TEST(HostPool, WhoWaitsIsServedInADrain) {
  Bench bench;
  bench.acquire("a");
  bench.pool->drain();
  EXPECT_EQ(bench.turn(2), Log{"a on 1"});
  EXPECT_EQ(bench.answer(bench.accept()), Log{"a answered"});
  EXPECT_TRUE(bench.pool->empty());
}

TEST(HostPool, APoolThatDiesFailsItsRequestsAndGivesBackItsPlaces) {
  Bench bench(limited({.max_connections = 1}));
  bench.acquire("a");
  bench.turn();
  bench.acquire("b");
  bench.pool.reset();
  EXPECT_EQ(bench.turn(), Log{"a failed"});
  const CircuitBreaker& breaker = bench.state.breaker(config::Priority::kDefault);
  EXPECT_EQ(breaker.connections.used(), 0u);
  EXPECT_EQ(breaker.pending_requests.used(), 0u);
  EXPECT_EQ(bench.gauge(bench.state.stats.upstream_cx_active), 0);
  EXPECT_EQ(bench.gauge(bench.state.stats.upstream_rq_pending_active), 0);
}

TEST(HostPool, CountsWhoEndedAConnection) {
  Bench bench;
  const stats::ClusterStats& stats = bench.state.stats;
  tests::Peer& idle = bench.warm_up();
  idle.received();
  idle.close();
  bench.turn();
  EXPECT_EQ(bench.count(stats.upstream_cx_destroy_remote), 1u);
  EXPECT_EQ(bench.count(stats.upstream_cx_destroy_with_active_rq), 0u);
  User& cancelled = bench.acquire("b");
  bench.turn();
  cancelled.connection->reset(cancelled.id);
  EXPECT_EQ(bench.count(stats.upstream_cx_destroy_local), 1u);
  bench.acquire("c");
  bench.turn();
  bench.accept();  // that of b
  bench.answer(bench.accept(), "nonsense\r\n\r\n");
  EXPECT_EQ(bench.count(stats.upstream_cx_protocol_error), 1u);
  EXPECT_EQ(bench.count(stats.upstream_cx_destroy), 3u);
}

}  // namespace
}  // namespace damper::upstream
