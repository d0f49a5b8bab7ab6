#include "bench/demo/client.h"

#include <gtest/gtest.h>
#include <set>

#include "tests/unit/bench/demo/services.h"

namespace damper::demo {
namespace {

using std::chrono_literals::operator""ms;

// A server that answers at once, if it answers, and says which connections it was asked on.
struct DemoClient : testing::Test {
  DemoClient() {
    Socket listening = listen_anywhere();
    client = std::make_unique<Client>(loop, address_of(listening));
    server = std::make_unique<Server>(loop, std::move(listening),
                                      [this](Server::Exchange exchange, const Request&) {
                                        ++requests;
                                        connections.insert(exchange);
                                        if (answers) server->answer(exchange, {});
                                      });
  }

  event::Loop loop;
  std::unique_ptr<Client> client;
  std::unique_ptr<Server> server;
  bool answers = true;
  int requests = 0;
  std::set<Server::Exchange> connections;
};

TEST_F(DemoClient, SendsTheNextRequestOnTheSameConnection) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(exchange(loop, *client, {})->status, 200);
  EXPECT_EQ(connections.size(), 1u);
}

TEST_F(DemoClient, LeavesWhenItsPatienceEndsAndNeverSendsTwice) {
  answers = false;
  const auto result = exchange(loop, *client, {}, 5ms);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::kTimeout);
  answers = true;
  EXPECT_TRUE(exchange(loop, *client, {}));
  EXPECT_EQ(requests, 2);
  EXPECT_EQ(connections.size(), 2u);
}

TEST_F(DemoClient, NobodyThereIsAnError) {
  const Address nobody = address_of(listen_anywhere());
  Client other(loop, nobody);
  EXPECT_FALSE(exchange(loop, other, {}));
}

TEST_F(DemoClient, AConnectionThatBreaksWhileIdleIsForgotten) {
  EXPECT_TRUE(exchange(loop, *client, {}));
  server->reset(*connections.begin());
  for (int turn = 0; turn < 10; ++turn) loop.run_once();
  EXPECT_TRUE(exchange(loop, *client, {}));
  EXPECT_EQ(connections.size(), 2u);
}

}  // namespace
}  // namespace damper::demo
