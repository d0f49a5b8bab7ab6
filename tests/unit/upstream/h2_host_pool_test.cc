// The pool of a host that speaks HTTP/2; host_pool_test.cc has the rest.
#include <gtest/gtest.h>

#include "tests/support/h2_wire.h"
#include "tests/support/pool_bench.h"

namespace damper::upstream {
namespace {

using namespace std::chrono_literals;
using tests::h2::goaway;
using Log = std::vector<std::string>;

config::Cluster http2(config::Thresholds thresholds = {}) {
  return {.name = "app", .thresholds = thresholds, .http = config::UpstreamHttp::kHttp2};
}

std::string settings(std::uint32_t max_streams = 100) {
  return tests::h2::settings({{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, max_streams}});
}

std::string answer(http::StreamId id) {
  return tests::h2::headers(id, {{":status", "200"}}, false) + tests::h2::data(id, "ok", true);
}

std::uint64_t connections(const PoolBench& bench) {
  return bench.count(bench.state.stats.upstream_cx_total);
}

TEST(H2HostPool, AConnectThatFailsFailsAllWhoWaitForIt) {
  tests::Backend full(0);
  std::vector<net::Fd> fill;
  for (int i = 0; i < 3; ++i) fill.push_back(*net::connect_to(full.address(), std::nullopt));
  config::Cluster config = http2({.max_connections = 1});
  config.connect_timeout = 5s;
  config.http2.max_concurrent_streams = 2;
  PoolBench bench(config, full.address());
  for (const char* name : {"a", "b", "c"}) bench.acquire(name);
  bench.time.advance(5s);
  EXPECT_EQ(bench.turn(), (Log{"a connect timeout", "b connect timeout"}));
  bench.time.advance(5s);
  EXPECT_EQ(bench.turn(), Log{"c connect timeout"});
  EXPECT_EQ(bench.count(bench.state.stats.upstream_cx_connect_timeout), 2u);
  EXPECT_TRUE(bench.pool->empty());
}

TEST(H2HostPool, RequestsShareAConnectionOnceTheHostHasGreeted) {
  PoolBench bench(http2());
  for (const char* name : {"a", "b", "c"}) bench.acquire(name);
  EXPECT_EQ(bench.turn(2), Log{"a on 1"});
  EXPECT_EQ(bench.answer(bench.accept(), settings()), (Log{"b on 1", "c on 1"}));
  bench.acquire("d");
  EXPECT_EQ(bench.log, Log{"d on 1"});
  EXPECT_EQ(connections(bench), 1u);
  EXPECT_EQ(bench.count(bench.state.stats.upstream_cx_http2_total), 1u);
  EXPECT_EQ(bench.gauge(bench.state.stats.upstream_rq_pending_active), 0);
}

TEST(H2HostPool, OneConnectionIsOpenedForAHundredThatWait) {
  for (const auto& [requests, expected] : {std::pair(100, 1u), {101, 2u}, {201, 3u}}) {
    PoolBench bench(http2());
    for (int i = 0; i < requests; ++i) bench.acquire("r");
    EXPECT_EQ(connections(bench), expected) << requests;
  }
}

TEST(H2HostPool, ALowerLimitOfOursCountsToo) {
  config::Cluster config = http2();
  config.http2.max_concurrent_streams = 2;
  PoolBench bench(config);
  for (const char* name : {"a", "b", "c"}) bench.acquire(name);
  EXPECT_EQ(connections(bench), 2u);
}

TEST(H2HostPool, AboveTheHostsLimitAnotherConnectionIsOpened) {
  PoolBench bench(http2());
  for (const char* name : {"a", "b", "c", "d"}) bench.acquire(name);
  bench.turn(2);
  EXPECT_EQ(bench.answer(bench.accept(), settings(2)), Log{"b on 1"});
  EXPECT_EQ(bench.turn(2), Log{"c on 2"});
  EXPECT_EQ(bench.answer(bench.accept(), settings(2)), Log{"d on 2"});
  EXPECT_EQ(connections(bench), 2u);
}

TEST(H2HostPool, AConnectionThatIsFullIsNotTaken) {
  PoolBench bench(http2());
  for (const char* name : {"a", "b", "c"}) bench.acquire(name);
  bench.turn(2);
  EXPECT_EQ(bench.answer(bench.accept(), settings(3)), (Log{"b on 1", "c on 1"}));
  bench.acquire("d");
  EXPECT_EQ(bench.turn(), Log{"d on 2"});
}

TEST(H2HostPool, AtTheLimitOfConnectionsRequestsWaitForAStreamInOrder) {
  PoolBench bench(http2({.max_connections = 1}));
  for (const char* name : {"a", "b", "c", "d"}) bench.acquire(name);
  bench.turn(2);
  tests::Peer& peer = bench.accept();
  EXPECT_EQ(bench.answer(peer, settings(2)), Log{"b on 1"});
  EXPECT_EQ(bench.turn(3), Log{});
  EXPECT_EQ(bench.answer(peer, answer(3)), (Log{"b answered", "c on 1"}));
  EXPECT_EQ(bench.answer(peer, answer(1)), (Log{"a answered", "d on 1"}));
}

TEST(H2HostPool, ACancelledRequestMakesRoomForTheNext) {
  PoolBench bench(http2({.max_connections = 1}));
  NotingPoolUser& a = bench.acquire("a");
  bench.turn(2);
  bench.answer(bench.accept(), settings(1));
  bench.acquire("b");
  EXPECT_EQ(bench.turn(2), Log{});
  a.connection->reset(a.id);
  EXPECT_EQ(bench.turn(2), Log{"b on 1"});
}

TEST(H2HostPool, AGoawayRetiresAConnectionAndItsStreamsGoOn) {
  PoolBench bench(http2());
  bench.acquire("a");
  bench.turn(2);
  tests::Peer& peer = bench.accept();
  bench.answer(peer, settings());
  bench.answer(peer, goaway(1, NGHTTP2_NO_ERROR));
  bench.acquire("b");
  EXPECT_EQ(bench.turn(2), Log{"b on 2"});
  EXPECT_EQ(bench.answer(peer, answer(1)), Log{"a answered"});
  EXPECT_TRUE(peer.ended());
  EXPECT_EQ(bench.gauge(bench.state.stats.upstream_cx_active), 1);
}

TEST(H2HostPool, AConnectionIsNotTakenInTheTurnOfItsGoaway) {
  PoolBench bench(http2());
  NotingPoolUser& first = bench.acquire("a");
  first.then = [&bench] { bench.acquire("b"); };
  bench.turn(2);
  tests::Peer& peer = bench.accept();
  bench.answer(peer, settings());
  EXPECT_EQ(bench.answer(peer, goaway(1, NGHTTP2_NO_ERROR) + answer(1)), Log{"a answered"});
  EXPECT_EQ(bench.turn(), Log{"b on 2"});
}

TEST(H2HostPool, WhoWaitsForAConnectionThatGoesAwayGetsAnother) {
  PoolBench bench(http2());
  for (const char* name : {"a", "b", "c"}) bench.acquire(name);
  EXPECT_EQ(bench.turn(2), Log{"a on 1"});
  bench.answer(bench.accept(), settings(1) + goaway(1, NGHTTP2_NO_ERROR));
  EXPECT_EQ(bench.turn(2), Log{"b on 2"});
}

TEST(H2HostPool, WhoWaitsAtTheLimitForAConnectionThatGoesAwayGetsItsPlace) {
  PoolBench bench(http2({.max_connections = 1}));
  bench.acquire("a");
  bench.turn(2);
  tests::Peer& peer = bench.accept();
  bench.answer(peer, settings(1));
  bench.acquire("b");
  EXPECT_EQ(bench.answer(peer, goaway(1, NGHTTP2_NO_ERROR)), Log{});
  EXPECT_EQ(bench.turn(2), Log{});
  EXPECT_EQ(bench.answer(peer, answer(1)), Log{"a answered"});
  EXPECT_EQ(bench.turn(2), Log{"b on 2"});
}

TEST(H2HostPool, AConnectionTakesOnlySoManyRequests) {
  config::Cluster config = http2();
  config.max_requests_per_connection = 2;
  PoolBench bench(config);
  bench.acquire("a");
  bench.turn(2);
  tests::Peer& peer = bench.accept();
  bench.answer(peer, settings());
  bench.acquire("b");
  bench.acquire("c");
  EXPECT_EQ(bench.turn(2), (Log{"b on 1", "c on 2"}));
  EXPECT_FALSE(peer.ended());
  EXPECT_EQ(bench.answer(peer, answer(1) + answer(3)), (Log{"a answered", "b answered"}));
  EXPECT_TRUE(peer.ended());
  EXPECT_GE(bench.count(bench.state.stats.upstream_cx_max_requests), 1u);
}

TEST(H2HostPool, AConnectionWithoutStreamsIsIdle) {
  config::Cluster config = http2();
  config.idle_timeout = 60s;
  PoolBench bench(config);
  bench.acquire("a");
  bench.turn(2);
  tests::Peer& peer = bench.accept();
  bench.answer(peer, settings());
  bench.time.advance(1h);
  bench.turn();
  EXPECT_FALSE(peer.ended());
  bench.answer(peer, answer(1));
  bench.time.advance(60s - 1ns);
  bench.turn();
  EXPECT_FALSE(peer.ended());
  bench.time.advance(1ns);
  bench.turn();
  EXPECT_TRUE(peer.ended());
  EXPECT_EQ(bench.count(bench.state.stats.upstream_cx_idle_timeout), 1u);
}

TEST(H2HostPool, WhenItsHostLeavesStreamsEndBeforeTheirConnection) {
  PoolBench bench(http2());
  bench.acquire("a");
  bench.turn(2);
  tests::Peer& peer = bench.accept();
  bench.answer(peer, settings());
  bench.acquire("b");
  bench.turn();
  bench.pool->drain();
  bench.turn();
  EXPECT_EQ(bench.answer(peer, answer(3)), Log{"b answered"});
  EXPECT_FALSE(peer.ended());
  EXPECT_EQ(bench.answer(peer, answer(1)), Log{"a answered"});
  EXPECT_TRUE(peer.ended());
  EXPECT_TRUE(bench.pool->empty());
}

TEST(H2HostPool, ABrokenConnectionFailsItsStreamsAndWhoWaitsGetsAnother) {
  PoolBench bench(http2({.max_connections = 1}));
  for (const char* name : {"a", "b"}) bench.acquire(name);
  bench.turn(2);
  EXPECT_EQ(bench.answer(bench.accept(), "HTTP/1.1 400 Bad Request\r\n\r\n").front(), "a failed");
  EXPECT_TRUE(tests::run_until(bench.worker.loop, [&] { return !bench.log.empty(); }));
  EXPECT_EQ(bench.log, Log{"b on 2"});
  EXPECT_EQ(bench.count(bench.state.stats.upstream_cx_protocol_error), 1u);
}

TEST(H2HostPool, APoolThatDiesFailsItsRequestsAndGivesBackItsPlaces) {
  PoolBench bench(http2({.max_connections = 1}));
  for (const char* name : {"a", "b", "c"}) bench.acquire(name);
  bench.turn(2);
  tests::Peer& peer = bench.accept();
  bench.answer(peer, settings(2));
  bench.answer(peer, tests::h2::ping("12345678"));
  bench.pool.reset();
  EXPECT_EQ(bench.turn(), (Log{"b failed", "a failed"}));
  const CircuitBreaker& breaker = bench.state.breaker(config::Priority::kDefault);
  EXPECT_EQ(breaker.connections.used(), 0u);
  EXPECT_EQ(breaker.pending_requests.used(), 0u);
  EXPECT_EQ(bench.gauge(bench.state.stats.upstream_cx_active), 0);
}

}  // namespace
}  // namespace damper::upstream
