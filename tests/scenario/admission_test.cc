// So many requests at a time go to the application; the others wait in order, or are refused.
#include <atomic>
#include <gtest/gtest.h>
#include <semaphore>

#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

using namespace std::chrono_literals;

std::string get(const std::string& target, const std::string& headers = "") {
  return "GET " + target + " HTTP/1.1\r\nhost: a\r\n" + headers + "\r\n";
}

// An application that answers when the test says so, and counts how many requests it has at a time.
class HeldUpstream {
 public:
  ~HeldUpstream() { answer(100); }

  void answer(int requests = 1) { answers_.release(requests); }
  ScriptedUpstream& operator*() { return upstream_; }
  ScriptedUpstream* operator->() { return &upstream_; }
  int most() const { return most_; }

 private:
  void serve(ScriptedUpstream& self, WireConnection& connection) {
    while (self.receive(connection)) {
      const int now = ++inside_;
      for (int most = most_; now > most && !most_.compare_exchange_weak(most, now);) {
      }
      const bool told = answers_.try_acquire_for(10s);
      --inside_;
      if (!told || !connection.send(http_response(200, ""))) return;
    }
  }

  std::counting_semaphore<> answers_{0};
  std::atomic<int> inside_{0};
  std::atomic<int> most_{0};
  ScriptedUpstream upstream_{
      [this](ScriptedUpstream& self, WireConnection& connection, int) { serve(self, connection); }};
};

std::string config(ScriptedUpstream& upstream, const std::string& admission,
                   const std::string& listener = "") {
  return one_route(
      upstream.endpoint(), "", "",
      "filters: [ admission: { " + admission + " } ]" + (listener.empty() ? "" : ", " + listener));
}

WireConnection send(const RunningProxy& proxy, const std::string& request) {
  WireConnection client = proxy.connect();
  client.send(request);
  return client;
}
int status(WireConnection& client) {
  return client.read_response().value_or(WireMessage{}).status();
}

bool active(const RunningProxy& proxy, long n) {
  return proxy.stat_becomes("http.in.admission.active", n);
}
bool queued(const RunningProxy& proxy, long n) {
  return proxy.stat_becomes("http.in.admission.queued", n);
}

TEST(Admission, WhatWaitsIsServedInOrderFirstAttemptsBeforeRetries) {
  HeldUpstream app;
  RunningProxy proxy(config(*app, "max_concurrency: 1, max_queue: 4, max_wait: 60s"));
  std::vector<WireConnection> clients;
  const std::vector<std::pair<std::string, std::string>> requests = {
      {"/first", ""},
      {"/retry/1", "x-envoy-attempt-count: 2\r\n"},
      {"/new/1", ""},
      {"/retry/2", "grpc-previous-rpc-attempts: 1\r\n"},
      {"/new/2", "x-envoy-attempt-count: 1\r\n"}};
  for (std::size_t i = 0; i < requests.size(); ++i) {
    clients.push_back(send(proxy, get(requests[i].first, requests[i].second)));
    ASSERT_TRUE(queued(proxy, static_cast<long>(i)));
    ASSERT_TRUE(active(proxy, 1));
  }
  app.answer(5);
  for (WireConnection& client : clients) EXPECT_EQ(status(client), 200);
  std::vector<std::string> served;
  for (const WireMessage& request : app->requests()) served.push_back(request.target());
  EXPECT_EQ(served,
            (std::vector<std::string>{"/first", "/new/1", "/new/2", "/retry/1", "/retry/2"}));
  EXPECT_EQ(app.most(), 1);
  EXPECT_TRUE(active(proxy, 0));
  EXPECT_EQ(proxy.stat("http.in.admission.limit"), 1);
}

TEST(Admission, AFullQueueIsSaidInHeaderLogAndStatistic) {
  LogFile log;
  HeldUpstream app;
  RunningProxy proxy(config(
      *app, "max_concurrency: 1, max_queue: 0",
      log.setting("format: \"%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS%\\n\"")));
  WireConnection first = send(proxy, get("/"));
  ASSERT_TRUE(app->wait_for_requests(1));
  const WireMessage answer = proxy.get();
  EXPECT_EQ(answer.status(), 503);
  EXPECT_EQ(answer.body, "overloaded");
  EXPECT_EQ(answer.field("x-envoy-overloaded"), "true");
  EXPECT_EQ(answer.field("retry-after"), "1");
  EXPECT_EQ(answer.field("x-damper-retry"), std::nullopt);
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"503 UO admission_queue_full"});
  EXPECT_EQ(proxy.stat("http.in.admission.rejected.queue_full"), 1);
  app.answer();
  EXPECT_EQ(status(first), 200);
  EXPECT_EQ(app->requests().size(), 1u);
}

