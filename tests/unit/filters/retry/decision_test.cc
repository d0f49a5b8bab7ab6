#include "filters/retry/decision.h"

#include <gtest/gtest.h>

#include "tests/support/outcomes.h"

namespace damper::retry {
namespace {

using namespace std::chrono_literals;
using tests::failed;
using tests::keep_alive_race;
using tests::Response;
using tests::retry_on;

config::Thresholds with_budget(const config::RetryBudget& budget) {
  return {.retry_budget = budget};
}

// One request on one cluster. Tickets are dropped at once, as after an attempt that has ended.
struct Request {
  explicit Request(std::string_view conditions = "5xx,connect-failure,retriable-status-codes") {
    policy.retry_on = retry_on(conditions);
    policy.num_retries = 2;
    policy.retriable_status_codes = {429, 503};
    traits.repeatable = true;
  }

  Decision decide(const Outcome& outcome) {
    if (!state) state.emplace(&policy, traits);
    if (!account) account.emplace(budget, 0, "route", "GET", now);
    Decision decision = state->on_outcome(outcome, situation, *account, now, random);
    if (auto* retry = std::get_if<Retry>(&decision)) retry->ticket.attempt_started();
    return decision;
  }
  std::optional<Retry> retry(const Outcome& outcome) {
    Decision decision = decide(outcome);
    if (auto* retry = std::get_if<Retry>(&decision)) return std::move(*retry);
    return std::nullopt;
  }
  // "retry", or the verdict's word.
  std::string_view ask(const Outcome& outcome) {
    const Decision decision = decide(outcome);
    const auto* refused = std::get_if<GiveUp>(&decision);
    return refused ? word(refused->verdict) : "retry";
  }

