// One sidecar, its application and what the application calls through it: an application that
// forwards nothing but its tracing id, and yet deadline, attempt count and final mark cross it.
#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <semaphore>

#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

using namespace std::chrono_literals;

constexpr const char* kTraceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

struct Options {
  int stock_says = 200;
  bool waits = false;  // for the test, before each call
  std::string outbound_route = retry("5xx");
  std::string inbound_route = "timeout: 15s";
  std::string outbound_log = "access_log: []";
};

std::string config(const ScriptedUpstream& app, const ScriptedUpstream& stock,
                   const Options& options) {
  const auto listener = [](const std::string& name, const std::string& direction,
                           const std::string& cluster, const std::string& route) {
    return "- { name: " + name + ", address: \"127.0.0.1:0\", direction: " + direction +
           ", routes: [ { match: { prefix: / }, route: { cluster: " + cluster + ", " + route +
           " } } ]";
  };
  return "node: { id: order }\nlisteners:\n" +
         listener("in", "inbound", "app", options.inbound_route) + " }\n" +
         listener("out", "outbound", "stock", options.outbound_route) + ", " +
         options.outbound_log + " }\nclusters:\n- { name: app, endpoints: [ " + app.endpoint() +
         " ] }\n- { name: stock, endpoints: [ " + stock.endpoint() + " ] }\n";
}

// The application answers 500 where its call fails.
class Sidecar {
 public:
  explicit Sidecar(std::vector<std::string> forwards, const Options& options = {})
      : stock(always(http_response(options.stock_says, "stock"))),
        forwards_(std::move(forwards)),
        waits_(options.waits),
        app([this](ScriptedUpstream& self, WireConnection& connection, int) {
          while (const auto request = self.receive(connection)) serve(*request, connection);
        }),
        proxy(config(app, stock, options)) {
    outbound_port_ = proxy.port(1);
  }
  ~Sidecar() { go_on(100); }

  void go_on(int calls = 1) { calls_.release(calls); }
  // What the application got; the test's own thread waits for it.
  int status_of_call() {
    EXPECT_TRUE(called_.try_acquire_for(10s));
    return status_;
  }
  // What the last call was told to take, in milliseconds.
  int time_of_call(std::size_t i = 0) {
    return std::stoi(stock.requests().at(i).field("x-envoy-expected-rq-timeout-ms").value_or("0"));
  }

 private:
  void serve(const WireMessage& request, WireConnection& connection) {
    if (waits_ && !calls_.try_acquire_for(10s)) return;
    WireConnection out = WireConnection::connect_to(outbound_port_);
    std::string call = "GET /stock HTTP/1.1\r\nhost: stock\r\n";
    for (const std::string& name : forwards_) {
      if (const auto value = request.field(name)) call += name + ": " + *value + "\r\n";
    }
    out.send(call + "\r\n");
    const int status = out.read_response().value_or(WireMessage{}).status();
    status_ = status;
    called_.release();
    const bool hides_failure = request.target() == "/optional";
    connection.send(http_response(status == 200 || hides_failure ? 200 : 500, "app"));
  }

 public:
  ScriptedUpstream stock;

 private:
  const std::vector<std::string> forwards_;
  const bool waits_;
  std::atomic<std::uint16_t> outbound_port_{0};
  std::atomic<int> status_{0};
  std::counting_semaphore<> calls_{0};
  std::counting_semaphore<> called_{0};

 public:
  ScriptedUpstream app;
  RunningProxy proxy;
};

const std::string kFiveSeconds = "x-envoy-expected-rq-timeout-ms: 5000\r\n";

TEST(Legs, DeadlineAndAttemptCountCrossTheApplicationByEveryForm) {
  const struct {
    std::string sent;
    std::vector<std::string> forwarded;
    const char* counter;
  } forms[] = {
      {"x-request-id: r1\r\n", {"x-request-id"}, "outbound_by_id"},
      {"traceparent: " + std::string(kTraceparent) + "\r\n", {"traceparent"}, "outbound_by_id"},
      {"traceparent: " + std::string(kTraceparent) + "\r\ntracestate: a=1\r\n",
       {"traceparent", "tracestate"},
       "outbound_exact"},
      {"b3: 463ac35c9f6413ad48485a3953bb6124-a2fb4a1d1a96d312-1\r\n", {"b3"}, "outbound_by_id"},
      {"x-b3-traceid: a2fb4a1d1a96d312\r\n", {"x-b3-traceid"}, "outbound_by_id"},
      {"", {"x-request-id"}, "outbound_by_id"}};  // the sidecar makes one
  for (const auto& form : forms) {
    SCOPED_TRACE(form.sent);
    Sidecar sidecar(form.forwarded);
    EXPECT_EQ(
        sidecar.proxy.get("/", form.sent + kFiveSeconds + "x-envoy-attempt-count: 3\r\n").status(),
        200);
    EXPECT_LE(sidecar.time_of_call(), 5000);
    EXPECT_GT(sidecar.time_of_call(), 0);
    EXPECT_NE(sidecar.stock.requests()[0].field("x-deadline"), std::nullopt);
    EXPECT_EQ(sidecar.stock.requests()[0].field("x-envoy-attempt-count"), "3");
    EXPECT_EQ(sidecar.proxy.stat("http.out.legs." + std::string(form.counter)), 1);
  }
}

