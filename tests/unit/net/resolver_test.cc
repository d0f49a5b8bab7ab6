#include "net/resolver.h"

#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/dns_server.h"

namespace damper::net {
namespace {

using tests::DnsServer;
using Family = config::Cluster::DnsFamily;
using Code = DnsServer::Reply::Code;
using Texts = std::vector<std::string>;

Texts texts(const Resolution& resolution) {
  Texts out;
  for (const Address& address : resolution.addresses) out.push_back(address.ip());
  return out;
}

// A resolver and its name server; nothing outside of the process is asked.
struct Net {
  explicit Net(const std::string& lines = "") { write_resolv_conf(lines); }
  ~Net() { std::remove(resolv_conf.c_str()); }

  void write_resolv_conf(const std::string& lines) const {
    std::FILE* file = std::fopen(resolv_conf.c_str(), "w");
    std::fputs(lines.c_str(), file);
    std::fclose(file);
  }

  Result<Resolution> ask(const std::string& name, Family family = Family::kV4Only) {
    std::optional<Result<Resolution>> out;
    const Query query = resolver().resolve(name, family, [&](Result<Resolution> result) {
      out = std::move(result);
      loop.stop();
    });
    EXPECT_FALSE(out) << "called back from inside resolve()";
    loop.run();
    return *std::move(out);
  }
  // A question that must come to addresses, perhaps none.
  Texts addresses(const std::string& name, Family family = Family::kV4Only) {
    const auto result = ask(name, family);
    if (!result) return {result.error().detail};
    return texts(*result);
  }

  Resolver& resolver() {
    if (!made) made.emplace(loop, std::vector{server.endpoint()}, options());
    return *made;
  }
  ResolverOptions options() const {
    return {.first_timeout = patience, .tries = 2, .resolv_conf = resolv_conf};
  }

  const std::string resolv_conf = testing::TempDir() + "resolv.conf." + std::to_string(::getpid());
  std::chrono::milliseconds patience = 10s;  // short where a test waits for it
  event::Loop loop;
  DnsServer server{loop};
  std::optional<Resolver> made;
};

TEST(Resolver, AnAnswerHasItsAddressesInOrderAndTheShortestTtl) {
  Net net;
  net.server.script("A", "orders.test",
                    {.records = {{"A", "10.0.0.2", 30}, {"A", "10.0.0.1", 7}, {"A", "10.0.0.3"}}});
  const auto result = net.ask("orders.test");
  ASSERT_TRUE(result);
  EXPECT_EQ(texts(*result), (Texts{"10.0.0.2", "10.0.0.1", "10.0.0.3"}));
  EXPECT_EQ(result->ttl, 7s);
  EXPECT_EQ(result->addresses[0].port(), 0);
}

TEST(Resolver, AnAliasIsFollowedAndItsTtlCounts) {
  Net net;
  net.server.script("A", "orders.test",
                    {.records = {{"CNAME", "pod.test", 5}, {"A", "10.0.0.1", 60, "pod.test"}}});
  const auto result = net.ask("orders.test");
  ASSERT_TRUE(result);
  EXPECT_EQ(texts(*result), Texts{"10.0.0.1"});
  EXPECT_EQ(result->ttl, 5s);
}

TEST(Resolver, ATruncatedAnswerIsAskedForAgainOverTcp) {
  Net net;
  DnsServer::Reply many{.truncated = true};
  for (int i = 1; i <= 100; ++i) many.records.push_back({"A", "10.0.1." + std::to_string(i)});
  net.server.script("A", "orders.test", many);
  EXPECT_EQ(net.addresses("orders.test").size(), 100u);
  EXPECT_EQ(net.server.questions(), (Texts{"A orders.test", "A orders.test tcp"}));
}

TEST(Resolver, NoSuchNameAndNoSuchRecordAreAnswersWithoutAddresses) {
  Net net;
  net.server.script("A", "only-v6.test", {});
  EXPECT_EQ(net.addresses("nowhere.test"), Texts{});
  EXPECT_EQ(net.addresses("only-v6.test"), Texts{});
}

TEST(Resolver, FailuresAreNoAnswersAndSayWhy) {
  const struct {
    DnsServer::Reply reply;
    Errc code;
  } cases[] = {
      {{.code = Code::kServFail}, Errc::kRefused},
      {{.code = Code::kRefused}, Errc::kRefused},
      {{.silent = true}, Errc::kTimeout},
  };
  for (const auto& one : cases) {
    Net net;
    net.patience = 20ms;
    net.server.script("A", "orders.test", one.reply);
    const auto result = net.ask("orders.test");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, one.code) << result.error().detail;
    EXPECT_EQ(result.error().detail.find("orders.test: "), 0u);
  }
}

TEST(Resolver, ANameThatDnsCannotCarryIsInvalid) {
  Net net;
  const auto result = net.ask(std::string(64, 'a') + ".test");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::kInvalid);
}

