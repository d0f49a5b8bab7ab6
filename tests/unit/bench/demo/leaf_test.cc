#include "bench/demo/leaf.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "tests/unit/bench/demo/services.h"

namespace damper::demo {
namespace {

using std::chrono_literals::operator""ms;

// A leaf and a user of it.
struct Service {
  explicit Service(const LeafOptions& options) : Service(options, listen_anywhere()) {}
  Service(const LeafOptions& options, Socket listening)
      : client(loop, address_of(listening)), leaf(loop, std::move(listening), options) {}

  Result<Response> ask(const Request& request, Duration patience = {}) {
    return exchange(loop, client, request, patience);
  }
  Result<Response> ask_as(std::uint64_t number) {
    return ask({"GET", "/", {{std::string(kRequestNumber), std::to_string(number)}}});
  }
  std::vector<int> statuses(std::uint64_t requests) {
    std::vector<int> out;
    for (std::uint64_t number = 0; number < requests; ++number) {
      out.push_back(ask_as(number)->status);
    }
    return out;
  }
  std::string counts() { return ask({"GET", "/_count"})->body; }

  event::Loop loop;
  Client client;
  Leaf leaf;
};

TEST(Leaf, AnswersWhatItWasTold) {
  Service service({.status = 503, .body_bytes = 5});
  const auto response = service.ask({"GET", "/any"});
  EXPECT_EQ(response->status, 503);
  EXPECT_EQ(response->body.size(), 5u);
}

TEST(Leaf, FailsTheSameAttemptsEveryTime) {
  const LeafOptions options{.fail_percent = 30, .fail_status = 500};
  Service one(options), two(options);
  const auto pattern = one.statuses(1000);
  EXPECT_EQ(pattern, two.statuses(1000));
  EXPECT_NEAR(static_cast<double>(std::count(pattern.begin(), pattern.end(), 500)), 300, 50);
  EXPECT_NE(pattern, one.statuses(1000));  // second attempts

  LeafOptions with_other_seed = options;
  with_other_seed.work.seed = 2;
  Service other(with_other_seed);
  EXPECT_NE(pattern, other.statuses(1000));
}

TEST(Leaf, AFailureMayBeAReset) {
  Service service({.fail_percent = 100, .fail_status = 0});
  const auto result = service.ask({});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::kSystem);
}

TEST(Leaf, CountsWhatItReceivesAndWhatItDoesForNobody) {
  Service service({.fail_percent = 100, .work = {.slots = 1, .mean = 1ms}});
  EXPECT_TRUE(service.ask({}));
  EXPECT_TRUE(service.ask({"POST", "/_stall?ms=60000"}));
  EXPECT_FALSE(service.ask({}, 1ms));
  EXPECT_TRUE(service.ask({"POST", "/_stall?ms=0"}));
  EXPECT_TRUE(service.ask({}));  // after the one whose caller has left
  EXPECT_EQ(service.counts(),
            "{\"requests\": 3, \"failed\": 3, \"finished\": 3, \"wasted\": 1, \"waiting\": 0, "
            "\"running\": 0, \"max_running\": 1}\n");
}

TEST(Leaf, TellsWhenRetriesCame) {
  Service service({});
  service.statuses(2);
  EXPECT_EQ(service.ask({"GET", "/_retries"})->body, "[]\n");
  EXPECT_EQ(service.ask_as(1)->status, 200);
  EXPECT_NE(service.ask({"GET", "/_retries"})->body, "[]\n");
}

TEST(Leaf, CanBeStalledAndMadeToFail) {
  Service service({});
  EXPECT_EQ(service.ask({"POST", "/_stall?ms=60000"})->status, 200);
  EXPECT_FALSE(service.ask({}, 5ms));
  EXPECT_EQ(service.ask({"POST", "/_stall?ms=0"})->status, 200);
  EXPECT_EQ(service.ask({})->status, 200);
  EXPECT_EQ(service.ask({"POST", "/_fail?percent=100"})->status, 200);
  EXPECT_EQ(service.ask({})->status, 503);
  EXPECT_EQ(service.ask({"POST", "/_scale?f=0.5"})->status, 200);
  EXPECT_EQ(service.ask({"POST", "/_sing"})->status, 404);
}

}  // namespace
}  // namespace damper::demo