TEST(Legs, WithoutAnIdNothingIsInheritedAndThatIsCounted) {
  Sidecar sidecar({}, {.stock_says = 503});
  const WireMessage answer =
      sidecar.proxy.get("/", "x-request-id: r1\r\nx-envoy-attempt-count: 3\r\n" + kFiveSeconds);
  EXPECT_EQ(answer.status(), 500);
  EXPECT_EQ(answer.field("x-damper-retry"), std::nullopt);
  EXPECT_GT(sidecar.time_of_call(), 5000);
  EXPECT_EQ(sidecar.stock.requests()[0].field("x-envoy-attempt-count"), "1");
  EXPECT_EQ(sidecar.stock.requests().size(), 2u);
  EXPECT_EQ(sidecar.proxy.stat("http.out.legs.outbound_without_id"), 1);
  EXPECT_EQ(sidecar.proxy.stat("http.out.legs.outbound_unknown_id"), 0);
}

TEST(Legs, AnIdUnderWhichNothingCameInIsCounted) {
  Sidecar sidecar({});
  WireConnection background = sidecar.proxy.connect(1);
  background.send("GET / HTTP/1.1\r\nhost: stock\r\nx-request-id: other\r\n\r\n");
  EXPECT_EQ(background.read_response()->status(), 200);
  EXPECT_EQ(sidecar.proxy.stat("http.out.legs.outbound_unknown_id"), 1);
}

TEST(Legs, ARequestThatComesInWithoutAnIdIsCounted) {
  ScriptedUpstream app(always(http_response(200, "")));
  RunningProxy proxy(
      one_route(app.endpoint(), "", "", "direction: inbound, generate_request_id: false"));
  proxy.get();
  EXPECT_EQ(proxy.stat("http.in.legs.inbound_without_id"), 1);
}

TEST(Legs, TheFinalMarkComesUpAndTheLayerAboveDoesNotRetry) {
  Sidecar sidecar({"x-request-id"}, {.stock_says = 503});
  RunningProxy above(one_route("127.0.0.1:" + std::to_string(sidecar.proxy.port()), retry("5xx")));
  const WireMessage answer = above.get();
  EXPECT_EQ(answer.status(), 500);
  EXPECT_EQ(answer.body, "app");
  EXPECT_EQ(answer.field("x-damper-retry"), "final; by=order; attempts=2; verdict=limit");
  EXPECT_EQ(sidecar.app.requests().size(), 1u);
  EXPECT_EQ(sidecar.stock.requests().size(), 2u);
  EXPECT_EQ(above.stat("cluster.app.retry_refused.marked"), 1);
  EXPECT_EQ(sidecar.proxy.stat("http.in.legs.marks_passed_on"), 1);
}

TEST(Legs, WithoutAnIdTheLayersMultiply) {
  Sidecar sidecar({}, {.stock_says = 503});
  RunningProxy above(one_route("127.0.0.1:" + std::to_string(sidecar.proxy.port()), retry("5xx")));
  EXPECT_EQ(above.get().status(), 500);
  EXPECT_EQ(sidecar.app.requests().size(), 2u);
  EXPECT_EQ(sidecar.stock.requests().size(), 4u);
}

TEST(Legs, AnAnswerThatDoesWithoutTheCallIsNotMarked) {
  Sidecar sidecar({"x-request-id"}, {.stock_says = 503});
  const WireMessage answer = sidecar.proxy.get("/optional");
  EXPECT_EQ(answer.status(), 200);
  EXPECT_EQ(answer.field("x-damper-retry"), std::nullopt);
}

TEST(Legs, ACallerThatOwnsTheRetriesIsHeardBehindTheApplication) {
  Sidecar sidecar({"x-request-id"}, {.stock_says = 503});
  sidecar.proxy.get("/", "x-damper-retry: owner\r\n");
  EXPECT_EQ(sidecar.stock.requests().size(), 1u);
  EXPECT_EQ(sidecar.proxy.stat("cluster.stock.retry_refused.marked"), 1);
}