TEST(Admission, AGrpcCallIsRefusedAsUnavailable) {
  HeldUpstream app;
  RunningProxy proxy(config(*app, "max_concurrency: 1, max_queue: 0"));
  WireConnection first = send(proxy, get("/"));
  ASSERT_TRUE(app->wait_for_requests(1));
  const WireMessage answer = proxy.get("/s/M", "content-type: application/grpc\r\n");
  EXPECT_EQ(answer.status(), 200);
  EXPECT_EQ(answer.field("grpc-status"), "14");
  EXPECT_EQ(answer.field("retry-after"), "1");
  EXPECT_EQ(answer.field("grpc-retry-pushback-ms"), std::nullopt);
  app.answer();
}

TEST(Admission, MaxWaitEndsTheWaiting) {
  LogFile log;
  HeldUpstream app;
  RunningProxy proxy(
      config(*app, "max_concurrency: 1, max_wait: 50ms",
             log.setting("format: \"%RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS%\\n\"")));
  WireConnection first = send(proxy, get("/"));
  ASSERT_TRUE(app->wait_for_requests(1));
  const TimePoint start = Clock::now();
  EXPECT_EQ(proxy.get().status(), 503);
  EXPECT_GE(Clock::now() - start, 50ms);
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"UO admission_max_wait"});
  EXPECT_EQ(proxy.stat("http.in.admission.rejected.max_wait"), 1);
  app.answer();
  EXPECT_EQ(status(first), 200);
}

// Long before its deadline: what is left then is less than an answer takes.
TEST(Admission, ARequestThatCanNoLongerMakeItIsRefusedInTheQueue) {
  LogFile log;
  HeldUpstream app;
  RunningProxy proxy(one_route(
      app->endpoint(), "", "",
      "filters: [ deadline: { expected_cost: 19s }, admission: { max_concurrency: 1, max_wait: 60s "
      "} ], " +
          log.setting("format: \"%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS%\\n\"")));
  WireConnection first = send(proxy, get("/"));
  ASSERT_TRUE(app->wait_for_requests(1));
  const TimePoint start = Clock::now();
  const WireMessage answer = proxy.get("/", "x-envoy-expected-rq-timeout-ms: 19100\r\n");
  EXPECT_GE(Clock::now() - start, 90ms);  // 100 without the margin
  EXPECT_EQ(answer.status(), 504);
  EXPECT_EQ(answer.body, "deadline too close");
  EXPECT_TRUE(answer.field("x-damper-retry").value_or("").starts_with("final"));
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"504 UT deadline_too_close"});
  EXPECT_EQ(proxy.stat("http.in.admission.rejected.deadline"), 1);
  EXPECT_EQ(proxy.stat("http.in.deadline_rejected"), 1);
  app.answer();
  EXPECT_EQ(status(first), 200);
  EXPECT_EQ(app->requests().size(), 1u);
}

TEST(Admission, ARequestThatWaitsKeepsItsBody) {
  HeldUpstream app;
  RunningProxy proxy(config(*app, "max_concurrency: 1, max_wait: 60s"));
  WireConnection first = send(proxy, get("/"));
  ASSERT_TRUE(app->wait_for_requests(1));
  WireConnection second =
      send(proxy, "PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello");
  ASSERT_TRUE(queued(proxy, 1));
  app.answer(2);
  EXPECT_EQ(status(second), 200);
  EXPECT_EQ(app->requests().at(1).body, "hello");
}

TEST(Admission, AClientMayLeaveWhileItWaits) {
  HeldUpstream app;
  RunningProxy proxy(config(*app, "max_concurrency: 1, max_queue: 2, max_wait: 60s"));
  WireConnection first = send(proxy, get("/"));
  ASSERT_TRUE(app->wait_for_requests(1));
  WireConnection second = send(proxy, get("/gone"));
  ASSERT_TRUE(queued(proxy, 1));
  WireConnection third = send(proxy, get("/patient"));
  ASSERT_TRUE(queued(proxy, 2));
  second.close();
  ASSERT_TRUE(queued(proxy, 1));
  app.answer(2);
  EXPECT_EQ(status(third), 200);
  EXPECT_EQ(app->requests().at(1).target(), "/patient");
  EXPECT_TRUE(active(proxy, 0));
}

TEST(Admission, AClientThatLeavesGivesItsSlotToTheNext) {
  HeldUpstream app;
  RunningProxy proxy(config(*app, "max_concurrency: 1, max_wait: 60s"));
  WireConnection first = send(proxy, get("/"));
  ASSERT_TRUE(app->wait_for_requests(1));
  WireConnection second = send(proxy, get("/next"));
  ASSERT_TRUE(queued(proxy, 1));
  first.reset();
  ASSERT_TRUE(app->wait_for_requests(2));
  app.answer(2);
  EXPECT_EQ(status(second), 200);
}

TEST(Admission, AResponseThatBreaksOffFreesItsSlot) {
  ScriptedUpstream app([](ScriptedUpstream& self, WireConnection& connection, int number) {
    self.receive(connection);
    connection.send("HTTP/1.1 200 X\r\ncontent-length: 10\r\n\r\nhello");
    if (number > 0) connection.send("world");
  });
  RunningProxy proxy(config(app, "max_concurrency: 1, max_queue: 0"));
  EXPECT_FALSE(proxy.get().complete);
  ASSERT_TRUE(active(proxy, 0));
  EXPECT_EQ(proxy.get().body, "helloworld");
}

