#include "bench/demo/relay.h"

#include <gtest/gtest.h>

#include "tests/unit/bench/demo/services.h"

namespace damper::demo {
namespace {

using std::chrono_literals::operator""ms;

// user → relay → a service that answers 503, or not at all.
struct DemoRelay : testing::Test {
  void start(RelayOptions options) {
    Socket behind = listen_anywhere();
    options.target = address_of(behind);
    service = std::make_unique<Server>(
        loop, std::move(behind), [this](Server::Exchange exchange, const Request& request) {
          received.push_back(request);
          if (answers) service->answer(exchange, {503, "secret", {{"x-damper-retry", "final"}}});
        });
    Socket listening = listen_anywhere();
    user = std::make_unique<Client>(loop, address_of(listening));
    relay = std::make_unique<Relay>(loop, std::move(listening), options);
  }

  event::Loop loop;
  bool answers = true;
  std::vector<Request> received;
  std::unique_ptr<Server> service;
  std::unique_ptr<Relay> relay;
  std::unique_ptr<Client> user;
};

TEST_F(DemoRelay, HandsOnItsTracingIdAndNothingElse) {
  start({});
  const auto response = exchange(
      loop, *user,
      {"GET", "/a", {{"traceparent", "00-1"}, {"x-deadline", "1"}, {"x-request-id", "2"}}});
  EXPECT_EQ(response->status, 503);
  EXPECT_EQ(response->body, "relayed\n");
  EXPECT_EQ(value_of(response->fields, "x-damper-retry"), "");
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].path, "/a");
  EXPECT_EQ(value_of(received[0].fields, "traceparent"), "00-1");
  EXPECT_EQ(value_of(received[0].fields, "x-deadline"), "");
  EXPECT_EQ(value_of(received[0].fields, "x-request-id"), "");
}

TEST_F(DemoRelay, WorksOnWhenItsCallerHasLeft) {
  start({});
  answers = false;
  EXPECT_FALSE(exchange(loop, *user, {}, 1ms));
  EXPECT_TRUE(tests::run_until(loop, [&] { return received.size() == 1; }));
}

TEST_F(DemoRelay, AnswersForACallThatFailed) {
  start({.timeout = 2ms});
  answers = false;
  EXPECT_EQ(exchange(loop, *user, {})->status, 504);
  service.reset();
  EXPECT_EQ(exchange(loop, *user, {})->status, 502);
}

}  // namespace
}  // namespace damper::demo