  config::RetryPolicy policy;
  RequestTraits traits;
  Situation situation;
  upstream::RetryBudget budget{with_budget({.disabled = true}), 1};
  TimePoint now{1h};
  std::optional<upstream::BudgetAccount> account;
  Random random{7};
  std::optional<RetryState> state;
};

TEST(Decision, ASuccessIsNoRefusal) {
  EXPECT_EQ(Request().ask(Response(200).outcome()), "");
  EXPECT_EQ(Request().ask(Response(404).outcome()), "");
  Request started;
  started.situation.response_started = true;
  EXPECT_EQ(started.ask(Response(200).outcome()), "");
}

TEST(Decision, WithoutAPolicyNothingIsRefused) {
  Request r;
  r.state.emplace(nullptr, r.traits);
  EXPECT_EQ(r.ask(Response(503).outcome()), "");
  EXPECT_EQ(Request("").ask(failed(Failure::kReset)), "");
}

TEST(Decision, AFailureThatRetryOnDoesNotWantIsNotRetriable) {
  EXPECT_EQ(Request("connect-failure").ask(Response(500).outcome()), "not_retriable");
  EXPECT_EQ(Request("connect-failure").ask(Response(429).outcome()), "not_retriable");
  EXPECT_EQ(Request("connect-failure").ask(failed(Failure::kReset)), "not_retriable");
  EXPECT_EQ(Request("5xx").ask(failed(Failure::kOverflow, false)), "not_retriable");
}

TEST(Decision, NumRetriesAreTheLimit) {
  Request r;
  EXPECT_EQ(r.ask(Response(503).outcome()), "retry");
  EXPECT_EQ(r.ask(failed(Failure::kConnectFailure, false)), "retry");
  EXPECT_EQ(r.ask(Response(503).outcome()), "limit");
  EXPECT_EQ(r.state->attempts(), 3u);

  Request none;
  none.policy.num_retries = 0;
  EXPECT_EQ(none.ask(Response(503).outcome()), "limit");
}

TEST(Decision, TheFirstReasonInOrderIsTheVerdict) {
  // Everything speaks against this retry; one reason after the other is taken away.
  Request r("5xx");
  r.policy.num_retries = 0;
  r.traits.repeatable = false;
  r.situation = {.response_started = true,
                 .body_replayable = false,
                 .time_left = 0ms,
                 .live = LiveMode::kOff,
                 .breaker_open = true};
  r.budget.reconfigure(with_budget({.concurrency = config::BudgetConcurrency{0, 0},
                                    .window = config::BudgetWindow{.min_retries = 0},
                                    .max_retries_per_second = 0}));
  const Response marked(503, {{"x-damper-retry", "final"}});
  const Response plain(503);

  EXPECT_EQ(r.ask(marked.outcome()), "response_started");
  r.situation.response_started = false;
  r.traits.headers_allow = false;
  r.state.reset();
  EXPECT_EQ(r.ask(marked.outcome()), "not_retriable");
  r.traits.headers_allow = true;
  r.state.reset();
  EXPECT_EQ(r.ask(marked.outcome()), "marked");
  EXPECT_EQ(r.ask(plain.outcome()), "not_idempotent");
  r.traits.repeatable = true;
  r.state.reset();
  EXPECT_EQ(r.ask(plain.outcome()), "body_lost");
  r.situation.body_replayable = true;
  EXPECT_EQ(r.ask(plain.outcome()), "limit");
  r.policy.num_retries = 1;
  EXPECT_EQ(r.ask(plain.outcome()), "deadline");
  r.situation.time_left.reset();
  EXPECT_EQ(r.ask(plain.outcome()), "live_off");
  r.situation.live = LiveMode::kNormal;
  EXPECT_EQ(r.ask(plain.outcome()), "breaker_open");
  r.situation.breaker_open = false;
  EXPECT_EQ(r.ask(plain.outcome()), "budget_concurrency");
  r.budget.reconfigure(
      with_budget({.window = config::BudgetWindow{.min_retries = 0}, .max_retries_per_second = 0}));
  EXPECT_EQ(r.ask(plain.outcome()), "budget_window");
  r.budget.reconfigure(with_budget({.max_retries_per_second = 0}));
  EXPECT_EQ(r.ask(plain.outcome()), "budget_rate");
  r.budget.reconfigure(with_budget({.disabled = true}));
  EXPECT_EQ(r.ask(plain.outcome()), "retry");
}

TEST(Decision, MarksAreHeededUnlessTheyAreToBeIgnored) {
  const Response marked(503, {{"x-damper-retry", "final; by=b; attempts=3; verdict=limit"}});
  EXPECT_EQ(Request().ask(marked.outcome()), "marked");
  Request ignoring;
  ignoring.situation.heed_marks = false;
  EXPECT_EQ(ignoring.ask(marked.outcome()), "retry");
}

TEST(Decision, ARatelimitedAnswerIsMarked) {
  const Response limited(503, {{"x-envoy-ratelimited", "true"}});
  EXPECT_EQ(Request().ask(limited.outcome()), "marked");
  EXPECT_EQ(Request("5xx,envoy-ratelimited").ask(limited.outcome()), "retry");
  EXPECT_EQ(Request("reset").ask(limited.outcome()), "not_retriable");
}

TEST(Decision, ALayerAboveMayKeepTheRetriesForItself) {
  Request owned;
  owned.traits.owned_above = true;
  EXPECT_EQ(owned.ask(Response(503).outcome()), "marked");
}

TEST(Decision, APostIsRepeatedOnlyIfItWasSurelyNotProcessed) {
  const auto post = [](const Outcome& outcome) {
    Request r("5xx");
    r.traits.repeatable = false;
    return r.ask(outcome);
  };
  EXPECT_EQ(post(failed(Failure::kReset)), "not_idempotent");
  EXPECT_EQ(post(failed(Failure::kPerTryTimeout)), "not_idempotent");
  EXPECT_EQ(post(Response(503).outcome()), "not_idempotent");
  EXPECT_EQ(post(failed(Failure::kReset, false)), "retry");
  EXPECT_EQ(post(failed(Failure::kConnectTimeout, false)), "retry");
  EXPECT_EQ(post(failed(Failure::kRefusedStream)), "retry");
}

TEST(Decision, TheFirstKeepAliveRaceIsFreeOfNumRetries) {
  Request r("connect-failure");
  r.policy.num_retries = 1;
  EXPECT_EQ(r.ask(keep_alive_race()), "retry");
  EXPECT_EQ(r.ask(keep_alive_race()), "retry");  // this one counts
  EXPECT_EQ(r.ask(keep_alive_race()), "limit");
  EXPECT_EQ(r.state->attempts(), 3u);
}

TEST(Decision, NoRetriesMeansNoneAfterAKeepAliveRaceEither) {
  Request r("connect-failure");
  r.policy.num_retries = 0;
  EXPECT_EQ(r.ask(keep_alive_race()), "limit");
}

TEST(Decision, UnderResetAloneAKeepAliveRaceCounts) {
  Request r("reset");
  r.policy.num_retries = 1;
  EXPECT_EQ(r.ask(keep_alive_race()), "retry");
  EXPECT_EQ(r.ask(keep_alive_race()), "limit");
}

TEST(Decision, AFreeRetryIsStillCountedInTheBudget) {
  Request r("connect-failure");
  r.budget.reconfigure(with_budget({.window = config::BudgetWindow{}}));
  EXPECT_EQ(r.ask(keep_alive_race()), "retry");
  EXPECT_EQ(r.budget.live().charged(r.now), 1u);
}

TEST(Decision, TheWaitBacksOffWithEachRetry) {
  Request r;
  r.policy.back_off = {.base_interval = 100ms, .max_interval = 300ms};
  r.policy.num_retries = 100;
  Duration longest{};
  EXPECT_LT(r.retry(Response(503).outcome())->wait, 100ms);
  EXPECT_LT(r.retry(Response(503).outcome())->wait, 200ms);
  for (int i = 0; i < 98; ++i) {
    const auto retry = r.retry(Response(503).outcome());
    EXPECT_FALSE(retry->from_retry_after);
    EXPECT_EQ(retry->cause, "503");
    longest = std::max(longest, retry->wait);
  }
  EXPECT_GT(longest, 250ms);
  EXPECT_LT(longest, 300ms);
}

TEST(Decision, RetryAfterIsObeyed) {
  for (const int status : {429, 503, 500}) {
    Request r;
    const auto retry = r.retry(Response(status, {{"retry-after", "2"}}).outcome());
    ASSERT_TRUE(retry) << status;
    EXPECT_TRUE(retry->from_retry_after);
    EXPECT_GE(retry->wait, 2s);
    EXPECT_LT(retry->wait, 3s);
  }
}

TEST(Decision, ARetryAfterThatDoesNotFitGivesTheAnswerBackAtOnce) {
  const Response later(503, {{"retry-after", "2"}});
  const auto with_time = [&](Duration left) {
    Request r;
    r.situation.time_left = left;
    r.situation.min_attempt_time = 10ms;
    return r.ask(later.outcome());
  };
  EXPECT_EQ(with_time(2009ms), "deadline");
  EXPECT_EQ(with_time(2010ms), "retry");
  EXPECT_EQ(Request().ask(Response(503, {{"retry-after", "31"}}).outcome()), "deadline");
  EXPECT_EQ(Request().ask(Response(503, {{"retry-after", "30"}}).outcome()), "retry");
}

TEST(Decision, TheWaitAfterRetryAfterStaysWithinTheTimeLeft) {
  for (int i = 0; i < 200; ++i) {
    Request r;
    r.random = Random(static_cast<std::uint64_t>(i));
    r.situation.time_left = 2200ms;
    r.situation.min_attempt_time = 50ms;
    const auto retry = r.retry(Response(503, {{"retry-after", "2"}}).outcome());
    ASSERT_TRUE(retry);
    EXPECT_LE(retry->wait, 2150ms);
  }
}

TEST(Decision, GarbageInRetryAfterIsCountedAndBacksOffOrdinarily) {
  Request r;
  const auto retry = r.retry(Response(503, {{"retry-after", "soon"}}).outcome());
  EXPECT_LT(retry->wait, 25ms);
  EXPECT_FALSE(retry->from_retry_after);
  EXPECT_EQ(r.state->take_unreadable_retry_afters(), 1u);
}

TEST(Decision, TooManyRequestsWithoutRetryAfterBacksOffFromOneSecond) {
  Duration longest{};
  for (int i = 0; i < 200; ++i) {
    Request r;
    r.random = Random(static_cast<std::uint64_t>(i));
    longest = std::max(longest, r.retry(Response(429).outcome())->wait);
  }
  EXPECT_GT(longest, 900ms);
  EXPECT_LT(longest, 1s);
}

TEST(Decision, ARetryIsRefusedIfItsWaitAndAnAttemptDoNotFit) {
  Request r;
  r.policy.back_off = {.base_interval = 1ns, .max_interval = 1ns};  // always 0
  r.situation.min_attempt_time = 20ms;
  r.situation.time_left = 19ms;
  EXPECT_EQ(r.ask(Response(503).outcome()), "deadline");
  r.situation.time_left = 20ms;
  EXPECT_EQ(r.ask(Response(503).outcome()), "retry");
}

TEST(Decision, AnOrdinaryWaitIsDrawnFromWhatFits) {
  Duration longest{};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Request r;
    r.random = Random(seed);
    r.policy.back_off = {.base_interval = 1s, .max_interval = 1s};
    r.situation.min_attempt_time = 20ms;
    r.situation.time_left = 60ms;
    const auto retry = r.retry(Response(503).outcome());
    ASSERT_TRUE(retry) << seed;
    longest = std::max(longest, retry->wait);
  }
  EXPECT_GT(longest, 35ms);
  EXPECT_LT(longest, 40ms);
}

TEST(Decision, AWaitAfterTooManyRequestsIsNotShortenedToFit) {
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Request r;
    r.random = Random(seed);
    r.situation.time_left = 500ms;
    if (r.ask(Response(429).outcome()) == "deadline") ++refused;
  }
  EXPECT_NEAR(refused, 100, 30);  // of draws from [0, 1 s)
}

