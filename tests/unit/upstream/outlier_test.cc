#include "upstream/outlier.h"

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "tests/support/hosts.h"

namespace damper::upstream {
namespace {

using namespace std::chrono_literals;
using Rules = config::OutlierDetection;

constexpr auto kGood = Evidence::kGood;
constexpr auto kError = Evidence::kError;
constexpr auto kGateway = Evidence::kGateway;
constexpr auto kLocal = Evidence::kLocalOrigin;

// Ten hosts or so, of which the first is judged.
struct Bench {
  Bench(std::optional<Rules> rules, int count, bool default_on = true)
      : hosts(tests::hosts(count)), detector(std::move(rules), default_on) {}

  // Was the host ejected by this?
  bool report(Evidence evidence, std::size_t host = 0) {
    const bool before = hosts[host]->ejected(now);
    for (const OutlierFinding& f : detector.report(*hosts[host], evidence, hosts, now, random)) {
      findings.push_back(f);
    }
    return !before && hosts[host]->ejected(now);
  }
  // An interval's traffic of one host.
  void traffic(std::size_t host, int good, int bad, Evidence kind = kError) {
    for (int i = 0; i < good; ++i) report(kGood, host);
    for (int i = 0; i < bad; ++i) report(kind, host);
  }
  // The next interval begins with this report.
  void next_interval() {
    now += 10s;
    report(kGood, hosts.size() - 1);
  }
  std::string ejected() const {
    std::string out;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      if (hosts[i]->ejected(now)) out += std::to_string(i);
    }
    return out;
  }
  // Which report of these ejects the host; 0: none.
  int ejected_by(const std::vector<Evidence>& evidence, std::size_t host = 0) {
    for (std::size_t i = 0; i < evidence.size(); ++i) {
      if (report(evidence[i], host)) return static_cast<int>(i) + 1;
    }
    return 0;
  }
  // For how long the host is ejected by a failure from now on.
  Duration ejection() {
    EXPECT_TRUE(report(kGateway));
    const TimePoint start = now;
    while (hosts[0]->ejected(now)) now += 1s;
    return now - start;
  }

