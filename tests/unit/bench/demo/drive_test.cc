#include "bench/demo/drive.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <thread>

#include "bench/demo/leaf.h"
#include "bench/demo/server.h"

namespace damper::demo {
namespace {

using std::chrono_literals::operator""ms;

// A leaf that takes so many connections, one thread each. At its end, threads that were not needed
// stop waiting.
class Service {
 public:
  Service(const LeafOptions& options, int connections)
      : leaf_(options), listening_(*listen_on({"127.0.0.1", 0})) {
    for (int i = 0; i < connections; ++i) threads_.emplace_back([this] { serve_one(); });
  }
  ~Service() {
    shutdown(listening_.fd(), SHUT_RDWR);
    for (std::thread& thread : threads_) thread.join();
  }
  Address address() const { return {"127.0.0.1", *local_port(listening_)}; }
  std::string count() { return leaf_.answer({"GET", "/_count"}).body; }

 private:
  void serve_one() {
    auto accepted = accept_from(listening_);
    if (!accepted) return;
    serve_connection(Connection(std::move(*accepted)),
                     [this](const Request& request) { return leaf_.answer(request); });
  }

  Leaf leaf_;
  Socket listening_;
  std::vector<std::thread> threads_;
};

TEST(Drive, SendsEveryRequestOnceAndCountsTheAnswers) {
  Service service({.status = 503}, 3);
  const Report report = drive({.target = service.address(), .requests = 20, .concurrency = 3});
  EXPECT_EQ(report.statuses, (std::map<int, std::uint64_t>{{503, 20}}));
  EXPECT_EQ(report.errors, 0u);
  EXPECT_EQ(report.latencies.size(), 20u);
  EXPECT_EQ(service.count(), "{\"requests\": 20, \"failed\": 0}\n");
}

TEST(Drive, AnOpenLoopTakesTheTimeThatItsRateSays) {
  Service service({}, 1);
  const Report report =
      drive({.target = service.address(), .requests = 11, .concurrency = 1, .rate = 500});
  EXPECT_EQ(report.statuses.at(200), 11u);
  EXPECT_GE(report.duration, 20ms);  // the last is due after 10 / 500 s
}

TEST(Drive, CountsWhatGetsNoAnswer) {
  Address nobody;
  {
    const Socket listening = *listen_on({"127.0.0.1", 0});
    nobody = {"127.0.0.1", *local_port(listening)};
  }
  const Report report = drive({.target = nobody, .requests = 5});
  EXPECT_EQ(report.errors, 5u);
  EXPECT_TRUE(report.statuses.empty());
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
  report.latencies = {3ms, 1ms, 2ms};
  report.duration = 1500ms;
  EXPECT_EQ(to_json(report),
            "{\"statuses\": {\"200\": 2, \"503\": 1}, \"errors\": 4, \"seconds\": 1.500, "
            "\"latency_ms\": {\"p50\": 2.000, \"p99\": 3.000, \"max\": 3.000}}\n");
}

}  // namespace
}  // namespace damper::demo