TEST(Decision, AnOperatorMayLeaveOnlyConnectFailures) {
  Request r("5xx");
  r.situation.live = LiveMode::kConnectFailureOnly;
  EXPECT_EQ(r.ask(Response(503).outcome()), "live_off");
  EXPECT_EQ(r.ask(failed(Failure::kReset)), "live_off");
  EXPECT_EQ(r.ask(failed(Failure::kConnectFailure, false)), "retry");
  EXPECT_EQ(r.ask(failed(Failure::kConnectTimeout, false)), "retry");
}

TEST(Decision, ARefusalBeforeTheBudgetCostsNothing) {
  Request r;
  r.budget.reconfigure(with_budget({.window = config::BudgetWindow{}}));
  r.situation.time_left = 0ms;
  EXPECT_EQ(r.ask(Response(503).outcome()), "deadline");
  EXPECT_EQ(r.budget.live().charged(r.now), 0u);
}

// What one retry after `outcome` is charged.
std::uint64_t cost(const Outcome& outcome, bool next_host_is_well) {
  Request r("5xx");
  r.situation.next_host_is_well = next_host_is_well;
  r.budget.reconfigure(with_budget({.window = config::BudgetWindow{.min_retries = 100}}));
  EXPECT_EQ(r.ask(outcome), "retry");
  return r.budget.live().charged(r.now);
}

