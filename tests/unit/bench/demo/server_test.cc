#include "bench/demo/server.h"

#include <gtest/gtest.h>

#include "tests/unit/bench/demo/services.h"

namespace damper::demo {
namespace {

using std::chrono_literals::operator""ms;

// A server that keeps what it was asked until the test answers.
struct DemoServer : testing::Test {
  DemoServer() {
    Socket listening = listen_anywhere();
    client = std::make_unique<Client>(loop, address_of(listening));
    server = std::make_unique<Server>(loop, std::move(listening),
                                      [this](Server::Exchange exchange, const Request& request) {
                                        asked.emplace_back(exchange, request);
                                      });
  }
  void ask(const Request& request, Duration patience = {}) {
    client->send(request, patience,
                 [this](const Result<Response>& result) { results.push_back(result); });
  }
  void wait_for_requests(std::size_t count) {
    ASSERT_TRUE(tests::run_until(loop, [&] { return asked.size() == count; }));
  }
  void wait_for_results(std::size_t count) {
    ASSERT_TRUE(tests::run_until(loop, [&] { return results.size() == count; }));
  }

  event::Loop loop;
  std::unique_ptr<Client> client;
  std::unique_ptr<Server> server;
  std::vector<std::pair<Server::Exchange, Request>> asked;
  std::vector<Result<Response>> results;
};

TEST_F(DemoServer, AnswersRequestsInAnyOrder) {
  ask({"GET", "/1"});
  ask({"GET", "/2"});
  wait_for_requests(2);
  EXPECT_TRUE(server->answer(asked[1].first, {200, asked[1].second.path}));
  wait_for_results(1);
  EXPECT_EQ(results[0]->body, asked[1].second.path);
  EXPECT_TRUE(server->answer(asked[0].first, {200, asked[0].second.path}));
  wait_for_results(2);
  EXPECT_EQ(results[1]->body, asked[0].second.path);
}

TEST_F(DemoServer, KnowsWhenItsCallerHasLeft) {
  ask({}, 1ms);
  wait_for_requests(1);
  wait_for_results(1);
  EXPECT_EQ(results[0].error().code, Errc::kTimeout);
  ASSERT_TRUE(tests::run_until(loop, [&] { return !server->answer(asked[0].first, {}); }));
  EXPECT_FALSE(server->reset(asked[0].first));
}

TEST_F(DemoServer, BreaksAConnectionInsteadOfAnAnswer) {
  ask({});
  wait_for_requests(1);
  EXPECT_TRUE(server->reset(asked[0].first));
  wait_for_results(1);
  EXPECT_EQ(results[0].error().code, Errc::kSystem);  // ECONNRESET, not an end
}

TEST_F(DemoServer, EndsAConnectionThatAsksForIt) {
  ask({"GET", "/", {{"connection", "close"}}});
  wait_for_requests(1);
  EXPECT_TRUE(server->answer(asked[0].first, {204}));
  EXPECT_FALSE(server->answer(asked[0].first, {204}));
  wait_for_results(1);
  EXPECT_EQ(results[0]->status, 204);
}

}  // namespace
}  // namespace damper::demo
