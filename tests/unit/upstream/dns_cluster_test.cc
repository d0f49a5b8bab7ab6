#include "upstream/dns_cluster.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/manual_scheduler.h"

namespace damper::upstream {
namespace {

using namespace std::chrono_literals;
using Type = config::Cluster::Type;
using Texts = std::vector<std::string>;

net::Resolution answer(const Texts& ips, std::chrono::seconds ttl = 0s) {
  net::Resolution out{.ttl = ttl};
  for (const auto& ip : ips) out.addresses.push_back(*net::Address::from_ip(ip, 0));
  return out;
}

const Error kSilence{Errc::kTimeout, Side::kUpstream, "orders: timeout"};

config::Cluster cluster(Type type, const std::vector<config::Endpoint>& endpoints) {
  config::Cluster out{.name = "orders", .type = type};
  for (const auto& endpoint : endpoints) out.endpoints.push_back({.address = endpoint});
  return out;
}

config::Cluster orders(Type type = Type::kStrictDns) {
  return cluster(type, {{.host = "orders", .port = 80}});
}

// A cluster whose names are answered by hand.
struct Bench {
  explicit Bench(config::Cluster c) : config(std::move(c)) {
    cells.set(stats.membership_total, -1);
    dns.start();
  }

  net::Query ask(const std::string& name, config::Cluster::DnsFamily family,
                 net::Resolver::Done done) {
    questions.push_back(name);
    last_family = family;
    waiting[name] = std::move(done);
    return net::Query();
  }
  void give(const std::string& name, Result<net::Resolution> result) {
    const auto done = std::exchange(waiting.at(name), nullptr);
    done(std::move(result));
  }
  void note(const std::vector<DnsCluster::ResolvedHost>& hosts) {
    Texts texts;
    for (const auto& host : hosts) texts.push_back(host.address.to_string());
    reports.push_back(texts);
    last = hosts;
  }
  // Time until the next question, to the millisecond.
  Duration until_next_question() {
    const auto before = questions.size();
    Duration waited{};
    for (; questions.size() == before; waited += 1ms) scheduler.advance(1ms);
    return waited;
  }