TEST(Decision, ARetryCostsWhatItFollows) {
  Outcome goaway = failed(Failure::kRefusedStream);
  goaway.graceful_goaway = true;
  EXPECT_EQ(cost(Response(503).outcome(), true), 1u);
  EXPECT_EQ(cost(failed(Failure::kReset), true), 1u);
  EXPECT_EQ(cost(failed(Failure::kConnectTimeout, false), true), 1u);
  EXPECT_EQ(cost(failed(Failure::kRefusedStream), true), 1u);
  EXPECT_EQ(cost(failed(Failure::kPerTryTimeout), true), 3u);
  EXPECT_EQ(cost(failed(Failure::kPerTryIdleTimeout), true), 3u);
  EXPECT_EQ(cost(failed(Failure::kConnectFailure, false), true), 0u);
  EXPECT_EQ(cost(goaway, true), 0u);
  EXPECT_EQ(cost(failed(Failure::kConnectFailure, false), false), 1u);
  EXPECT_EQ(cost(goaway, false), 1u);
}

TEST(Decision, ARequestIsSparedTheCostOnce) {
  Request r("5xx");
  r.situation.next_host_is_well = true;
  r.budget.reconfigure(with_budget({.window = config::BudgetWindow{}}));
  EXPECT_EQ(r.ask(failed(Failure::kConnectFailure, false)), "retry");
  EXPECT_EQ(r.budget.live().charged(r.now), 0u);
  EXPECT_EQ(r.ask(failed(Failure::kConnectFailure, false)), "retry");
  EXPECT_EQ(r.budget.live().charged(r.now), 1u);
}

