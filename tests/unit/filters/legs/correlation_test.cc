#include "filters/legs/correlation.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace damper::legs {
namespace {

using namespace std::chrono_literals;
using Match = Correlation::Match;

constexpr TimePoint kNow{1h};

std::shared_ptr<InboundLeg> leg(std::optional<TimePoint> deadline = std::nullopt,
                                std::uint32_t attempts = 1, std::uint64_t nonce = 0) {
  auto out = std::make_shared<InboundLeg>();
  out->deadline = deadline;
  out->attempts = attempts;
  out->nonce = nonce;
  return out;
}

TraceIds by_trace(std::string_view id, std::optional<std::uint64_t> nonce = std::nullopt) {
  return {.trace = id, .request = {}, .b3 = {}, .nonce = nonce};
}
TraceIds by_request(std::string_view id) {
  return {.trace = {}, .request = id, .b3 = {}, .nonce = std::nullopt};
}
TraceIds by_b3(std::string_view id) {
  return {.trace = {}, .request = {}, .b3 = id, .nonce = std::nullopt};
}

class CorrelationTest : public testing::Test {
 protected:
  std::size_t found(const TraceIds& ids, TimePoint now = kNow) {
    return table.find(ids, now).legs.size();
  }

  Correlation table{7};
};

TEST_F(CorrelationTest, ARequestIsFoundByAnyOfItsIds) {
  const auto request = leg();
  ASSERT_TRUE(table.add(request, {"t", "r", "b", std::nullopt}, kNow));
  for (const TraceIds& ids : {by_trace("t"), by_request("r"), by_b3("b"),
                              TraceIds{"other", "r", "other", std::nullopt}}) {
    const Correlation::Found found = table.find(ids, kNow);
    EXPECT_EQ(found.match, Match::kById);
    EXPECT_EQ(found.legs, InboundLegs{request});
  }
  for (const TraceIds& ids : {TraceIds{}, by_trace("x"), by_request("x"), by_b3("x")}) {
    EXPECT_EQ(table.find(ids, kNow).match, Match::kNone);
  }
}

TEST_F(CorrelationTest, KindsOfIdsDoNotMix) {
  ASSERT_TRUE(table.add(leg(), by_request("4bf92f3577b34da6"), kNow));
  EXPECT_EQ(found(by_trace("4bf92f3577b34da6")), 0u);
  EXPECT_EQ(found(by_b3("4bf92f3577b34da6")), 0u);
  EXPECT_EQ(found(by_request("4bf92f3577b34da6")), 1u);
}

TEST_F(CorrelationTest, WithoutAnIdNothingIsKept) {
  EXPECT_FALSE(table.add(leg(), {}, kNow));
  EXPECT_EQ(table.size(), 0u);
}

TEST_F(CorrelationTest, TheNonceTellsRequestsOfOneTraceApart) {
  const auto first = leg({}, 1, 11);
  const auto second = leg({}, 1, 12);
  table.add(first, by_trace("t"), kNow);
  table.add(second, by_trace("t"), kNow);
  const Correlation::Found exact = table.find(by_trace("t", 12), kNow);
  EXPECT_EQ(exact.match, Match::kExact);
  EXPECT_EQ(exact.legs, InboundLegs{second});
  EXPECT_EQ(table.find(by_trace("t", 13), kNow).match, Match::kById);  // another host's
  EXPECT_EQ(found(by_trace("t")), 2u);
}

TEST_F(CorrelationTest, AnAnswerFreesTheIds) {
  const auto request = leg({}, 1, 11);
  const auto other = leg({}, 1, 12);
  table.add(request, {"t", "r", "b", std::nullopt}, kNow);
  table.add(other, by_request("r"), kNow);
  table.remove(*request);
  EXPECT_EQ(found(by_trace("t", 11)), 0u);
  EXPECT_EQ(found(by_b3("b")), 0u);
  EXPECT_EQ(table.find(by_request("r"), kNow).legs, InboundLegs{other});
  table.remove(*other);
  EXPECT_EQ(table.size(), 0u);
}

TEST_F(CorrelationTest, AnAbandonedRequestIsRememberedBeyondItsDeadline) {
  const auto request = leg(kNow + 5s);
  table.add(request, by_request("r"), kNow);
  EXPECT_FALSE(request->abandoned());
  table.abandon(*request, kNow + 1s);
  EXPECT_TRUE(request->abandoned());
  EXPECT_EQ(found(by_request("r"), kNow + 35s - 1ns), 1u);
  EXPECT_EQ(found(by_request("r"), kNow + 35s), 0u);
  EXPECT_EQ(table.size(), 0u);
}

TEST_F(CorrelationTest, WithoutADeadlineAnAbandonedRequestIsRememberedFromNowOn) {
  for (const auto deadline : {std::optional<TimePoint>{}, std::optional(kNow - 5s)}) {
    const auto request = leg(deadline);
    table.add(request, by_b3("b"), kNow - 10s);
    table.abandon(*request, kNow);
    EXPECT_EQ(found(by_b3("b"), kNow + 30s - 1ns), 1u);
    EXPECT_EQ(found(by_b3("b"), kNow + 30s), 0u);
  }
}

TEST_F(CorrelationTest, OverSixteenUnderOneIdAreTooMany) {
  InboundLegs legs;
  for (std::size_t i = 0; i < Correlation::kMostUnderOneId; ++i) {
    legs.push_back(leg({}, 1, i + 1));
    table.add(legs.back(), by_trace("t"), kNow);
  }
  EXPECT_EQ(found(by_trace("t")), 16u);
  legs.push_back(leg({}, 1, 17));
  table.add(legs.back(), by_trace("t"), kNow);
  const Correlation::Found many = table.find(by_trace("t"), kNow);
  EXPECT_EQ(many.match, Match::kTooMany);
  EXPECT_TRUE(many.legs.empty());
  EXPECT_EQ(table.find(by_trace("t", 17), kNow).legs, InboundLegs{legs.back()});
  table.remove(*legs.front());
  EXPECT_EQ(found(by_trace("t")), 16u);
}

TEST_F(CorrelationTest, AFullTableTakesNothingUntilSomethingExpires) {
  Correlation small(7, 16);  // one in each shard
  const auto first = leg();
  ASSERT_TRUE(small.add(first, by_request("r"), kNow));
  EXPECT_FALSE(small.add(leg(), by_request("r"), kNow));
  small.abandon(*first, kNow);
  EXPECT_FALSE(small.add(leg(), by_request("r"), kNow + 29s));
  EXPECT_TRUE(small.add(leg(), by_request("r"), kNow + 30s));
  EXPECT_EQ(small.size(), 1u);
}

TEST_F(CorrelationTest, TheTableIsBounded) {
  Correlation small(7, 160);
  for (int i = 0; i < 1000; ++i) small.add(leg(), by_request(std::to_string(i)), kNow);
  EXPECT_EQ(small.size(), 160u);
}

TEST(InboundLeg, KeepsTheLastMark) {
  InboundLeg request;
  EXPECT_EQ(request.final_mark(), "");
  request.mark("final; by=a");
  request.mark("final; by=b");
  EXPECT_EQ(request.final_mark(), "final; by=b");
}

// --- What a call takes over ----------------------------------------------------------------------

std::shared_ptr<InboundLeg> owned_above() {
  auto out = leg();
  out->owned_above = true;
  return out;
}

std::shared_ptr<InboundLeg> abandoned() {
  Correlation table(7);
  auto out = leg();
  table.add(out, by_request("r"), kNow);
  table.abandon(*out, kNow);
  return out;
}

TEST(Inheritance, IsAllOfASingleRequest) {
  EXPECT_EQ(inherit({}), Inheritance{});
  EXPECT_EQ(inherit({leg(kNow, 3)}), (Inheritance{kNow, 3, false}));
  EXPECT_EQ(inherit({owned_above()}), (Inheritance{std::nullopt, 1, true}));
  EXPECT_EQ(inherit({abandoned()}), (Inheritance{std::nullopt, 1, true}));
}

TEST(Inheritance, OfSeveralIsTheLeastStrict) {
  EXPECT_EQ(inherit({leg(kNow, 3), leg(kNow + 1s, 2), leg(kNow - 1s, 4)}),
            (Inheritance{kNow + 1s, 2, false}));
  EXPECT_EQ(inherit({leg(kNow), leg(), leg(kNow + 1s)}), (Inheritance{std::nullopt, 1, false}));
  EXPECT_TRUE(inherit({owned_above(), abandoned()}).no_retry);
  EXPECT_FALSE(inherit({owned_above(), leg()}).no_retry);
  EXPECT_FALSE(inherit({leg(), abandoned()}).no_retry);
}

// --- From several threads ------------------------------------------------------------------------

// Requests come, are called for, marked and end, all under a few ids that every thread uses.
void use(Correlation& table, std::uint64_t thread, std::atomic<int>& exact) {
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const TimePoint now = kNow + i * 1s;
    const std::string id = std::to_string(i % 5);
    const std::uint64_t nonce = thread << 32 | i;
    const auto request = leg(now + 1ms, 1, nonce);
    table.add(request, {id, id, id, std::nullopt}, now);
    for (const TraceIds& ids : {by_trace(id, nonce), by_request(id), by_b3(id)}) {
      const Correlation::Found found = table.find(ids, now);
      if (found.match == Match::kExact) ++exact;
      for (const auto& other : found.legs) other->mark("final; by=" + id);
      inherit(found.legs);
    }
    EXPECT_EQ(request->final_mark(), "final; by=" + id);
    if (i % 2 == 0) {
      table.remove(*request);
    } else {
      table.abandon(*request, now);
    }
  }
}

TEST(Correlation, IsSharedByThreads) {
  Correlation table(7);
  std::atomic<int> exact{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 1; t <= 4; ++t) {
    threads.emplace_back([&table, &exact, t] { use(table, t, exact); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(exact, 4 * 2000);
  for (int i = 0; i < 5; ++i) {
    const std::string id = std::to_string(i);
    EXPECT_EQ(table.find({id, id, id, std::nullopt}, kNow + 1h).match, Match::kNone);
  }
}

}  // namespace
}  // namespace damper::legs