TEST(Legs, ACallForACallerThatHasLeftGetsNoRetry) {
  Sidecar sidecar({"x-request-id"}, {.stock_says = 503, .waits = true});
  WireConnection client = sidecar.proxy.connect();
  client.send("GET / HTTP/1.1\r\nhost: order\r\nx-request-id: r1\r\n\r\n");
  ASSERT_TRUE(sidecar.app.wait_for_requests(1));
  client.close();
  ASSERT_TRUE(sidecar.proxy.stat_becomes("http.in.downstream_rq_active", 0));
  sidecar.go_on();
  EXPECT_EQ(sidecar.status_of_call(), 503);
  EXPECT_EQ(sidecar.stock.requests().size(), 1u);
  EXPECT_EQ(sidecar.proxy.stat("cluster.stock.retry_refused.marked"), 1);
}

TEST(Legs, ACallPastTheDeadlineIsNotMade) {
  Sidecar sidecar({"x-request-id"}, {.waits = true});
  const WireMessage late = sidecar.proxy.get("/", "x-envoy-expected-rq-timeout-ms: 200\r\n");
  EXPECT_EQ(late.status(), 504);
  sidecar.go_on();
  EXPECT_EQ(sidecar.status_of_call(), 504);
  EXPECT_EQ(sidecar.stock.requests().size(), 0u);
  EXPECT_EQ(sidecar.proxy.stat("http.out.deadline_rejected"), 1);
}

TEST(Legs, ACallAfterTheRouteTimeoutIsNotMadeEither) {
  Sidecar sidecar({"x-request-id"}, {.waits = true, .inbound_route = "timeout: 200ms"});
  EXPECT_EQ(sidecar.proxy.get().status(), 504);
  sidecar.go_on();
  EXPECT_EQ(sidecar.status_of_call(), 504);
  EXPECT_EQ(sidecar.stock.requests().size(), 0u);
}

TEST(Legs, AfterTheAnswerTheIdIsFree) {
  Sidecar sidecar({"x-request-id"});
  EXPECT_EQ(sidecar.proxy.get("/", "x-request-id: r1\r\n" + kFiveSeconds).status(), 200);
  ASSERT_TRUE(sidecar.proxy.stat_becomes("http.in.downstream_rq_active", 0));
  WireConnection background = sidecar.proxy.connect(1);
  background.send("GET / HTTP/1.1\r\nhost: stock\r\nx-request-id: r1\r\n\r\n");
  EXPECT_EQ(background.read_response()->status(), 200);
  EXPECT_GT(sidecar.time_of_call(1), 5000);
}

// Two requests of one trace are in the application when it makes its two calls.
std::vector<int> times_of_calls(std::vector<std::string> forwards) {
  Sidecar sidecar(std::move(forwards), {.waits = true});
  std::vector<WireConnection> clients;
  for (const auto* ms : {"5000", "9000"}) {
    clients.push_back(sidecar.proxy.connect());
    clients.back().send(
        "GET / HTTP/1.1\r\nhost: order\r\ntraceparent: " + std::string(kTraceparent) +
        "\r\nx-envoy-expected-rq-timeout-ms: " + ms + "\r\n\r\n");
  }
  EXPECT_TRUE(sidecar.app.wait_for_requests(2));
  sidecar.go_on();
  EXPECT_TRUE(sidecar.stock.wait_for_requests(1));  // both were there when it was made
  sidecar.go_on();
  for (WireConnection& client : clients) EXPECT_EQ(client.read_response()->status(), 200);
  return {sidecar.time_of_call(0), sidecar.time_of_call(1)};
}

TEST(Legs, TracestateTellsRequestsOfOneTraceApart) {
  std::vector<int> times = times_of_calls({"traceparent", "tracestate"});
  std::sort(times.begin(), times.end());
  EXPECT_LE(times[0], 5000);
  EXPECT_GT(times[1], 5000);
}

TEST(Legs, WithoutItTheLeastStrictHolds) {
  const std::vector<int> times = times_of_calls({"traceparent"});
  EXPECT_GT(times[0], 5000);
  EXPECT_LE(times[0], 9000);
}

TEST(Legs, ARouteMayInheritNothing) {
  Sidecar sidecar({"x-request-id"},
                  {.stock_says = 503, .outbound_route = retry("5xx") + ", inherit: none"});
  const WireMessage answer = sidecar.proxy.get("/", kFiveSeconds);
  EXPECT_EQ(answer.status(), 500);
  EXPECT_EQ(answer.field("x-damper-retry"), std::nullopt);
  EXPECT_GT(sidecar.time_of_call(), 5000);
}

TEST(Legs, TheInboundKeyStandsInTheLogOfTheCallAndNowhereElse) {
  LogFile log;
  Sidecar sidecar(
      {"x-request-id"},
      {.outbound_log = log.setting("format: \"%IDEMPOTENCY_KEY% %PARENT_IDEMPOTENCY_KEY%\\n\"")});
  sidecar.proxy.get("/", "idempotency-key: k1\r\n");
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"- k1"});
  EXPECT_EQ(sidecar.stock.requests()[0].field("idempotency-key"), std::nullopt);
}

}  // namespace
}  // namespace damper::tests