TEST(Decision, EveryRetriableFailureTakesATokenWhetherOrNotARetryFollows) {
  Request r("5xx");
  r.policy.num_retries = 0;
  r.budget.reconfigure(
      with_budget({.throttle = config::BudgetThrottle{.max_tokens = 4, .token_ratio = 1}}));
  EXPECT_EQ(r.ask(Response(503).outcome()), "limit");
  EXPECT_EQ(r.ask(Response(404).outcome()), "");  // nothing that anybody wants to retry
  Request other("5xx");
  upstream::BudgetAccount account(r.budget, 0, "route", "GET", r.now);
  RetryState state(&other.policy, other.traits);
  const auto second = state.on_outcome(Response(503).outcome(), {}, account, r.now, r.random);
  EXPECT_EQ(std::get<GiveUp>(second).verdict, Verdict::kBudgetThrottle);  // 2 of 4 are left
}

// --- A second attempt beside the first -----------------------------------------------------------

TEST(Decision, WantedIsWhatNobodyWouldRetry) {
  Request r("5xx");
  const RetryState state(&r.policy, r.traits);
  EXPECT_TRUE(state.is_wanted(Response(200).outcome()));
  EXPECT_TRUE(state.is_wanted(Response(404).outcome()));
  EXPECT_FALSE(state.is_wanted(Response(503).outcome()));
  EXPECT_FALSE(state.is_wanted(failed(Failure::kReset)));
  const Request listed("retriable-status-codes");
  EXPECT_FALSE(RetryState(&listed.policy, r.traits).is_wanted(Response(429).outcome()));
  EXPECT_FALSE(RetryState(&listed.policy, r.traits).is_wanted(Response(500).outcome()));
  const RetryState without_policy(nullptr, r.traits);
  EXPECT_TRUE(without_policy.is_wanted(Response(200).outcome()));
  EXPECT_FALSE(without_policy.is_wanted(Response(503).outcome()));
  EXPECT_FALSE(without_policy.is_wanted(failed(Failure::kReset)));
}

// Is there a second attempt beside the first?
bool hedges(Request& r) {
  if (!r.state) r.state.emplace(&r.policy, r.traits);
  if (!r.account) r.account.emplace(r.budget, 0, "route", "GET", r.now);
  auto ticket = r.state->hedge(r.situation, *r.account, r.now);
  if (ticket) ticket->attempt_started();
  return ticket.has_value();
}

TEST(Decision, AHedgeIsOneOfNumRetries) {
  Request r("5xx");
  EXPECT_TRUE(hedges(r));
  EXPECT_EQ(r.state->attempts(), 2u);
  EXPECT_EQ(r.ask(Response(503).outcome()), "retry");
  EXPECT_EQ(r.ask(Response(503).outcome()), "limit");
  EXPECT_FALSE(hedges(r));
  EXPECT_EQ(r.state->attempts(), 3u);
}

TEST(Decision, WithoutAPolicyThereIsOneHedge) {
  Request r;
  r.state.emplace(nullptr, r.traits);
  EXPECT_TRUE(hedges(r));
  EXPECT_FALSE(hedges(r));
}

TEST(Decision, WhatSpeaksAgainstARetrySpeaksAgainstAHedge) {
  const std::pair<const char*, void (*)(Request&)> reasons[] = {
      {"the response has begun", [](Request& r) { r.situation.response_started = true; }},
      {"not repeatable", [](Request& r) { r.traits.repeatable = false; }},
      {"a layer above retries", [](Request& r) { r.traits.owned_above = true; }},
      {"the body is lost", [](Request& r) { r.situation.body_replayable = false; }},
      {"num_retries", [](Request& r) { r.policy.num_retries = 0; }},
      {"the deadline",
       [](Request& r) { r.situation.time_left = r.situation.min_attempt_time - 1ns; }},
      {"off", [](Request& r) { r.situation.live = LiveMode::kOff; }},
      {"connect failures only",
       [](Request& r) { r.situation.live = LiveMode::kConnectFailureOnly; }},
      {"the breaker is open", [](Request& r) { r.situation.breaker_open = true; }},
      {"the budget",
       [](Request& r) { r.budget.reconfigure(with_budget({.max_retries_per_second = 0})); }}};
  for (const auto& [what, happens] : reasons) {
    Request r;
    happens(r);
    EXPECT_FALSE(hedges(r)) << what;
    EXPECT_EQ(r.state->attempts(), 1u);
  }
  Request in_time;
  in_time.situation.time_left = in_time.situation.min_attempt_time;
  EXPECT_TRUE(hedges(in_time));
  // To believe no mark of an upstream does not mean to disobey a layer above.
  Request owned;
  owned.traits.owned_above = true;
  owned.situation.heed_marks = false;
  EXPECT_FALSE(hedges(owned));
}

