#include "upstream/budget_ledger.h"

#include <gtest/gtest.h>
#include <thread>

#include "base/random.h"
#include "upstream/retry_budget.h"

namespace damper::upstream {
namespace {

using namespace std::chrono_literals;
using config::BudgetConcurrency;
using config::BudgetWindow;

constexpr TimePoint kStart{1h};
constexpr auto kRequests = BudgetWindow::Credit::kRequests;

config::RetryBudget with(const config::RetryBudget& budget) {
  return enforced_rules({.retry_budget = budget});
}

// A budget of one worker, with the tickets that it gave out.
struct Ledger {
  explicit Ledger(const config::RetryBudget& rules) : budget(rules, 1) {}

  void originals(int n) {
    for (int i = 0; i < n; ++i) budget.original_started(budget.whole(), 0, now);
  }
  void successes(int n) {
    for (int i = 0; i < n; ++i) budget.success(budget.whole(), 0, now);
  }
  // "ok", or the part that refused. The ticket is kept.
  std::string_view retry(RetryCause cause = RetryCause::kFailure) {
    auto admission = budget.try_retry(budget.whole(), cause, now);
    if (auto* ticket = std::get_if<BudgetLedger::Ticket>(&admission)) {
      tickets.push_back(std::move(*ticket));
      return "ok";
    }
    switch (std::get<BudgetPart>(admission)) {
      case BudgetPart::kConcurrency: return "concurrency";
      case BudgetPart::kWindow: return "window";
      case BudgetPart::kRate: return "rate";
      case BudgetPart::kThrottle: return "throttle";
    }
    return "";
  }
  int retries(int wanted, RetryCause cause = RetryCause::kFailure) {
    int admitted = 0;
    while (admitted < wanted && retry(cause) == "ok") ++admitted;
    return admitted;
  }
  void end_all() {
    for (auto& ticket : tickets) ticket.attempt_started();
    tickets.clear();
  }

