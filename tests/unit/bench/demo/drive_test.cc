#include "bench/demo/drive.h"

#include <gtest/gtest.h>
#include <thread>

#include "bench/demo/leaf.h"
#include "tests/unit/bench/demo/services.h"

namespace damper::demo {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// A leaf on a loop of its own, since the driver runs the test's thread.
class Service {
 public:
  explicit Service(const LeafOptions& options) {
    Socket listening = listen_anywhere();
    address_ = address_of(listening);
    leaf_ = std::make_unique<Leaf>(loop_, std::move(listening), options);
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Service() {
    loop_.post([this] { loop_.stop(); });
    thread_.join();
  }
  const Address& address() const { return address_; }
  // The start of what it counts.
  std::string counts() const {
    event::Loop loop;
    Client client(loop, address_);
    return exchange(loop, client, {"GET", "/_count"})->body;
  }

 private:
  event::Loop loop_;
  Address address_;
  std::unique_ptr<Leaf> leaf_;
  std::thread thread_;
};

TEST(Drive, SendsEveryRequestOnceAndCountsTheAnswers) {
  Service service({.status = 503});
  const Report report = drive({.target = service.address(), .requests = 20, .concurrency = 3});
  EXPECT_EQ(report.statuses, (std::map<int, std::uint64_t>{{503, 20}}));
  EXPECT_EQ(report.errors, 0u);
  EXPECT_EQ(report.latencies.size(), 20u);
  EXPECT_EQ(report.failure_latencies.size(), 20u);
  EXPECT_TRUE(service.counts().starts_with("{\"requests\": 20, ")) << service.counts();
}

TEST(Drive, AnOpenLoopTakesTheTimeThatItsRateSays) {
  Service service({});
  const Report report = drive({.target = service.address(), .requests = 11, .rate = 500});
  EXPECT_EQ(report.statuses.at(200), 11u);
  EXPECT_EQ(report.offered, std::vector<std::uint64_t>{11});
  EXPECT_EQ(report.good, std::vector<std::uint64_t>{11});
  EXPECT_GE(report.duration, 20ms);  // the last is due after 10 / 500 s
}

TEST(Drive, AnOpenLoopDoesNotWaitForAnswers) {
  Service service({.work = {.mean = 20ms}});
  drive({.target = service.address(), .requests = 20, .rate = 5000});
  EXPECT_NE(service.counts().find("\"max_running\": 20"), std::string::npos) << service.counts();
}

TEST(Drive, UsersGiveUpAndMayTryAgain) {
  Service service({.work = {.mean = 10s}});
  const Report report =
      drive({.target = service.address(), .requests = 2, .patience = 2ms, .retries = 2});
  EXPECT_EQ(report.timeouts, 2u);
  EXPECT_EQ(report.errors, 2u);
  EXPECT_EQ(report.retries, 4u);
  EXPECT_TRUE(service.counts().starts_with("{\"requests\": 6, ")) << service.counts();
}

TEST(Drive, ARetryMayHelp) {
  Service service({.fail_percent = 50});
  const Report report = drive({.target = service.address(), .requests = 50, .retries = 30});
  EXPECT_EQ(report.statuses, (std::map<int, std::uint64_t>{{200, 50}}));
  EXPECT_GT(report.retries, 0u);
}

TEST(Drive, CountsWhatGetsNoAnswer) {
  const Address nobody = address_of(listen_anywhere());
  const Report report = drive({.target = nobody, .requests = 5});
  EXPECT_EQ(report.errors, 5u);
  EXPECT_TRUE(report.statuses.empty());
}

TEST(Drive, TellsItsPatienceAndItsTrace) {
  event::Loop loop;
  Socket listening = listen_anywhere();
  const Address address = address_of(listening);
  std::vector<Request> received;
  std::unique_ptr<Server> server;
  server = std::make_unique<Server>(loop, std::move(listening),
                                    [&](Server::Exchange exchange, const Request& request) {
                                      received.push_back(request);
                                      server->answer(exchange, {});
                                    });
  std::thread user([&] {
    drive({.target = address,
           .trace_field = "traceparent",
           .requests = 1,
           .seed = 10,
           .patience = 5s,
           .tell_patience = true});
    loop.post([&] { loop.stop(); });
  });
  loop.run();
  user.join();
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(value_of(received[0].fields, "x-envoy-expected-rq-timeout-ms"), "5000");
  EXPECT_EQ(value_of(received[0].fields, "traceparent"),
            "00-000000000000000a0000000000000001-0000000000000001-01");
}

TEST(Arrivals, AreEvenlySpacedOrRandomWithTheSameRate) {
  EXPECT_EQ(arrivals({.requests = 3, .rate = 10}), (std::vector<Duration>{0ms, 100ms, 200ms}));
  const Load random{.requests = 10'000, .rate = 1000, .poisson = true, .seed = 3};
  const auto times = arrivals(random);
  EXPECT_EQ(times, arrivals(random));
  EXPECT_NEAR(std::chrono::duration<double>(times.back()).count(), 10, 0.4);
}

TEST(Percentile, IsTheSmallestThatSoManyDoNotExceed) {
  const std::vector<Duration> sorted = {1ms, 2ms, 3ms, 4ms};
  EXPECT_EQ(percentile(sorted, 0), 1ms);
  EXPECT_EQ(percentile(sorted, 50), 2ms);
  EXPECT_EQ(percentile(sorted, 51), 3ms);
  EXPECT_EQ(percentile(sorted, 100), 4ms);
  EXPECT_EQ(percentile({}, 50), Duration{});
}

TEST(DriveReport, IsJson) {
  Report report;
  report.statuses = {{200, 2}, {503, 1}};
  report.errors = 4;
  report.timeouts = 3;
  report.retries = 1;
  report.latencies = {3ms, 1ms, 2ms};
  report.failure_latencies = {2ms};
  report.offered = {4, 3};
  report.good = {2, 0};
  report.duration = 1500ms;
  EXPECT_EQ(to_json(report),
            "{\"statuses\": {\"200\": 2, \"503\": 1}, \"errors\": 4, \"timeouts\": 3, "
            "\"retries\": 1, \"seconds\": 1.500, "
            "\"latency_ms\": {\"p50\": 2.000, \"p99\": 3.000, \"max\": 3.000}, "
            "\"failure_ms\": {\"p50\": 2.000, \"p99\": 2.000, \"max\": 2.000}, "
            "\"offered\": [4, 3], \"good\": [2, 0]}\n");
}

}  // namespace
}  // namespace damper::demo
