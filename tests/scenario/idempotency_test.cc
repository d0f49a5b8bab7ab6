// A request that may have been carried out is repeated only if that does no harm.
#include <gtest/gtest.h>

#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

std::string request(const std::string& method, const std::string& headers = "") {
  return method + " / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n" + headers + "\r\nhi";
}

struct Row {
  std::string what;
  std::string request;
  std::string first;  // empty: the connection closes
  bool retried;
  std::string policy = {};
  std::string cluster = {};
};

TEST(Idempotency, DecidesAfterBytesWereSent) {
  const std::string key = "idempotency-key: k1\r\n";
  const std::string busy = http_response(503, "");
  const Row rows[] = {
      {"PUT after a reset", request("PUT"), "", true},
      {"DELETE after a reset", request("DELETE"), "", true},
      {"POST after a reset", request("POST"), "", false},
      {"PATCH after a status", request("PATCH"), busy, false},
      {"POST with a key", request("POST", key), "", true},
      {"POST on an idempotent route", request("POST"), "", true, "idempotent: true"},
      {"POST after a listed status", request("POST"), busy, true, "retry_non_idempotent_on: [503]"},
      {"POST after another status", request("POST"), http_response(500, ""), false,
       "retry_non_idempotent_on: [503]"},
      {"POST after a reset, a status is listed", request("POST"), "", false,
       "retry_non_idempotent_on: [503]"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    ScriptedUpstream upstream(in_turn({row.first, http_response(200, "fine")}));
    RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx", row.policy)));
    EXPECT_EQ(proxy.ask(row.request).status() == 200, row.retried);
    EXPECT_EQ(upstream.requests().size(), row.retried ? 2u : 1u);
    EXPECT_EQ(proxy.stat("cluster.app.retry_refused.not_idempotent"), row.retried ? 0 : 1);
  }
}

TEST(Idempotency, APostIsRepeatedAfterARefusedConnection) {
  RefusingPort dead;
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(
      one_route(dead.endpoint() + ", " + upstream.endpoint(), retry("connect-failure")));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(proxy.ask(request("POST")).status(), 200);
  EXPECT_EQ(upstream.requests().size(), 2u);
}

TEST(Idempotency, EveryAttemptCarriesTheClientsKey) {
  ScriptedUpstream upstream(in_turn({"", http_response(200, "fine")}));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("reset")));
  proxy.ask(request("POST", "idempotency-key: k1\r\n"));
  for (const WireMessage& attempt : upstream.requests()) {
    EXPECT_EQ(attempt.field("idempotency-key"), "k1");
  }
}

TEST(Idempotency, ARefusalDoesNotMarkTheAnswer) {
  ScriptedUpstream upstream(always(http_response(503, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx")));
  EXPECT_EQ(proxy.ask(request("POST")).field("x-damper-retry"), std::nullopt);
}

// --- A key that is made here ---------------------------------------------------------------------

std::string keys(const LogFile& log) {
  return "filters: [ idempotency: { generate: true } ], " +
         log.setting("format: \"%IDEMPOTENCY_KEY%\\n\"");
}

TEST(Idempotency, EveryAttemptAndTheLogHaveTheKeyThatWasMade) {
  LogFile log;
  ScriptedUpstream upstream(in_turn({"", http_response(503, ""), http_response(200, "fine")}));
  RunningProxy proxy(one_route(upstream.endpoint(),
                               retry("5xx", "num_retries: 2, honours_idempotency_key: true"), "",
                               keys(log)));
  EXPECT_EQ(proxy
                .ask(request("POST",
                             "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-"
                             "00f067aa0ba902b7-01\r\n"))
                .status(),
            200);
  const auto attempts = upstream.requests();
  ASSERT_EQ(attempts.size(), 3u);
  const std::string key = attempts[0].field("idempotency-key").value_or("");
  EXPECT_EQ(key.size(), 36u);
  for (const WireMessage& attempt : attempts) {
    EXPECT_EQ(attempt.field("idempotency-key"), key);
    EXPECT_EQ(attempt.field("tracestate"), "damper-key=" + key);
  }
  EXPECT_EQ(log.lines(1), std::vector<std::string>{key});
}

TEST(Idempotency, AKeyThatWasMadeIsNoReasonToRepeatWhereNobodyHonoursIt) {
  for (const auto& [cluster, requests] :
       {std::pair{"", 1u}, std::pair{"honours_idempotency_key: true", 2u}}) {
    SCOPED_TRACE(cluster);
    LogFile log;
    ScriptedUpstream upstream(in_turn({"", http_response(200, "")}));
    RunningProxy proxy(one_route(upstream.endpoint(), retry("reset"), cluster, keys(log)));
    proxy.ask(request("POST"));
    EXPECT_EQ(upstream.requests().size(), requests);
    EXPECT_EQ(proxy.stat("cluster.app.retry_refused.not_idempotent"), requests == 1 ? 1 : 0);
  }
}

TEST(Idempotency, TheClientsKeyStandsInTheLogToo) {
  LogFile log;
  ScriptedUpstream upstream(always(http_response(200, "")));
  RunningProxy proxy(one_route(upstream.endpoint(), "", "", keys(log)));
  proxy.ask(request("POST", "idempotency-key: k1\r\n"));
  proxy.get();
  EXPECT_EQ(log.lines(2), (std::vector<std::string>{"k1", "-"}));
}

}  // namespace
}  // namespace damper::tests