  BudgetLedger budget;
  TimePoint now = kStart;
  std::vector<BudgetLedger::Ticket> tickets;
};

Ledger window(const BudgetWindow& rules) { return Ledger(with({.window = rules})); }

TEST(BudgetLedger, ActiveRetriesStayBelowTheShareOfOriginalsInProgress) {
  Ledger l(with({.concurrency = BudgetConcurrency{.percent = 20, .min_retry_concurrency = 0}}));
  l.originals(4);
  EXPECT_EQ(l.retry(), "concurrency");
  l.originals(6);
  EXPECT_EQ(l.retries(10), 2);
  EXPECT_EQ(l.budget.active_retries(), 2u);
  l.tickets.pop_back();
  EXPECT_EQ(l.retries(10), 1);
  l.tickets.clear();
  for (int i = 0; i < 6; ++i) l.budget.original_ended(l.budget.whole(), 0);
  EXPECT_EQ(l.budget.active_originals(), 4u);
  EXPECT_EQ(l.retry(), "concurrency");
}

TEST(BudgetLedger, AFewRetriesAreAlwaysAllowedAtATime) {
  Ledger l(with({.concurrency = BudgetConcurrency{}}));
  EXPECT_EQ(l.retries(10), 3);
}

TEST(BudgetLedger, TheWindowIsAShareOfItsSuccesses) {
  Ledger l = window({.ratio_percent = 10, .min_retries = 0});
  l.originals(100);
  EXPECT_EQ(l.retry(), "window");
  l.successes(50);
  EXPECT_EQ(l.retries(100), 5);
  EXPECT_EQ(l.retry(), "window");
}

TEST(BudgetLedger, TheWindowMayBeCreditedByRequests) {
  Ledger l = window({.min_retries = 0, .credit = kRequests});
  l.originals(50);
  EXPECT_EQ(l.retries(100), 5);
}

TEST(BudgetLedger, SmallNumbersAreExactAndRoundedDown) {
  const auto retries = [](double percent, int credits) {
    Ledger l = window({.ratio_percent = percent, .min_retries = 0});
    l.successes(credits);
    return l.retries(1'000);
  };
  EXPECT_EQ(retries(10, 9), 0);
  EXPECT_EQ(retries(10, 10), 1);
  EXPECT_EQ(retries(10, 19), 1);
  EXPECT_EQ(retries(10, 30), 3);  // in doubles 0.1 · 30 is more than 3, 0.7 · 10 less than 7
  EXPECT_EQ(retries(0.1 * 3 * 100, 10), 3);
  EXPECT_EQ(retries(70, 10), 7);
  EXPECT_EQ(retries(90, 10), 9);
  EXPECT_EQ(retries(29, 100), 29);
  EXPECT_EQ(retries(0.1, 999), 0);
  EXPECT_EQ(retries(0.1, 1000), 1);
  EXPECT_EQ(retries(0, 1000), 0);
}

TEST(BudgetLedger, AQuietServiceHasTheFloor) {
  Ledger l = window({});
  EXPECT_EQ(l.retries(10), 3);
}

TEST(BudgetLedger, ChargesAndCreditsGrowOld) {
  Ledger l = window({.min_retries = 1});
  l.successes(30);
  EXPECT_EQ(l.retries(10), 3);
  l.now += 9s;
  l.successes(9);
  EXPECT_EQ(l.retry(), "window");  // ⌊3.9⌋, and 3 are charged
  l.now += 2s;
  EXPECT_EQ(l.budget.charged(l.now), 0u);
  EXPECT_EQ(l.budget.credits(l.now), 9u);
  EXPECT_EQ(l.retries(10), 1);
}

TEST(BudgetLedger, RetriesCostWhatTheyFollow) {
  Ledger l = window({.min_retries = 6, .timeout_cost = 3, .unprocessed_cost = 0});
  EXPECT_EQ(l.retry(RetryCause::kTimeout), "ok");
  EXPECT_EQ(l.retry(RetryCause::kFailure), "ok");
  EXPECT_EQ(l.retry(RetryCause::kUnprocessed), "ok");
  EXPECT_EQ(l.budget.charged(l.now), 4u);
  EXPECT_EQ(l.retry(RetryCause::kTimeout), "window");
  EXPECT_EQ(l.retries(10, RetryCause::kFailure), 2);
  EXPECT_EQ(l.retry(RetryCause::kUnprocessed), "ok");
  EXPECT_EQ(l.budget.active_retries(), 6u);
}

TEST(BudgetLedger, AWaitThatIsCancelledGivesTheChargeBack) {
  Ledger l(with(
      {.concurrency = BudgetConcurrency{}, .window = BudgetWindow{}, .max_retries_per_second = 3}));
  EXPECT_EQ(l.retries(10), 3);
  l.tickets.clear();
  EXPECT_EQ(l.budget.charged(l.now), 0u);
  EXPECT_EQ(l.budget.active_retries(), 0u);
  EXPECT_EQ(l.retries(10), 3);
  l.end_all();
  EXPECT_EQ(l.budget.charged(l.now), 3u);
  EXPECT_EQ(l.budget.active_retries(), 0u);
}

TEST(BudgetLedger, TheRateIsAnAbsoluteCap) {
  Ledger l(with({.max_retries_per_second = 2}));
  EXPECT_EQ(l.retries(10), 2);
  EXPECT_EQ(l.retry(), "rate");
  l.now += 999ms;
  EXPECT_EQ(l.retry(), "rate");
  l.now += 101ms;
  EXPECT_EQ(l.retries(10), 2);
}

TEST(BudgetLedger, AllPartsMustAgreeAndTheFirstThatDoesNotIsNamed) {
  Ledger l(with({.concurrency = BudgetConcurrency{0, 4},
                 .window = BudgetWindow{.min_retries = 3},
                 .max_retries_per_second = 2}));
  EXPECT_EQ(l.retries(10), 2);
  EXPECT_EQ(l.retry(), "rate");
  l.now += 2s;
  EXPECT_EQ(l.retry(), "ok");
  EXPECT_EQ(l.retry(), "window");
  l.now += 12s;
  EXPECT_EQ(l.retry(), "ok");
  EXPECT_EQ(l.retry(), "concurrency");
}

TEST(BudgetLedger, ARefusedRetryChangesNothing) {
  Ledger l = window({.min_retries = 1});
  EXPECT_EQ(l.retries(1), 1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(l.retry(), "window");
  EXPECT_EQ(l.budget.charged(l.now), 1u);
  EXPECT_EQ(l.budget.active_retries(), 1u);
}

TEST(BudgetLedger, AfterAnIntervalWithRetriesAndNoSuccessTheFloorIsOne) {
  Ledger l = window({});
  EXPECT_EQ(l.retries(10), 3);
  for (int interval = 0; interval < 3; ++interval) {
    l.now += 11s;
    EXPECT_EQ(l.retries(10), 1) << interval;
  }
  l.successes(1);
  EXPECT_EQ(l.retries(10), 2);  // the floor of 3 again, of which one is charged
}

TEST(BudgetLedger, AQuietServiceIsNotHeldToWhatFailedLongAgo) {
  Ledger l = window({});
  EXPECT_EQ(l.retries(10), 3);
  l.now += 60s;
  EXPECT_EQ(l.retries(10), 3);
}

TEST(BudgetLedger, WithoutAnyBudgetInTheFileTheDefaultsHold) {
  Ledger l(enforced_rules({}));
  EXPECT_EQ(l.retries(10), 3);
  EXPECT_EQ(l.retry(), "concurrency");
  l.end_all();
  EXPECT_EQ(l.retry(), "window");
}

TEST(BudgetLedger, MaxRetriesAloneIsEnvoysLimit) {
  Ledger l(enforced_rules({.max_retries = 5}));
  EXPECT_EQ(l.retries(100), 5);
  EXPECT_EQ(l.retry(), "concurrency");
  l.end_all();
  EXPECT_EQ(l.retries(100), 5);
}

TEST(BudgetLedger, MaxRetriesDoesNotCountBesideARetryBudget) {
  Ledger l(enforced_rules({.max_retries = 1, .retry_budget = config::RetryBudget{}}));
  EXPECT_EQ(l.retries(100), 3);
}

TEST(BudgetLedger, AnEmptyRetryBudgetIsTheConcurrencyPartAlone) {
  Ledger l(with({}));
  EXPECT_EQ(l.retries(100), 3);
  l.end_all();
  EXPECT_EQ(l.retries(100), 3);
}

TEST(BudgetLedger, DisabledMeansNoBudget) {
  Ledger l(with({.disabled = true}));
  EXPECT_EQ(l.retries(1'000), 1'000);
  EXPECT_EQ(l.budget.active_retries(), 1'000u);
}

TEST(BudgetLedger, AStaleClockReadingCountsInTheNewestSlot) {
  Ledger l = window({.min_retries = 0});
  l.successes(10);
  l.now -= 5s;
  l.successes(10);
  EXPECT_EQ(l.retries(10), 2);
  l.now = kStart + 9s;
  EXPECT_EQ(l.budget.charged(l.now), 2u);
  EXPECT_EQ(l.budget.credits(l.now), 20u);
}

TEST(BudgetLedger, NewRulesKeepTheHistory) {
  Ledger l = window({.min_retries = 0});
  l.originals(100);
  l.successes(100);
  EXPECT_EQ(l.retries(100), 10);
  l.budget.reconfigure(with({.window = BudgetWindow{.ratio_percent = 20, .min_retries = 0}}));
  EXPECT_EQ(l.retries(100), 10);
  l.budget.reconfigure(with({.concurrency = BudgetConcurrency{.percent = 30}}));
  EXPECT_EQ(l.retries(100), 10);
}

TEST(BudgetLedger, AnotherIntervalKeepsTheChargesAndCollectsCreditsAnew) {
  Ledger l = window({});
  l.successes(50);
  EXPECT_EQ(l.retries(100), 5);
  l.budget.reconfigure(with({.window = BudgetWindow{.interval = 20s}}));
  EXPECT_EQ(l.budget.charged(l.now), 5u);
  EXPECT_EQ(l.budget.credits(l.now), 0u);
  l.successes(60);
  EXPECT_EQ(l.retries(100), 1);
  l.tickets.clear();  // tickets from before have nothing to give back to
  EXPECT_EQ(l.budget.charged(l.now), 5u);
}

// --- The token bucket ----------------------------------------------------------------------------

TEST(BudgetLedger, TheBucketStopsRetriesAtHalfAndSuccessesFillIt) {
  Ledger l(with({.throttle = config::BudgetThrottle{.max_tokens = 10, .token_ratio = 0.1}}));
  for (int failures = 1; failures <= 4; ++failures) {
    l.budget.failure(RetryCause::kFailure);
    EXPECT_EQ(l.retry(), "ok") << failures;
  }
  l.budget.failure(RetryCause::kFailure);
  EXPECT_EQ(l.retry(), "throttle");  // 5 of 10 is not more than half
  l.successes(1);
  EXPECT_EQ(l.retry(), "ok");
  for (int i = 0; i < 30; ++i) l.budget.failure(RetryCause::kFailure);  // never below nothing
  l.successes(50);
  EXPECT_EQ(l.retry(), "throttle");
  l.successes(1);
  EXPECT_EQ(l.retry(), "ok");
  l.successes(10'000);  // never above full
  for (int i = 0; i < 5; ++i) l.budget.failure(RetryCause::kFailure);
  EXPECT_EQ(l.retry(), "throttle");
}

TEST(BudgetLedger, ATimeoutTakesSeveralTokensAndARefusedConnectionOne) {
  Ledger l(with({.throttle = config::BudgetThrottle{.max_tokens = 10}}));
  l.budget.failure(RetryCause::kTimeout);
  l.budget.failure(RetryCause::kUnprocessed);
  EXPECT_EQ(l.retry(), "ok");
  l.budget.failure(RetryCause::kUnprocessed);
  EXPECT_EQ(l.retry(), "throttle");
}

// --- Scopes --------------------------------------------------------------------------------------

struct ScopedLedger : Ledger {
  using Ledger::Ledger;
  BudgetLedger::Scope& route(std::string_view name) { return budget.scope(0, name, "GET"); }
  void serve(std::string_view name, int requests) {
    for (int i = 0; i < requests; ++i) {
      budget.original_started(route(name), 0, now);
      budget.success(route(name), 0, now);
    }
  }
  int retries_of(std::string_view name, int wanted) {
    int admitted = 0;
    for (; admitted < wanted; ++admitted) {
      auto answer = budget.try_retry(route(name), RetryCause::kFailure, now);
      if (std::holds_alternative<BudgetPart>(answer)) break;
      tickets.push_back(std::get<BudgetLedger::Ticket>(std::move(answer)));
    }
    return admitted;
  }
};

constexpr auto kRoute = config::RetryBudget::Scope::kRoute;
constexpr auto kOperation = config::RetryBudget::Scope::kOperation;

TEST(BudgetLedger, ASideQueryCannotEatTheRetriesOfAPayment) {
  const BudgetWindow ten_percent{.ratio_percent = 10, .min_retries = 3};
  ScopedLedger l(with({.window = ten_percent, .scope = kRoute}));
  l.serve("payment", 100);
  l.serve("search", 10);
  EXPECT_EQ(l.retries_of("search", 100), 3);  // the floor is for all together
  EXPECT_EQ(l.retries_of("payment", 100), 10);
  EXPECT_EQ(l.retries_of("search", 100), 0);
  EXPECT_EQ(l.retries_of("nobody", 100), 0);
}

TEST(BudgetLedger, TheShareOfRequestsInProgressIsTheScopesOwn) {
  ScopedLedger l(with({.concurrency = BudgetConcurrency{.percent = 20, .min_retry_concurrency = 1},
                       .scope = kRoute}));
  for (int i = 0; i < 10; ++i) l.budget.original_started(l.route("payment"), 0, l.now);
  EXPECT_EQ(l.retries_of("search", 10), 1);  // the floor, of all
  EXPECT_EQ(l.retries_of("payment", 10), 2);
  l.tickets.clear();
  EXPECT_EQ(l.budget.active_retries(), 0u);
}

TEST(BudgetLedger, CapsHoldForTheSumOfTheScopes) {
  ScopedLedger l(with({.max_retries_per_second = 5, .scope = kRoute}));
  EXPECT_EQ(l.retries_of("a", 3), 3);
  EXPECT_EQ(l.retries_of("b", 10), 2);
}

TEST(BudgetLedger, AnOperationIsARouteAndAMethod) {
  Ledger l(with({.window = BudgetWindow{}, .scope = kOperation}));
  EXPECT_EQ(&l.budget.scope(0, "r", "GET"), &l.budget.scope(1 % 1, "r", "GET"));
  EXPECT_NE(&l.budget.scope(0, "r", "GET"), &l.budget.scope(0, "r", "PUT"));
  EXPECT_NE(&l.budget.scope(0, "r", "GET"), &l.budget.scope(0, "s", "GET"));
  Ledger by_route(with({.window = BudgetWindow{}, .scope = kRoute}));
  EXPECT_EQ(&by_route.budget.scope(0, "r", "GET"), &by_route.budget.scope(0, "r", "PUT"));
  Ledger whole(with({.window = BudgetWindow{}}));
  EXPECT_EQ(&whole.budget.scope(0, "r", "GET"), &whole.budget.whole());
}

TEST(BudgetLedger, From256OperationsOnTheRestShareOne) {
  Ledger l(with({.window = BudgetWindow{}, .scope = kOperation}));
  std::vector<BudgetLedger::Scope*> scopes;
  for (int i = 0; i < 300; ++i) {
    scopes.push_back(&l.budget.scope(0, "r", "operation " + std::to_string(i)));
  }
  EXPECT_EQ(scopes[0], &l.budget.scope(0, "r", "operation 0"));
  EXPECT_NE(scopes[253], scopes[254]);
  for (int i = 255; i < 300; ++i) EXPECT_EQ(scopes[255], scopes[static_cast<std::size_t>(i)]);
}

// --- Hedges --------------------------------------------------------------------------------------

TEST(BudgetLedger, HedgesGetAtMostHalfOfTheWindow) {
  Ledger l(window({.ratio_percent = 10, .min_retries = 0}));
  l.successes(100);
  EXPECT_EQ(l.retries(100, RetryCause::kHedge), 5);
  EXPECT_EQ(l.retries(100), 5);  // the other half is for failures
  Ledger quiet(window({.min_retries = 3}));
  EXPECT_EQ(quiet.retries(100, RetryCause::kHedge), 1);
  quiet.tickets.clear();  // never started: given back
  EXPECT_EQ(quiet.retries(100, RetryCause::kHedge), 1);
}

TEST(BudgetLedger, HedgesOfAllScopesGetHalfOfTheFloorTogether) {
  ScopedLedger l(with({.window = BudgetWindow{.min_retries = 3}, .scope = kRoute}));
  int hedged = 0;
  for (const char* name : {"a", "b", "c"}) {
    auto answer = l.budget.try_retry(l.route(name), RetryCause::kHedge, l.now);
    if (auto* ticket = std::get_if<BudgetLedger::Ticket>(&answer)) {
      l.tickets.push_back(std::move(*ticket));
      ++hedged;
    }
  }
  EXPECT_EQ(hedged, 1);
  EXPECT_EQ(l.retries_of("d", 10), 2);  // the rest of the floor is for failures
}

TEST(BudgetLedger, AnOperatorsRatioHoldsInsteadOfTheWindows) {
  Ledger l(window({.ratio_percent = 10, .min_retries = 0}));
  l.successes(100);
  l.budget.override_ratio(2);
  EXPECT_EQ(l.retries(100), 2);
  l.budget.override_ratio(std::nullopt);
  EXPECT_EQ(l.retries(100), 8);
  Ledger none(with({.disabled = true}));
  EXPECT_EQ(none.retries(10), 10);
  none.budget.override_ratio(0);
  EXPECT_EQ(none.retry(), "window");
}

// The rule as it is written, over a list of everything that happened and with exact times.
struct Oracle {
  struct Charge {
    TimePoint at;
    std::uint32_t cost;
    bool given_back = false;
  };
  std::uint64_t charged(TimePoint now, Duration within) const {
    std::uint64_t sum = 0;
    for (const Charge& c : charges) {
      if (!c.given_back && c.at > now - within) sum += c.cost;
    }
    return sum;
  }
  std::uint64_t credited(TimePoint now, Duration within) const {
    std::uint64_t sum = 0;
    for (const TimePoint at : credits) sum += at > now - within;
    return sum;
  }

  std::vector<Charge> charges;
  std::vector<TimePoint> credits;
};

class AnySequence : public testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr unsigned kWorkers = 3;
  struct Running {
    BudgetLedger::Ticket ticket;
    std::size_t charge;
    bool started = false;
  };

  void step() {
    const auto worker = static_cast<unsigned>(random_.below(kWorkers));
    switch (random_.below(8)) {
      case 0:
      case 1: start(worker); break;
      case 2: end(worker); break;
      case 3: succeed(worker); break;
      case 4: now_ += std::chrono::milliseconds(random_.below(10)); break;
      case 5: finish_retry(); break;
      default: retry(); break;
    }
    if (random_.chance(0.001)) now_ += std::chrono::milliseconds(random_.below(4'000));
  }

  void start(unsigned worker) {
    ++active_[worker];
    budget_.original_started(budget_.whole(), worker, now_);
    if (window_.credit == kRequests) oracle_.credits.push_back(now_);
  }
  void end(unsigned worker) {
    if (active_[worker] == 0) return;
    --active_[worker];
    budget_.original_ended(budget_.whole(), worker);
  }
  void succeed(unsigned worker) {
    budget_.success(budget_.whole(), worker, now_);
    if (window_.credit != kRequests) oracle_.credits.push_back(now_);
  }
  void finish_retry() {
    if (running_.empty()) return;
    Running& last = running_.back();
    if (random_.chance(0.5)) {
      last.ticket.attempt_started();
    } else {
      oracle_.charges[last.charge].given_back = true;
    }
    running_.pop_back();
  }
  void retry() {
    const auto cause = static_cast<RetryCause>(random_.below(3));
    auto admission = budget_.try_retry(budget_.whole(), cause, now_);
    if (auto* ticket = std::get_if<BudgetLedger::Ticket>(&admission)) {
      const std::uint32_t costs[] = {1, window_.timeout_cost, window_.unprocessed_cost};
      oracle_.charges.push_back({now_, costs[static_cast<std::size_t>(cause)]});
      running_.push_back({std::move(*ticket), oracle_.charges.size() - 1});
      check_bounds();
    }
  }
  void check_bounds() {
    ++admitted_;
    const std::uint64_t credits = oracle_.credited(now_, window_.interval);
    const auto percent = static_cast<std::uint64_t>(window_.ratio_percent);
    EXPECT_LE(oracle_.charged(now_, window_.interval),
              std::max<std::uint64_t>(window_.min_retries, credits * percent / 100));
    EXPECT_LE(oracle_.charged(now_, 1s), kRate);
    const std::uint64_t originals = active_[0] + active_[1] + active_[2];
    EXPECT_LE(running_.size(),
              std::max<std::uint64_t>(kConcurrency.min_retry_concurrency, originals * 20 / 100));
    EXPECT_EQ(budget_.active_retries(), running_.size());
  }

  static constexpr std::uint32_t kRate = 20;
  static constexpr BudgetConcurrency kConcurrency{.percent = 20, .min_retry_concurrency = 2};

  Random random_{GetParam()};
  BudgetWindow window_{.interval = std::chrono::milliseconds(1 + random_.below(5'000)),
                       .ratio_percent = static_cast<double>(random_.below(101)),
                       .min_retries = static_cast<std::uint32_t>(random_.below(5)),
                       .credit = static_cast<BudgetWindow::Credit>(random_.below(2)),
                       .timeout_cost = static_cast<std::uint32_t>(random_.below(4)),
                       .unprocessed_cost = static_cast<std::uint32_t>(random_.below(2))};
  BudgetLedger budget_{
      with({.concurrency = kConcurrency, .window = window_, .max_retries_per_second = kRate}),
      kWorkers};
  TimePoint now_ = kStart;
  Oracle oracle_;
  std::uint64_t active_[kWorkers] = {};
  std::vector<Running> running_;
  int admitted_ = 0;
};

TEST_P(AnySequence, NeverAdmitsMoreThanTheRulesSay) {
  for (int i = 0; i < 5'000 && !HasFailure(); ++i) step();
  EXPECT_TRUE(admitted_ > 0 || window_.ratio_percent < 10);
}

INSTANTIATE_TEST_SUITE_P(BudgetLedger, AnySequence, testing::Range<std::uint64_t>(1, 61));

// The same for scopes and the bucket: every admitted retry is within its own scope's share or
// within the floor of all, and the bucket was more than half full by an independent count of its
// tokens.
class AnyScopedSequence : public testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr std::size_t kRoutes = 3;
  static constexpr const char* kNames[kRoutes] = {"payment", "stock", "search"};

  void step() {
    const std::size_t route = random_.below(kRoutes);
    BudgetLedger::Scope& scope = budget_.scope(0, kNames[route], "GET");
    switch (random_.below(5)) {
      case 0: now_ += std::chrono::milliseconds(random_.below(20)); break;
      case 1:
      case 2:
        budget_.success(scope, 0, now_);
        oracle_[route].credits.push_back(now_);
        tokens_ = std::min(tokens_ + 500, kMostTokens);
        break;
      default: fail(route, scope);
    }
  }

  void fail(std::size_t route, BudgetLedger::Scope& scope) {
    const bool timeout = random_.chance(0.2);
    const RetryCause cause = timeout ? RetryCause::kTimeout : RetryCause::kFailure;
    budget_.failure(cause);
    tokens_ = std::max<std::int64_t>(tokens_ - (timeout ? 3000 : 1000), 0);
    auto answer = budget_.try_retry(scope, cause, now_);
    auto* ticket = std::get_if<BudgetLedger::Ticket>(&answer);
    if (!ticket) {
      refused_by_bucket_ += std::get<BudgetPart>(answer) == BudgetPart::kThrottle;
      return;
    }
    ticket->attempt_started();
    ++admitted_;
    oracle_[route].charges.push_back({now_, timeout ? 3u : 1u});
    check_bounds(route);
  }

  void check_bounds(std::size_t route) {
    EXPECT_GT(2 * tokens_, kMostTokens);
    const std::uint64_t earned = oracle_[route].credited(now_, kInterval) * 20 / 100;
    std::uint64_t all = 0;
    for (const Oracle& each : oracle_) all += each.charged(now_, kInterval);
    EXPECT_TRUE(oracle_[route].charged(now_, kInterval) <= earned || all <= kFloor)
        << kNames[route] << ": " << oracle_[route].charged(now_, kInterval) << " of " << earned;
  }

  static constexpr Duration kInterval = 2s;
  static constexpr std::uint64_t kFloor = 4;
  static constexpr std::int64_t kMostTokens = 20'000;

  Random random_{GetParam()};
  BudgetLedger budget_{
      with({.window =
                BudgetWindow{.interval = kInterval, .ratio_percent = 20, .min_retries = kFloor},
            .throttle = config::BudgetThrottle{20, 0.5},
            .scope = kRoute}),
      1};
  TimePoint now_ = kStart;
  Oracle oracle_[kRoutes];
  std::int64_t tokens_ = kMostTokens;
  int admitted_ = 0;
  int refused_by_bucket_ = 0;
};

TEST_P(AnyScopedSequence, NeverAdmitsMoreThanTheRulesSay) {
  for (int i = 0; i < 3'000 && !HasFailure(); ++i) step();
  EXPECT_GT(admitted_, 0);
  EXPECT_GT(refused_by_bucket_, 0);
}

INSTANTIATE_TEST_SUITE_P(BudgetLedger, AnyScopedSequence, testing::Range<std::uint64_t>(1, 31));

TEST(BudgetLedger, ManyThreadsTogetherGetExactlyTheShare) {
  constexpr unsigned kWorkers = 4;
  constexpr int kOriginals = 5'000;
  BudgetLedger budget(with({.window = BudgetWindow{.min_retries = 0, .credit = kRequests}}),
                      kWorkers);
  std::atomic<int> admitted{0};
  std::vector<std::thread> threads;
  for (unsigned worker = 0; worker < kWorkers; ++worker) {
    threads.emplace_back([&, worker] {
      for (int i = 0; i < kOriginals; ++i) {
        budget.original_started(budget.whole(), worker, kStart);
        auto admission = budget.try_retry(budget.whole(), RetryCause::kFailure, kStart);
        if (auto* ticket = std::get_if<BudgetLedger::Ticket>(&admission)) {
          ticket->attempt_started();
          ++admitted;
        }
        budget.original_ended(budget.whole(), worker);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  // Everybody asks after each original, so nothing that was earned before the last is left over.
  EXPECT_EQ(admitted, kWorkers * kOriginals / 10);
  EXPECT_EQ(budget.charged(kStart), kWorkers * kOriginals / 10);
  EXPECT_EQ(budget.active_retries(), 0u);
  EXPECT_EQ(budget.active_originals(), 0u);
}

TEST(BudgetLedger, RulesMayChangeWhileWorkersCount) {
  BudgetLedger budget(with({.window = BudgetWindow{}}), 2);
  std::vector<std::thread> workers;
  for (unsigned worker = 0; worker < 2; ++worker) {
    workers.emplace_back([&, worker] {
      for (int i = 0; i < 2'000; ++i) {
        budget.original_started(budget.whole(), worker, kStart + i * 1ms);
        budget.success(budget.whole(), worker, kStart + i * 1ms);
        const auto admission =
            budget.try_retry(budget.whole(), RetryCause::kTimeout, kStart + i * 1ms);
        budget.original_ended(budget.whole(), worker);
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    budget.reconfigure(with({.window = BudgetWindow{.interval = (1 + i % 3) * 1s}}));
  }
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(budget.active_retries(), 0u);
  EXPECT_EQ(budget.active_originals(), 0u);
}

}  // namespace
}  // namespace damper::upstream
