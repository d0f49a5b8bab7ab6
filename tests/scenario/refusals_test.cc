// Whatever keeps a request from another attempt, or from a first one, is found in the statistic, in
// the access log and, where the layers above must know it, in a header.
#include <gtest/gtest.h>

#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

const std::string kGet = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const std::string kPost = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nhi";
const std::string kLargePut =
    "PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 20\r\n\r\n0123456789abcdefghij";
const std::string kBusy = http_response(503, "busy");

// The clusters of these tests have no budget but the one that is written here.
std::string budget(const std::string& fields) {
  return "circuit_breakers: { thresholds: [ { retry_budget: { " + fields + " } } ] }";
}
const std::string kNoBudget = budget("disabled: true");

std::string format(const LogFile& log) {
  return log.setting("format: \"%RETRY_VERDICT% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS%\\n\"");
}

// --- Verdicts: why no further attempt followed ---------------------------------------------------

struct Refusal {
  std::string verdict;
  std::string log;   // flags and details
  std::string mark;  // of the answer; empty: none
  std::string route = retry("5xx");
  std::string cluster = kNoBudget;
  std::string request = kGet;
  ScriptedUpstream::Script upstream = always(kBusy);
  std::string listener = "";
};

void breaks_off(ScriptedUpstream& self, WireConnection& connection, int) {
  self.receive(connection);
  connection.send("HTTP/1.1 200 X\r\ncontent-length: 10\r\n\r\nhalf");
}

std::string final_mark(const std::string& verdict, int attempts = 1) {
  return "final; by=n; attempts=" + std::to_string(attempts) + "; verdict=" + verdict;
}

std::vector<Refusal> refusals() {
  const std::string theirs = "final; by=inner; attempts=2; verdict=limit";
  const std::string ours_is = "- via_upstream";
  const std::string over_budget = "UO via_upstream";
  return {
      {.verdict = "response_started",
       .log = "UC upstream_reset_after_response_started{connection_termination}",
       .mark = "",
       .upstream = breaks_off},
      {.verdict = "not_retriable", .log = ours_is, .mark = "", .route = retry("reset")},
      {.verdict = "marked",
       .log = ours_is,
       .mark = theirs,
       .upstream = always(http_response(503, "", "x-damper-retry: " + theirs + "\r\n"))},
      {.verdict = "not_idempotent", .log = ours_is, .mark = "", .request = kPost},
      {.verdict = "body_lost",
       .log = ours_is,
       .mark = "",
       .request = kLargePut,
       .listener = "per_connection_buffer_limit_bytes: 10"},
      {.verdict = "limit", .log = "URX via_upstream", .mark = final_mark("limit", 2)},
      {.verdict = "deadline",
       .log = ours_is,
       .mark = final_mark("deadline"),
       .request = "GET / HTTP/1.1\r\nhost: a\r\nx-envoy-expected-rq-timeout-ms: 5000\r\n\r\n",
       .upstream = always(http_response(503, "", "retry-after: 6\r\n"))},
      {.verdict = "live_off", .log = ours_is, .mark = final_mark("live_off")},
      {.verdict = "breaker_open",
       .log = ours_is,
       .mark = final_mark("breaker_open"),
       .cluster = kNoBudget + ", breaker: { failure_percent: 50, min_requests: 1, open_for: 60s }"},
      {.verdict = "budget_concurrency",
       .log = over_budget,
       .mark = final_mark("budget_concurrency"),
       .cluster = budget("budget_percent: 0, min_retry_concurrency: 0")},
      {.verdict = "budget_window",
       .log = over_budget,
       .mark = final_mark("budget_window"),
       .cluster = budget("window: { min_retries: 0 }")},
      {.verdict = "budget_rate",
       .log = over_budget,
       .mark = final_mark("budget_rate"),
       .cluster = budget("max_retries_per_second: 0")},
      {.verdict = "budget_throttle",
       .log = over_budget,
       .mark = final_mark("budget_throttle"),
       .cluster = budget("throttle: { max_tokens: 2 }")},
  };
}

TEST(Refusals, EveryVerdictIsSaidInStatisticLogAndHeader) {
  for (const Refusal& row : refusals()) {
    SCOPED_TRACE(row.verdict);
    LogFile log;
    ScriptedUpstream upstream(row.upstream);
    RunningProxy proxy(one_route(upstream.endpoint(), row.route, row.cluster,
                                 format(log) + (row.listener.empty() ? "" : ", " + row.listener)) +
                       "node: { id: n }\n");
    if (row.verdict == "live_off") proxy.admin("POST", "/retry/clusters/app?mode=off");
    const WireMessage answer = proxy.ask(row.request);
    EXPECT_EQ(answer.field("x-damper-retry").value_or(""), row.mark);
    EXPECT_EQ(log.lines(1), std::vector<std::string>{row.verdict + " " + row.log});
    EXPECT_EQ(proxy.stat("cluster.app.retry_refused." + row.verdict), 1);
    const bool by_budget = row.verdict.starts_with("budget_");
    EXPECT_EQ(proxy.stat("cluster.app.budget_denied"), by_budget ? 1 : 0);
    EXPECT_NE(
        proxy.admin("GET", "/stats/prometheus").body.find("verdict=\"" + row.verdict + "\"} 1\n"),
        std::string::npos);
  }
}

