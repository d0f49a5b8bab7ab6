// The end of the process: nothing that runs is dropped, nobody who still comes is refused, and it
// does not take for ever.
#include <gtest/gtest.h>

#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

constexpr const char* kGet = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";

server::Options draining_for(Duration time) { return {.drain_time = time}; }

// Answers when it is told to.
class HeldUpstream {
 public:
  HeldUpstream()
      : upstream([this](ScriptedUpstream& self, WireConnection& connection, int) {
          while (self.receive(connection)) {
            std::unique_lock lock(mu_);
            released_.wait_for(lock, std::chrono::seconds(10), [this] { return go_; });
            connection.send(http_response(200, "fine"));
          }
        }) {}
  ~HeldUpstream() { release(); }
  void release() {
    const std::lock_guard lock(mu_);
    go_ = true;
    released_.notify_all();
  }

 private:
  std::mutex mu_;
  std::condition_variable released_;
  bool go_ = false;

 public:
  ScriptedUpstream upstream;
};

TEST(Drain, FinishesWhatRunsAndClosesWhatIsIdle) {
  HeldUpstream held;
  RunningProxy proxy(one_route(held.upstream.endpoint()), draining_for(std::chrono::seconds(30)));
  WireConnection running = proxy.connect();
  running.send(kGet);
  ASSERT_TRUE(held.upstream.wait_for_requests(1));
  WireConnection idle = proxy.connect();
  idle.send("GET /nowhere HTTP/1.1\r\nhost: a\r\nx-envoy-upstream-rq-timeout-ms: 1\r\n\r\n");
  ASSERT_EQ(idle.read_response()->status(), 504);

  proxy.stop();
  EXPECT_TRUE(idle.wait_for_close());
  EXPECT_EQ(proxy.admin("GET", "/ready").status(), 503);
  held.release();
  const auto answer = running.read_response();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status(), 200);
  EXPECT_EQ(answer->field("connection"), "close");
  EXPECT_TRUE(running.wait_for_close());
  proxy.wait();
}

TEST(Drain, StillServesThoseWhoDoNotKnowYet) {
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(one_route(upstream.endpoint()), draining_for(std::chrono::seconds(30)));
  WireConnection early = proxy.connect();  // has not asked yet when the drain begins
  ASSERT_TRUE(proxy.stat_becomes("http.in.downstream_cx_active", 1));
  proxy.stop();
  while (proxy.admin("GET", "/ready").status() != 503) {
  }
  WireConnection late = proxy.connect();
  for (WireConnection* client : {&early, &late}) {
    client->send(kGet);
    const auto answer = client->read_response();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status(), 200);
    EXPECT_EQ(answer->field("connection"), "close");
  }
  const TimePoint start = Clock::now();
  proxy.wait();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(15));  // quiet for a second is enough
}

TEST(Drain, EndsAtItsTimeWhateverStillRuns) {
  LogFile log;
  ScriptedUpstream upstream(silent());
  RunningProxy proxy(one_route(upstream.endpoint(), "", "",
                               log.setting("format: \"%RESPONSE_FLAGS% "
                                           "%RESPONSE_CODE_DETAILS%\\n\"")),
                     draining_for(std::chrono::milliseconds(300)));
  WireConnection client = proxy.connect();
  client.send(kGet);
  ASSERT_TRUE(upstream.wait_for_requests(1));
  proxy.stop();
  proxy.wait();
  EXPECT_TRUE(client.wait_for_close());
  EXPECT_EQ(log.lines(1), std::vector<std::string>{"DC downstream_local_disconnect"});
}

TEST(Drain, AWaitingRetryStillComes) {
  ScriptedUpstream upstream(in_turn(
      {http_response(503, "", "grpc-retry-pushback-ms: 300\r\n"), http_response(200, "fine")}));
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx")),
                     draining_for(std::chrono::seconds(30)));
  WireConnection client = proxy.connect();
  client.send(kGet);
  ASSERT_TRUE(proxy.stat_becomes("cluster.app.retries_waiting", 1));
  proxy.stop();
  const auto answer = client.read_response();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status(), 200);
}

TEST(Drain, MayBeAskedForAtTheAdminListener) {
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(one_route(upstream.endpoint()), draining_for(std::chrono::seconds(30)));
  EXPECT_EQ(proxy.admin("POST", "/quitquitquit").status(), 200);
  proxy.wait();
}

TEST(Drain, OfTheListenersAloneKeepsTheProcess) {
  ScriptedUpstream upstream(always(http_response(200, "fine")));
  RunningProxy proxy(one_route(upstream.endpoint()));
  WireConnection client = proxy.connect();
  client.send(kGet);
  EXPECT_EQ(client.read_response()->status(), 200);
  EXPECT_EQ(proxy.admin("POST", "/drain_listeners?graceful").status(), 200);
  EXPECT_TRUE(client.wait_for_close());
  EXPECT_EQ(proxy.get().field("connection"), "close");
  EXPECT_EQ(proxy.admin("GET", "/ready").status(), 200);
}

}  // namespace
}  // namespace damper::tests