  Hosts hosts;
  OutlierDetector detector;
  OutlierFindings findings;
  TimePoint now = TimePoint() + 1h;
  Random random{1};
};

// Five pieces of the same evidence, with another at a place among them.
std::vector<Evidence> five(Evidence evidence) { return std::vector<Evidence>(5, evidence); }
std::vector<Evidence> four_and(Evidence evidence, Evidence other) {
  std::vector<Evidence> out(4, evidence);
  out.push_back(other);
  out.push_back(evidence);
  return out;
}

TEST(Outlier, WithoutRulesFiveFailuresInARowEject) {
  struct Case {
    int hosts;
    std::vector<Evidence> evidence;
    int ejected_by;
  };
  const Case cases[] = {{3, five(kGateway), 5},
                        {3, five(kLocal), 5},
                        {3, four_and(kGateway, kLocal), 5},
                        {3, five(kError), 0},
                        {3, four_and(kGateway, kGood), 0},
                        {3, four_and(kGateway, kError), 0},
                        {3, four_and(kGateway, Evidence::kNone), 6},
                        {2, five(kLocal), 5},
                        {2, five(kGateway), 0},
                        {2, four_and(kLocal, kGateway), 0},
                        {1, five(kLocal), 0},
                        {1, five(kGateway), 0}};
  for (const Case& c : cases) {
    EXPECT_EQ(Bench({}, c.hosts).ejected_by(c.evidence), c.ejected_by);
    EXPECT_EQ(Bench({}, c.hosts, false).ejected_by(c.evidence), 0);
  }
}

TEST(Outlier, WithoutRulesAtMostAThirdButOneIsEjected) {
  const std::pair<int, std::size_t> most[] = {{2, 1}, {3, 1}, {5, 1}, {6, 2}, {9, 3}, {11, 3}};
  for (const auto& [count, ejected] : most) {
    Bench bench({}, count);
    for (std::size_t i = 0; i < bench.hosts.size(); ++i) bench.ejected_by(five(kLocal), i);
    EXPECT_EQ(OutlierDetector::ejected(bench.hosts, bench.now), ejected) << count;
  }
}

TEST(Outlier, RulesSayWhatCountsAndHowOften) {
  // Off unless a case says otherwise.
  const Rules off{.consecutive_5xx = 0, .consecutive_gateway_failure = 0};
  Rules by_5xx = off, by_gateway = off, by_local = off, local_with_others = off;
  by_5xx.consecutive_5xx = 3;
  by_gateway.consecutive_gateway_failure = 3;
  by_gateway.enforcing_consecutive_gateway_failure = 100;
  by_local.split_external_local_origin_errors = true;
  by_local.consecutive_local_origin_failure = 3;
  local_with_others.consecutive_local_origin_failure = 3;
  struct Case {
    Rules rules;
    std::vector<Evidence> evidence;
    int ejected_by;
  };
  const Case cases[] = {{off, {kError, kGateway, kLocal, kError, kGateway, kLocal}, 0},
                        {by_5xx, {kError, kGateway, kLocal}, 3},
                        {by_5xx, {kError, kError, kGood, kError}, 0},
                        {by_gateway, {kGateway, kLocal, kGateway}, 3},
                        {by_gateway, {kGateway, kGateway, kError, kGateway}, 0},
                        {by_local, {kLocal, kLocal, kLocal}, 3},
                        {by_local, {kGateway, kGateway, kGateway, kError}, 0},
                        {by_local, {kLocal, kLocal, kGood, kLocal}, 0},
                        {by_local, {kLocal, kLocal, kError, kLocal}, 0},  // any answer ends the row
                        {by_local, {kLocal, kLocal, kGateway, kLocal}, 0},
                        {local_with_others, {kLocal, kLocal, kLocal, kLocal}, 0}};
  for (const Case& c : cases) EXPECT_EQ(Bench(c.rules, 10).ejected_by(c.evidence), c.ejected_by);
}

TEST(Outlier, ByDefaultGatewayFailuresAreCountedButNotEnforced) {
  const Rules rules{.consecutive_5xx = 0};
  EXPECT_EQ(Bench(rules, 10).ejected_by(five(kGateway)), 0);
}

TEST(Outlier, ATripIsEnforcedByItsShare) {
  const Rules half{.consecutive_5xx = 1, .enforcing_consecutive_5xx = 50};
  int enforced = 0;
  Random random(7);
  for (int i = 0; i < 1000; ++i) {
    Bench bench(half, 10);
    bench.random = Random(random.next());
    enforced += bench.report(kError) ? 1 : 0;
  }
  EXPECT_NEAR(enforced, 500, 60);
}

TEST(Outlier, MaxEjectionPercentIsNeverExceededExceptByTheOne) {
  struct Case {
    int hosts;
    std::uint32_t percent;
    bool always_one;
    std::uint32_t ejected;
  };
  const Case cases[] = {{10, 10, false, 1}, {10, 19, false, 1}, {10, 20, false, 2},
                        {3, 10, false, 0},  {3, 10, true, 1},   {3, 34, false, 1},
                        {10, 0, false, 0},  {10, 0, true, 1},   {4, 100, false, 4}};
  for (const Case& c : cases) {
    Bench bench({{.consecutive_5xx = 1,
                  .max_ejection_percent = c.percent,
                  .always_eject_one_host = c.always_one}},
                c.hosts);
    for (std::size_t i = 0; i < bench.hosts.size(); ++i) bench.report(kError, i);
    EXPECT_EQ(OutlierDetector::ejected(bench.hosts, bench.now), c.ejected)
        << c.hosts << " hosts, " << c.percent << "%";
  }
}

TEST(Outlier, AnEjectedHostIsNotEjectedAgain) {
  Bench bench({{.consecutive_5xx = 1, .max_ejection_percent = 100}}, 2);
  EXPECT_TRUE(bench.report(kError));
  EXPECT_FALSE(bench.report(kError));
}

TEST(Outlier, EachEjectionIsLongerAndEachQuietIntervalMakesGoodForOne) {
  Bench bench({{.consecutive_5xx = 1,
                .interval = 10s,
                .base_ejection_time = 30s,
                .max_ejection_time = 100s}},
              10);
  EXPECT_EQ(bench.ejection(), 30s);
  EXPECT_EQ(bench.ejection(), 60s);
  EXPECT_EQ(bench.ejection(), 90s);
  EXPECT_EQ(bench.ejection(), 100s);  // the longest
  bench.now += 29s;                   // two whole intervals
  EXPECT_EQ(bench.ejection(), 90s);
  bench.now += 24h;
  EXPECT_EQ(bench.ejection(), 30s);
}

TEST(Outlier, TheLongestIsAtLeastTheBase) {
  Bench bench({{.consecutive_5xx = 1, .base_ejection_time = 30s, .max_ejection_time = 10s}}, 10);
  EXPECT_EQ(bench.ejection(), 30s);
  EXPECT_EQ(bench.ejection(), 30s);
}

TEST(Outlier, JitterSpreadsTheReturn) {
  std::set<Duration> ejections;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Bench bench({{.consecutive_5xx = 1, .max_ejection_time_jitter = 20s}}, 10);
    bench.random = Random(seed);
    ejections.insert(bench.ejection());
  }
  EXPECT_GE(*ejections.begin(), 30s);
  EXPECT_LE(*ejections.rbegin(), 50s);
  EXPECT_GT(ejections.size(), 5u);
}