TEST(Decision, HedgesGetHalfOfTheWindow) {
  Request r;
  r.policy.num_retries = 10;
  r.budget.reconfigure(with_budget({.window = config::BudgetWindow{.min_retries = 4}}));
  EXPECT_TRUE(hedges(r));
  EXPECT_TRUE(hedges(r));
  EXPECT_FALSE(hedges(r));
  EXPECT_EQ(r.ask(Response(503).outcome()), "retry");
}

// --- gRPC's status at the end of an answer -------------------------------------------------------

// What was against a retry at the head, and the verdict when this status comes late.
std::string_view late(Request& r, const Outcome& outcome) {
  if (!r.state) r.state.emplace(&r.policy, r.traits);
  if (!r.account) r.account.emplace(r.budget, 0, "route", "/s/M", r.now);
  r.state->on_grpc_head(r.situation);
  return word(r.state->on_late_status(outcome, r.situation.heed_marks, *r.account));
}

TEST(LateStatus, HasTheVerdictThatStoodAtTheHead) {
  const Response unavailable(200, {{"grpc-status", "14"}});
  const auto verdict = [&](auto change) {
    Request r("unavailable");
    change(r);
    return late(r, unavailable.grpc_outcome());
  };
  EXPECT_EQ(verdict([](Request&) {}), "response_started");
  EXPECT_EQ(verdict([](Request& r) { r.policy.num_retries = 0; }), "limit");
  EXPECT_EQ(verdict([](Request& r) { r.situation.body_replayable = false; }), "body_lost");
  EXPECT_EQ(verdict([](Request& r) { r.situation.time_left = 0ms; }), "deadline");
  EXPECT_EQ(verdict([](Request& r) { r.situation.live = LiveMode::kOff; }), "live_off");
  EXPECT_EQ(verdict([](Request& r) { r.situation.breaker_open = true; }), "breaker_open");
  EXPECT_EQ(verdict([](Request& r) { r.traits.repeatable = false; }), "not_idempotent");
  EXPECT_EQ(verdict([](Request& r) { r.traits.owned_above = true; }), "marked");
  EXPECT_EQ(verdict([](Request& r) { r.policy.retry_on = retry_on("internal"); }), "not_retriable");
  EXPECT_EQ(verdict([](Request& r) { r.policy.retry_on = {}; }), "");
}

TEST(LateStatus, OfASuccessIsNoVerdict) {
  Request r("unavailable");
  EXPECT_EQ(late(r, Response(200, {{"grpc-status", "0"}}).grpc_outcome()), "");
  EXPECT_EQ(late(r, Response(200, {{"grpc-status", "5"}}).grpc_outcome()), "");
  EXPECT_EQ(late(r, Response(200).grpc_outcome()), "not_retriable");
  EXPECT_EQ(late(r, failed(Failure::kReset)), "response_started");
}

TEST(LateStatus, MarksGoBeforeWhatStoodAtTheHead) {
  Request r("unavailable");
  r.policy.num_retries = 0;
  const Response marked(200, {{"grpc-status", "14"}, {"x-damper-retry", "final"}});
  EXPECT_EQ(late(r, marked.grpc_outcome()), "marked");
  r.situation.heed_marks = false;
  EXPECT_EQ(late(r, marked.grpc_outcome()), "limit");
}

TEST(GrpcHead, IsWorthAWaitIfItsStatusCouldLeadToARetry) {
  const auto worth = [](auto change) {
    Request r("unavailable");
    change(r);
    return RetryState(&r.policy, r.traits).on_grpc_head(r.situation);
  };
  EXPECT_TRUE(worth([](Request&) {}));
  EXPECT_FALSE(worth([](Request& r) { r.policy.num_retries = 0; }));
  EXPECT_FALSE(worth([](Request& r) { r.traits.headers_allow = false; }));
  EXPECT_FALSE(worth([](Request& r) { r.traits.repeatable = false; }));
  EXPECT_TRUE(worth([](Request& r) {
    r.traits.repeatable = false;
    r.policy.retry_non_idempotent_on = {503};
  }));
  Request http("5xx");
  EXPECT_FALSE(RetryState(&http.policy, http.traits).watches_grpc());
  EXPECT_FALSE(RetryState(nullptr, http.traits).watches_grpc());
}

}  // namespace
}  // namespace damper::retry