TEST(Admission, AnEventStreamHoldsNoSlotOnceItHasBegun) {
  ScriptedUpstream app([](ScriptedUpstream& self, WireConnection& connection, int) {
    const auto request = self.receive(connection);
    if (!request) return;
    if (request->target() == "/") {
      connection.send(http_response(200, ""));
      return;
    }
    connection.send("HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n");
    connection.wait_for_close();
  });
  RunningProxy proxy(config(app, "max_concurrency: 1, max_queue: 0"));
  WireConnection events = send(proxy, get("/events"));
  EXPECT_NE(events.read_some(), "");
  EXPECT_TRUE(active(proxy, 0));
  EXPECT_EQ(proxy.get().status(), 200);
}

TEST(Admission, IsExactForTwoWorkers) {
  HeldUpstream app;
  constexpr int kClients = 20;
  RunningProxy proxy(config(*app, "max_concurrency: 2, max_queue: 18, max_wait: 60s"),
                     {.concurrency = 2, .drain_time = Duration::zero()});
  std::vector<WireConnection> clients;
  for (int i = 0; i < kClients; ++i) clients.push_back(send(proxy, get("/")));
  ASSERT_TRUE(queued(proxy, kClients - 2));
  EXPECT_TRUE(active(proxy, 2));
  ASSERT_TRUE(app->wait_for_requests(2));
  EXPECT_EQ(proxy.get().status(), 503);
  EXPECT_EQ(app->requests().size(), 2u);
  app.answer(kClients);
  for (WireConnection& client : clients) EXPECT_EQ(status(client), 200);
  EXPECT_LE(app.most(), 2);
  EXPECT_TRUE(active(proxy, 0));
  EXPECT_EQ(proxy.stat("http.in.admission.queued"), 0);
}

TEST(Admission, ShadowRefusesNothingAndSaysWhatItWould) {
  HeldUpstream app;
  RunningProxy proxy(config(*app, "max_concurrency: 1, max_queue: 0, mode: shadow"));
  WireConnection first = send(proxy, get("/"));
  WireConnection second = send(proxy, get("/"));
  ASSERT_TRUE(app->wait_for_requests(2));
  app.answer(2);
  EXPECT_EQ(status(first), 200);
  EXPECT_EQ(status(second), 200);
  EXPECT_EQ(proxy.stat("http.in.admission.shadow_rejected.queue_full"), 1);
  EXPECT_EQ(proxy.stat("http.in.admission.rejected.queue_full"), 0);
}

TEST(Admission, ARouteMayHaveItsOwnOrNone) {
  const std::string type = "\"@type\": type.googleapis.com/damper.filters.admission.v1.Admission";
  const auto override_with = [](const std::string& text) {
    return "typed_per_filter_config: { admission: { " + text + " } }";
  };
  HeldUpstream app;
  RunningProxy proxy(
      "listeners:\n- { name: in, address: \"127.0.0.1:0\", http_filters: [ { name: admission, "
      "typed_config: { " +
      type +
      ", max_concurrency: 1, max_queue: 0 } }, { name: envoy.filters.http.router } ], routes: [ "
      "{ match: { prefix: /off }, route: { cluster: app }, " +
      override_with(
          "\"@type\": type.googleapis.com/envoy.config.route.v3.FilterConfig, disabled: true") +
      " }, { match: { prefix: /own }, route: { cluster: app }, " +
      override_with(type + ", max_concurrency: 2, max_queue: 0") +
      " }, { match: { prefix: / }, route: { cluster: app } } ] }\n"
      "clusters:\n- { name: app, endpoints: [ " +
      app->endpoint() + " ] }\n");
  std::vector<WireConnection> clients;
  const auto takes = [&](const std::string& target) {
    const std::size_t before = app->requests().size();
    clients.push_back(send(proxy, get(target)));
    return app->wait_for_requests(before + 1);
  };
  EXPECT_TRUE(takes("/"));
  EXPECT_EQ(proxy.get("/").status(), 503);
  EXPECT_TRUE(takes("/own"));
  EXPECT_TRUE(takes("/own"));
  EXPECT_EQ(proxy.get("/own").status(), 503);
  EXPECT_TRUE(takes("/off"));
  EXPECT_EQ(proxy.stat("http.in.admission.active"), 3);
  app.answer(4);
  for (WireConnection& client : clients) EXPECT_EQ(status(client), 200);
}

TEST(Admission, AnAdaptiveLimitBeginsAtItsInitialValue) {
  HeldUpstream app;
  RunningProxy proxy(config(*app, "max_concurrency: { adaptive: { initial: 3 } }, max_queue: 0"));
  std::vector<WireConnection> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(send(proxy, get("/")));
  ASSERT_TRUE(app->wait_for_requests(3));
  EXPECT_EQ(proxy.get().status(), 503);
  EXPECT_EQ(proxy.stat("http.in.admission.limit"), 3);
  app.answer(3);
  for (WireConnection& client : clients) EXPECT_EQ(status(client), 200);
}

}  // namespace
}  // namespace damper::tests