TEST(Outlier, AHostComesBackWithACleanSlate) {
  Bench bench(
      {{.consecutive_5xx = 3, .consecutive_gateway_failure = 4, .max_ejection_percent = 100}}, 10);
  EXPECT_EQ(bench.ejected_by({kGateway, kGateway, kGateway}), 3);
  for (int i = 0; i < 9; ++i) bench.report(kGateway);  // of attempts that still ran
  bench.now += 30s;
  EXPECT_EQ(bench.ejected_by({kError, kError, kError}), 3);
}

// Rows do not matter here: only rates do.
Rules by_rates() {
  return {.consecutive_5xx = 0,
          .consecutive_gateway_failure = 0,
          .consecutive_local_origin_failure = 0,
          .max_ejection_percent = 50};
}

TEST(Outlier, AHostThatDoesClearlyWorseThanTheOthersIsEjectedAtTheEndOfTheInterval) {
  Bench bench(by_rates(), 6);
  bench.traffic(0, 60, 40);
  for (std::size_t host = 1; host < 6; ++host) bench.traffic(host, 98, 2);
  EXPECT_EQ(bench.ejected(), "");
  bench.next_interval();
  EXPECT_EQ(bench.ejected(), "0");
  ASSERT_EQ(bench.findings.size(), 1u);
  EXPECT_EQ(bench.findings[0].kind, OutlierKind::kSuccessRate);
  EXPECT_EQ(bench.findings[0].fate, OutlierFinding::Fate::kEjected);
}

TEST(Outlier, EachIntervalIsJudgedByItself) {
  Bench bench(by_rates(), 6);
  for (int half = 0; half < 2; ++half) {
    bench.traffic(0, 0, 60);
    for (std::size_t host = 1; host < 6; ++host) bench.traffic(host, 60, 0);
    bench.next_interval();
  }
  EXPECT_EQ(bench.ejected(), "");  // 60 and 60, never 100 of one interval
}

TEST(Outlier, AQuietTimeAddsNothingToTheIntervalBeforeIt) {
  Bench bench(by_rates(), 6);
  bench.traffic(0, 50, 50);
  for (std::size_t host = 1; host < 6; ++host) bench.traffic(host, 100, 0);
  bench.now += 35s;
  EXPECT_TRUE(bench.report(kGood, 0));  // found when somebody comes again
  bench.now += 4s;
  EXPECT_EQ(bench.ejected(), "0");
}

TEST(Outlier, LocalOriginIsComparedApartWhereItIsToldApart) {
  for (const bool split : {false, true}) {
    Rules rules = by_rates();
    rules.split_external_local_origin_errors = split;
    Bench bench(rules, 6);
    bench.traffic(0, 60, 40, kLocal);
    for (std::size_t host = 1; host < 6; ++host) bench.traffic(host, 100, 0);
    bench.next_interval();
    ASSERT_EQ(bench.findings.size(), 1u);
    EXPECT_EQ(bench.findings[0].kind,
              split ? OutlierKind::kLocalOriginSuccessRate : OutlierKind::kSuccessRate);
  }
}

TEST(Outlier, AFailurePercentageEjectsWhereThatIsEnforced) {
  using Fate = OutlierFinding::Fate;
  for (const auto& [enforcing, fate] :
       {std::pair{0u, Fate::kNotEnforced}, {100u, Fate::kEjected}}) {
    Rules rules = by_rates();
    rules.failure_percentage_threshold = 50;
    rules.enforcing_failure_percentage = enforcing;
    Bench bench(rules, 5);
    for (std::size_t host = 0; host < 5; ++host) {
      bench.traffic(host, host == 0 ? 24 : 27, host == 0 ? 26 : 23);
    }
    bench.next_interval();
    ASSERT_EQ(bench.findings.size(), 1u);
    EXPECT_EQ(bench.findings[0].kind, OutlierKind::kFailurePercentage);
    EXPECT_EQ(bench.findings[0].fate, fate);
  }
}

TEST(Outlier, WhatMaxEjectionPercentForbidsIsFoundAllTheSame) {
  Bench bench({{.consecutive_5xx = 3, .max_ejection_percent = 10}}, 4);
  bench.ejected_by({kError, kError, kError});
  ASSERT_EQ(bench.findings.size(), 1u);
  EXPECT_EQ(bench.findings[0].kind, OutlierKind::kConsecutive5xx);
  EXPECT_EQ(bench.findings[0].fate, OutlierFinding::Fate::kOverflow);
}

TEST(Outlier, NewRulesHoldFromNowOn) {
  Bench bench({}, 3);
  bench.detector.reconfigure({{.consecutive_5xx = 1, .max_ejection_percent = 100}}, true);
  EXPECT_EQ(bench.ejected_by(five(kError)), 1);
  bench.detector.reconfigure({}, false);
  EXPECT_EQ(bench.ejected_by(five(kLocal), 1), 0);
}

}  // namespace
}  // namespace damper::upstream