  const config::Cluster config;
  tests::ManualScheduler scheduler;
  Random random{1};
  stats::Registry registry;
  stats::Cells& cells = registry.new_cells();
  stats::ClusterStats stats{registry, "orders", {}};
  Texts questions;
  config::Cluster::DnsFamily last_family{};
  std::map<std::string, net::Resolver::Done> waiting;
  std::vector<Texts> reports;
  std::vector<DnsCluster::ResolvedHost> last;
  DnsCluster dns{config,
                 stats,
                 {scheduler, random, cells,
                  [this](const std::string& name, config::Cluster::DnsFamily family,
                         net::Resolver::Done done) { return ask(name, family, std::move(done)); }},
                 [this](const std::vector<DnsCluster::ResolvedHost>& hosts) { note(hosts); }};
};

TEST(DnsCluster, EveryAddressOfANameIsAHostAtTheEndpointsPort) {
  Bench bench(orders());
  bench.give("orders", answer({"10.0.0.1", "10.0.0.2", "::1", "10.0.0.1"}));
  EXPECT_EQ(bench.reports, (std::vector<Texts>{{"10.0.0.1:80", "10.0.0.2:80", "[::1]:80"}}));
  EXPECT_EQ(bench.last[0].endpoint, &bench.config.endpoints[0]);
}

TEST(DnsCluster, AsksForTheFamilyOfTheCluster) {
  auto config = orders();
  config.dns_family = config::Cluster::DnsFamily::kV4Preferred;
  EXPECT_EQ(Bench(config).last_family, config::Cluster::DnsFamily::kV4Preferred);
}

TEST(DnsCluster, ALogicalNameIsOneHost) {
  Bench bench(orders(Type::kLogicalDns));
  bench.give("orders", answer({"10.0.0.2", "10.0.0.1"}));
  EXPECT_EQ(bench.reports, (std::vector<Texts>{{"10.0.0.2:80"}}));
}

TEST(DnsCluster, AddressesAmongTheEndpointsAreTakenAsTheyAre) {
  Bench bench(cluster(Type::kStrictDns,
                      {{.host = "10.9.9.9", .port = 81}, {.host = "orders", .port = 80}}));
  EXPECT_EQ(bench.questions, Texts{"orders"});
  bench.give("orders", answer({"10.0.0.1"}));
  EXPECT_EQ(bench.reports, (std::vector<Texts>{{"10.9.9.9:81", "10.0.0.1:80"}}));
  EXPECT_EQ(bench.last[1].endpoint, &bench.config.endpoints[1]);
}

TEST(DnsCluster, WithoutNamesItReportsAtOnce) {
  Bench bench(cluster(Type::kStrictDns, {{.host = "::1", .port = 81}, {.unix_path = "/run/app"}}));
  EXPECT_EQ(bench.reports, (std::vector<Texts>{{"[::1]:81", "/run/app"}}));
}

TEST(DnsCluster, TheFirstReportWaitsForEveryName) {
  Bench bench(cluster(Type::kStrictDns, {{.host = "orders", .port = 80}, {.host = "stock"}}));
  bench.give("orders", answer({"10.0.0.1"}));
  EXPECT_EQ(bench.reports.size(), 0u);
  bench.give("stock", kSilence);
  EXPECT_EQ(bench.reports, (std::vector<Texts>{{"10.0.0.1:80"}}));
}

TEST(DnsCluster, TheFirstRoundIsReportedWhateverCameOfIt) {
  for (const Type type : {Type::kStrictDns, Type::kLogicalDns}) {
    for (const Result<net::Resolution>& result :
         {Result<net::Resolution>(kSilence), Result<net::Resolution>(answer({}))}) {
      Bench bench(orders(type));
      bench.give("orders", result);
      EXPECT_EQ(bench.reports, std::vector<Texts>{{}});
      EXPECT_EQ(bench.registry.value(bench.stats.membership_change), 0u);
    }
  }
}

TEST(DnsCluster, OnlyChangesAreReportedAfterwards) {
  Bench bench(orders());
  const Texts answers[] = {
      {"10.0.0.1", "10.0.0.2"},  // the first
      {"10.0.0.2", "10.0.0.1"},  // rotated
      {"10.0.0.1"},              // one has left
      {"10.0.0.1"},              // the same again
      {"10.0.0.3", "10.0.0.1"},  // another has come
  };
  for (const auto& ips : answers) {
    bench.give("orders", answer(ips));
    bench.until_next_question();
  }
  EXPECT_EQ(bench.reports,
            (std::vector<Texts>{
                {"10.0.0.1:80", "10.0.0.2:80"}, {"10.0.0.1:80"}, {"10.0.0.3:80", "10.0.0.1:80"}}));
}

TEST(DnsCluster, AFailureLeavesTheHosts) {
  for (const Errc code : {Errc::kTimeout, Errc::kRefused, Errc::kProtocol}) {
    Bench bench(orders());
    bench.give("orders", answer({"10.0.0.1"}));
    bench.until_next_question();
    bench.give("orders", Error{code, Side::kUpstream, "orders: no"});
    EXPECT_EQ(bench.reports, (std::vector<Texts>{{"10.0.0.1:80"}}));
  }
}

TEST(DnsCluster, SilenceLeavesTheHosts) {
  Bench bench(orders());
  bench.give("orders", answer({"10.0.0.1"}));
  bench.until_next_question();
  bench.scheduler.advance(1h);
  EXPECT_EQ(bench.reports.size(), 1u);
  EXPECT_EQ(bench.questions.size(), 2u);
}

TEST(DnsCluster, AnEmptyAnswerEmptiesAStrictClusterAndNotALogicalOne) {
  const struct {
    Type type;
    std::vector<Texts> reports;
  } cases[] = {
      {Type::kStrictDns, {{"10.0.0.1:80"}, {}}},
      {Type::kLogicalDns, {{"10.0.0.1:80"}}},
  };
  for (const auto& one : cases) {
    Bench bench(orders(one.type));
    bench.give("orders", answer({"10.0.0.1"}));
    bench.until_next_question();
    bench.give("orders", answer({}));
    EXPECT_EQ(bench.reports, one.reports);
  }
}

TEST(DnsCluster, ANameIsAskedForAgainAfterTheRefreshRateWhateverCameOfIt) {
  for (const Result<net::Resolution>& result :
       {Result<net::Resolution>(answer({"10.0.0.1"}, 60s)), Result<net::Resolution>(answer({})),
        Result<net::Resolution>(kSilence)}) {
    Bench bench(orders());
    Duration shortest = 1h, longest{};
    for (int i = 0; i < 100; ++i) {
      bench.give("orders", result);
      const Duration waited = bench.until_next_question();
      shortest = std::min(shortest, waited);
      longest = std::max(longest, waited);
    }
    EXPECT_GE(shortest, 4500ms);
    EXPECT_LT(shortest, 4700ms);
    EXPECT_GT(longest, 5300ms);
    EXPECT_LE(longest, 5501ms);
  }
}

TEST(DnsCluster, TheTtlIsTheRateIfItIsToBeRespected) {
  const struct {
    Result<net::Resolution> result;
    Duration shortest, longest;
  } cases[] = {
      {answer({"10.0.0.1"}, 60s), 54s, 66s},
      {answer({"10.0.0.1"}, 1s), 1s, 1100ms},
      {answer({"10.0.0.1"}, 0s), 4500ms, 5500ms},  // it says nothing
      {kSilence, 4500ms, 5500ms},
  };
  for (const auto& one : cases) {
    auto config = orders();
    config.respect_dns_ttl = true;
    Bench bench(config);
    for (int i = 0; i < 20; ++i) {
      bench.give("orders", one.result);
      const Duration waited = bench.until_next_question();
      EXPECT_GE(waited, one.shortest);
      EXPECT_LE(waited, one.longest + 1ms);
    }
  }
}

TEST(DnsCluster, NamesAreRefreshedIndependently) {
  Bench bench(cluster(Type::kStrictDns, {{.host = "orders", .port = 80}, {.host = "stock"}}));
  bench.give("orders", answer({"10.0.0.1"}));
  bench.scheduler.advance(10s);
  EXPECT_EQ(bench.questions, (Texts{"orders", "stock", "orders"}));
}

TEST(DnsCluster, CountsUpdatesAndMembers) {
  Bench bench(orders());
  const Result<net::Resolution> results[] = {answer({"10.0.0.1", "10.0.0.2"}), kSilence, answer({}),
                                             answer({"10.0.0.3"})};
  const std::int64_t members[] = {2, 2, 0, 1};
  for (std::size_t i = 0; i < std::size(results); ++i) {
    bench.give("orders", results[i]);
    EXPECT_EQ(bench.registry.value(bench.stats.membership_total), members[i]);
    bench.until_next_question();
  }
  EXPECT_EQ(bench.registry.value(bench.stats.update_attempt), 5u);
  EXPECT_EQ(bench.registry.value(bench.stats.update_success), 3u);
  EXPECT_EQ(bench.registry.value(bench.stats.update_failure), 1u);
  EXPECT_EQ(bench.registry.value(bench.stats.update_empty), 1u);
  EXPECT_EQ(bench.registry.value(bench.stats.membership_change), 3u);
}

TEST(DnsCluster, EndsItsQuestionsWithItself) {
  int queries_ended = 0;
  tests::ManualScheduler scheduler;
  Random random{1};
  stats::Registry registry;
  const stats::ClusterStats stats(registry, "orders", {});
  const auto config = orders();
  {
    const auto ask = [&](auto&&...) { return net::Query([&] { ++queries_ended; }); };
    DnsCluster dns(config, stats, {scheduler, random, registry.new_cells(), ask}, [](auto&) {});
    dns.start();
    EXPECT_EQ(queries_ended, 0);
  }
  EXPECT_EQ(queries_ended, 1);
}

}  // namespace
}  // namespace damper::upstream