TEST(Resolver, TheNextServerIsAskedWhenOneFails) {
  Net net;
  DnsServer other(net.loop);
  net.server.script("A", "orders.test", {.code = Code::kServFail});
  other.script("A", "orders.test", {.records = {{"A", "10.0.0.1"}}});
  net.made.emplace(net.loop, std::vector{net.server.endpoint(), other.endpoint()}, net.options());
  EXPECT_EQ(net.addresses("orders.test"), Texts{"10.0.0.1"});
}

TEST(Resolver, FamiliesAreChosenAsEnvoyDoes) {
  // fe80::1 without a scope is an address that no machine has a route to, ::ffff:127.0.0.1 one that
  // every machine with IPv6 sockets has.
  const DnsServer::Reply none, v4{.records = {{"A", "10.0.0.1"}}};
  const DnsServer::Reply v6{.records = {{"AAAA", "::ffff:127.0.0.1"}}};
  const DnsServer::Reply unroutable{.records = {{"AAAA", "fe80::1"}}};
  const struct {
    Family family;
    DnsServer::Reply a, aaaa;
    Texts expected;
  } cases[] = {
      {Family::kAuto, v4, v6, {"::ffff:127.0.0.1"}},
      {Family::kAuto, v4, none, {"10.0.0.1"}},
      {Family::kAuto, none, v6, {"::ffff:127.0.0.1"}},
      {Family::kAuto, v4, unroutable, {"10.0.0.1"}},
      {Family::kAuto, none, unroutable, {"fe80::1"}},
      {Family::kAuto, none, none, {}},
      {Family::kV4Only, v4, v6, {"10.0.0.1"}},
      {Family::kV4Only, none, v6, {}},
      {Family::kV6Only, v4, v6, {"::ffff:127.0.0.1"}},
      {Family::kV6Only, v4, none, {}},
      {Family::kV4Preferred, v4, v6, {"10.0.0.1"}},
      {Family::kV4Preferred, none, v6, {"::ffff:127.0.0.1"}},
      {Family::kAll, v4, v6, {"::ffff:127.0.0.1", "10.0.0.1"}},
      {Family::kAll, v4, unroutable, {"10.0.0.1"}},
  };
  for (const auto& one : cases) {
    Net net;
    net.server.script("A", "orders.test", one.a);
    net.server.script("AAAA", "orders.test", one.aaaa);
    EXPECT_EQ(net.addresses("orders.test", one.family), one.expected) << (&one - cases);
  }
}

TEST(Resolver, OnlyTheFamiliesThatAreWantedAreAskedFor) {
  Net net;
  (void)net.addresses("orders.test", Family::kV6Only);
  EXPECT_EQ(net.server.questions(), Texts{"AAAA orders.test"});
}

TEST(Resolver, OneFamilysFailureLeavesTheOthersAddresses) {
  Net net;
  net.patience = 20ms;
  net.server.script("A", "orders.test", {.records = {{"A", "10.0.0.1"}}});
  net.server.script("AAAA", "orders.test", {.silent = true});
  EXPECT_EQ(net.addresses("orders.test", Family::kAuto), Texts{"10.0.0.1"});
}

TEST(Resolver, NoAddressesInOneFamilyAndAFailureInTheOtherIsAFailure) {
  const DnsServer::Reply none, failure{.code = Code::kServFail}, silence{.silent = true};
  const DnsServer::Reply cases[][2] = {
      {none, failure}, {failure, none}, {none, silence}, {silence, none}};
  for (const auto& [a, aaaa] : cases) {
    Net net;
    net.patience = 20ms;
    net.server.script("A", "orders.test", a);
    net.server.script("AAAA", "orders.test", aaaa);
    EXPECT_FALSE(net.ask("orders.test", Family::kAuto));
  }
}

TEST(Resolver, LocalhostNeedsNoServer) {
  Net net;
  for (const Family family : {Family::kAuto, Family::kV4Only, Family::kV6Only, Family::kAll}) {
    const auto result = net.ask("localhost", family);
    ASSERT_TRUE(result);
    ASSERT_FALSE(result->addresses.empty());
    EXPECT_TRUE(std::all_of(result->addresses.begin(), result->addresses.end(),
                            [](const Address& address) { return address.is_loopback(); }));
    EXPECT_EQ(result->ttl, 0s);
  }
  EXPECT_EQ(net.server.questions(), Texts{});
}

TEST(Resolver, AnAddressIsItsOwnAnswer) {
  Net net;
  EXPECT_EQ(net.addresses("10.1.2.3"), Texts{"10.1.2.3"});
  EXPECT_EQ(net.addresses("::1", Family::kAuto), Texts{"::1"});
  EXPECT_EQ(net.server.questions(), Texts{});
}