// --- Refusals of our own: there was no first attempt ---------------------------------------------

struct OwnRefusal {
  std::string what;
  std::string statistic;
  std::string log;  // flags and details
  int status = 503;
  std::string mark;         // empty: another replica may have room
  std::string retry_after;  // seconds
  bool overloaded = true;   // x-envoy-overloaded
  std::string cluster = "";
  std::string listener = "";
  std::string headers = "";
  int before = 0;  // requests that are answered 500 before it, or run
  bool holds = false;
};

std::vector<OwnRefusal> own_refusals() {
  return {
      {.what = "deadline too close",
       .statistic = "http.in.deadline_rejected",
       .log = "UT deadline_too_close",
       .status = 504,
       .mark = "final; by=n; attempts=0; verdict=deadline",
       .overloaded = false,
       .listener = "direction: inbound, filters: [ deadline: { expected_cost: 1s } ]",
       .headers = "x-envoy-expected-rq-timeout-ms: 500\r\n"},
      {.what = "admission full",
       .statistic = "http.in.admission.rejected.queue_full",
       .log = "UO admission_queue_full",
       .mark = "",
       .retry_after = "1",
       .listener = "filters: [ admission: { max_concurrency: 1, max_queue: 0 } ]",
       .before = 1,
       .holds = true},
      {.what = "open breaker",
       .statistic = "cluster.app.breaker.rejected",
       .log = "UO circuit_breaker_open",
       .mark = "final; by=n; attempts=1; verdict=breaker_open",
       .retry_after = "60",
       .cluster = "breaker: { failure_percent: 50, min_requests: 1, open_for: 60s }",
       .before = 1},
      {.what = "overflow",
       .statistic = "cluster.app.upstream_rq_pending_overflow",
       .log = "UO upstream_reset_before_response_started{overflow}",
       .mark = "final; by=n; attempts=1; verdict=overflow",
       .cluster = "circuit_breakers: { thresholds: [ { max_requests: 1 } ] }",
       .before = 1,
       .holds = true},
      {.what = "no healthy host",
       .statistic = "cluster.app.upstream_cx_none_healthy",
       .log = "UH no_healthy_upstream",
       .mark = "final; by=n; attempts=1; verdict=no_healthy_host",
       .overloaded = false,
       .cluster = "common_lb_config: { healthy_panic_threshold: 0 }, outlier_detection: { "
                  "consecutive_5xx: 1, base_ejection_time: 60s, max_ejection_percent: 100 }",
       .before = 1},
  };
}

// Answers 500 or, with `holds`, nothing.
ScriptedUpstream::Script upstream_of(const OwnRefusal& row) {
  return row.holds ? silent() : always(http_response(500, ""));
}

TEST(Refusals, OurOwnAreSaidInStatisticLogAndHeader) {
  for (const OwnRefusal& row : own_refusals()) {
    SCOPED_TRACE(row.what);
    LogFile log;
    ScriptedUpstream upstream(upstream_of(row));
    RunningProxy proxy(one_route(upstream.endpoint(), "", row.cluster,
                                 format(log) + (row.listener.empty() ? "" : ", " + row.listener)) +
                       "node: { id: n }\n");
    std::vector<WireConnection> clients;
    for (int i = 0; i < row.before; ++i) {
      clients.push_back(proxy.connect());
      clients.back().send(kGet);
      if (!row.holds) {
        EXPECT_EQ(clients.back().read_response()->status(), 500);
      }
    }
    const auto before = static_cast<std::size_t>(row.before);
    ASSERT_TRUE(upstream.wait_for_requests(before));
    const WireMessage answer = proxy.get("/", row.headers);
    EXPECT_EQ(answer.status(), row.status);
    EXPECT_EQ(answer.field("x-damper-retry").value_or(""), row.mark);
    EXPECT_EQ(answer.field("retry-after").value_or(""), row.retry_after);
    EXPECT_EQ(answer.field("x-envoy-overloaded").has_value(), row.overloaded);
    const std::size_t lines = row.holds ? 1 : before + 1;
    EXPECT_EQ(log.lines(lines).back(), "- " + row.log);
    EXPECT_EQ(proxy.stat(row.statistic), 1);
    EXPECT_EQ(upstream.requests().size(), before);
  }
}

}  // namespace
}  // namespace damper::tests