TEST(Resolver, ShortNamesAreSearchedForInTheDomains) {
  Net net("search first.test second.test\noptions ndots:2\n");
  net.server.script("A", "orders.second.test", {.records = {{"A", "10.0.0.1"}}});
  EXPECT_EQ(net.addresses("orders"), Texts{"10.0.0.1"});
  EXPECT_EQ(net.server.questions(), (Texts{"A orders.first.test", "A orders.second.test"}));
}

TEST(Resolver, NamesWithEnoughDotsComeFirstAsTheyAre) {
  Net net("search first.test\noptions ndots:2\n");
  net.server.script("A", "a.b.c", {.records = {{"A", "10.0.0.1"}}});
  EXPECT_EQ(net.addresses("a.b.c"), Texts{"10.0.0.1"});
  EXPECT_EQ(net.server.questions(), Texts{"A a.b.c"});
}

TEST(Resolver, AFullNameIsNotSearchedFor) {
  Net net("search first.test\noptions ndots:2\n");
  EXPECT_EQ(net.addresses("orders."), Texts{});
  EXPECT_EQ(net.server.questions(), Texts{"A orders"});
}

TEST(Resolver, BothFamiliesComeFromTheSameDomain) {
  Net net("search first.test second.test\n");
  net.server.script("A", "orders.first.test", {.records = {{"A", "10.0.0.1"}}});
  net.server.script("AAAA", "orders.second.test", {.records = {{"AAAA", "::ffff:127.0.0.1"}}});
  EXPECT_EQ(net.addresses("orders", Family::kAuto), Texts{"10.0.0.1"});
}

TEST(Resolver, AFailureInOneDomainIsNotAnEmptyAnswer) {
  Net net("search first.test second.test\n");
  net.server.script("A", "orders.first.test", {.code = Code::kServFail});
  EXPECT_FALSE(net.ask("orders"));
  EXPECT_EQ(net.server.questions().back(), "A orders.first.test");
}

TEST(Resolver, AFailureHasResolvConfReadAgain) {
  Net net("search old.test\n");
  net.server.script("A", "orders.old.test", {.code = Code::kServFail});
  net.server.script("A", "orders.new.test", {.records = {{"A", "10.0.0.1"}}});
  EXPECT_FALSE(net.ask("orders"));
  net.write_resolv_conf("search new.test\n");
  EXPECT_EQ(net.addresses("orders"), Texts{"10.0.0.1"});
}

TEST(Resolver, QuestionsAreAnsweredIndependently) {
  Net net;
  net.server.script("A", "slow.test", {.silent = true});
  net.server.script("A", "orders.test", {.records = {{"A", "10.0.0.1"}}});
  bool slow_ended = false;
  const Query slow = net.resolver().resolve("slow.test", Family::kV4Only,
                                            [&](Result<Resolution>) { slow_ended = true; });
  EXPECT_EQ(net.addresses("orders.test"), Texts{"10.0.0.1"});
  EXPECT_FALSE(slow_ended);
}

TEST(Resolver, ACancelledQuestionCallsNobody) {
  Net net;
  net.patience = 20ms;
  net.server.script("A", "slow.test", {.silent = true});
  net.server.script("A", "slower.test", {.silent = true});
  bool called = false;
  const auto call = [&](Result<Resolution>) { called = true; };
  Query in_hosts_file = net.resolver().resolve("localhost", Family::kAuto, call);
  Query asked = net.resolver().resolve("slow.test", Family::kV4Only, call);
  in_hosts_file = Query();
  asked = Query();
  EXPECT_FALSE(net.ask("slower.test"));  // ends after the cancelled ones would have
  EXPECT_FALSE(called);
}

TEST(Resolver, TheLastQuestionMayBeReplacedFromItsOwnAnswer) {
  Net net;
  net.server.script("A", "orders.test", {.records = {{"A", "10.0.0.1"}}});
  Query query;
  query = net.resolver().resolve("orders.test", Family::kV4Only, [&](Result<Resolution>) {
    query = net.resolver().resolve("localhost", Family::kV4Only,
                                   [&](Result<Resolution>) { net.loop.stop(); });
  });
  net.loop.run();
  EXPECT_EQ(net.server.questions(), Texts{"A orders.test"});
}

TEST(Resolver, MayEndWhileQuestionsThatNobodyWaitsForAreOpen) {
  Net net;
  net.server.script("AAAA", "orders.test", {.silent = true});
  bool called = false;
  {
    const Query query = net.resolver().resolve("orders.test", Family::kAll,
                                               [&](Result<Resolution>) { called = true; });
  }
  net.made.reset();
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace damper::net
