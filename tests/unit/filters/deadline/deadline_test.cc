#include "filters/deadline/deadline.h"

#include <gtest/gtest.h>

#include "route/entry.h"
#include "tests/support/heads.h"
#include "tests/support/stream_context.h"

namespace damper::deadline {
namespace {

using namespace std::chrono_literals;
using http::HeaderId;

// "name: value\r\n…"
http::RequestHead head_with(std::string_view lines) {
  http::RequestHead head = tests::request("stock", "/");
  while (!lines.empty()) {
    const auto colon = lines.find(": ");
    const auto end = lines.find("\r\n");
    head.fields.add(lines.substr(0, colon), lines.substr(colon + 2, end - colon - 2));
    lines.remove_prefix(end + 2);
  }
  return head;
}

// A request with these headers, a listener of that direction, and what became of it.
struct Request {
  explicit Request(const std::string& headers, config::DeadlineFilter settings_ = {},
                   config::Direction direction = config::Direction::kInbound)
      : settings(std::move(settings_)), head(head_with(headers)) {
    listener.direction = direction;
    listener.http.suppress_envoy_headers = true;  // else the router tells that one
    policy.emplace(settings, listener, node, stats, load);
    filter.emplace(*policy, stream, worker);
    route.label = "stock";
    route.action = &action;
    stream.matched = &route;
    stream.access.request = &head;
    stream.access.downstream_remote = "10.0.0.1:4321";
  }

  // The milliseconds left that it was given; -1: none; "refused" is 504.
  std::int64_t left() {
    const stream::Verdict verdict = filter->on_request_head(head, true);
    if (std::holds_alternative<stream::Reply>(verdict)) return kRefused;
    if (!stream.access.deadline) return -1;
    return milliseconds(*stream.access.deadline - stream.time.now());
  }
  bool refused() { return left() == kRefused; }
  long count(const stats::Counter& counter) { return static_cast<long>(registry.value(counter)); }

  static constexpr std::int64_t kRefused = -504;

  stats::Registry registry;
  stats::HttpStats stats{registry, "test"};
  stats::Cells& cells = registry.new_cells();
  http::Worker worker{0, 1, 1, cells};
  config::DeadlineFilter settings;
  config::Listener listener;
  config::Node node{.id = "n"};
  config::RouteAction action;
  route::RouteEntry route;
  std::shared_ptr<admission::Load> load = std::make_shared<admission::Load>();
  http::RequestHead head;
  tests::TestStream stream;
  std::optional<DeadlinePolicy> policy;
  std::optional<Deadline> filter;
};

std::string in_ms(int ms) {
  const auto at = std::chrono::system_clock::now() + std::chrono::milliseconds(ms);
  return std::to_string(
      std::chrono::floor<std::chrono::milliseconds>(at.time_since_epoch()).count());
}

TEST(Deadline, FromTheNetworkTheRelativeFormHolds) {
  EXPECT_EQ(Request("x-envoy-expected-rq-timeout-ms: 700\r\n").left(), 700);
  EXPECT_EQ(
      Request("x-envoy-expected-rq-timeout-ms: 700\r\nx-deadline: " + in_ms(100) + "\r\n").left(),
      700);
  EXPECT_NEAR(static_cast<double>(Request("x-deadline: " + in_ms(500) + "\r\n").left()), 500, 50);
  EXPECT_NEAR(static_cast<double>(Request("x-request-deadline: " + in_ms(500) + "\r\n").left()),
              500, 50);
  EXPECT_EQ(Request("").left(), -1);
  EXPECT_EQ(Request("x-deadline: soon\r\n").left(), -1);
}

TEST(Deadline, FromTheLocalApplicationTheNearestOfAllHolds) {
  const auto outbound = config::Direction::kOutbound;
  Request near_date("x-envoy-expected-rq-timeout-ms: 700\r\nx-deadline: " + in_ms(300) + "\r\n", {},
                    outbound);
  EXPECT_NEAR(static_cast<double>(near_date.left()), 300, 50);
  Request far_date("x-envoy-expected-rq-timeout-ms: 700\r\nx-deadline: " + in_ms(9000) + "\r\n", {},
                   outbound);
  EXPECT_EQ(far_date.left(), 700);
}

TEST(Deadline, AGrpcTimeoutIsReadFromGrpcRequestsAlone) {
  EXPECT_EQ(Request("content-type: application/grpc\r\ngrpc-timeout: 250m\r\n").left(), 250);
  EXPECT_EQ(Request("grpc-timeout: 250m\r\n").left(), -1);
}

TEST(Deadline, IsCappedAndHasADefault) {
  EXPECT_EQ(Request("x-envoy-expected-rq-timeout-ms: 700000\r\n").left(), 300'000);
  EXPECT_EQ(Request("x-envoy-expected-rq-timeout-ms: 700\r\n", {.max = 500ms}).left(), 500);
  EXPECT_EQ(Request("", {.if_none = 2s}).left(), 2000);
  EXPECT_EQ(Request("x-envoy-expected-rq-timeout-ms: 700\r\n", {.if_none = 200ms}).left(), 700);
}

TEST(Deadline, OnlyGetsCloser) {
  Request request("x-envoy-expected-rq-timeout-ms: 700\r\n");
  request.stream.access.deadline = request.stream.time.now() + 100ms;
  EXPECT_EQ(request.left(), 100);
}

TEST(Deadline, HeadersFromTheConfigurationAreRead) {
  using Form = config::DeadlineFilter::Form;
  const config::DeadlineFilter settings{
      .headers = {{"x-left", Form::kRelative}, {"x-until", Form::kAbsolute}}};
  EXPECT_EQ(Request("x-left: 30\r\n", settings).left(), 30);
  EXPECT_NEAR(static_cast<double>(Request("x-until: " + in_ms(400) + "\r\n", settings).left()), 400,
              50);
}

TEST(Deadline, APastOneIsRefused) {
  for (const auto direction : {config::Direction::kInbound, config::Direction::kOutbound}) {
    Request past("x-deadline: " + in_ms(-1) + "\r\n", {}, direction);
    EXPECT_TRUE(past.refused());
    EXPECT_EQ(past.count(past.stats.deadline_rejected), 1);
    EXPECT_TRUE(Request("x-envoy-expected-rq-timeout-ms: 0\r\n", {}, direction).refused());
  }
}

TEST(Deadline, WhatCannotBeDoneInTimeIsRefusedByTheCallee) {
  const config::DeadlineFilter costs_100ms{.expected_cost = 100ms};
  EXPECT_TRUE(Request("x-envoy-expected-rq-timeout-ms: 104\r\n", costs_100ms).refused());
  EXPECT_EQ(Request("x-envoy-expected-rq-timeout-ms: 105\r\n", costs_100ms).left(), 105);
  EXPECT_EQ(Request("", costs_100ms).left(), -1);
  Request outbound("x-envoy-expected-rq-timeout-ms: 50\r\n", costs_100ms,
                   config::Direction::kOutbound);
  EXPECT_EQ(outbound.left(), 50);
}

TEST(Deadline, InShadowRefusalsAreCountedAndNotMade) {
  Request request("x-envoy-expected-rq-timeout-ms: 50\r\n",
                  {.expected_cost = 100ms, .mode = config::FilterMode::kShadow});
  EXPECT_EQ(request.left(), 50);
  EXPECT_EQ(request.count(request.stats.deadline_shadow_rejected), 1);
  EXPECT_EQ(request.count(request.stats.deadline_rejected), 0);
  EXPECT_FALSE(request.stream.access.expected_cost);
}

TEST(Deadline, ALearnedCostIsHigherWhileRequestsQueue) {
  Request request("x-envoy-expected-rq-timeout-ms: 50\r\n", {.learn_cost = true});
  EXPECT_EQ(request.left(), 50);  // nothing is known yet
  for (int ms = 1; ms <= 100; ++ms) {
    request.policy->learned.operation("stock", "GET").add(ms * 1ms, request.stream.time.now());
  }
  request.stream.time.advance(1s);
  request.stream.access.deadline.reset();
  EXPECT_EQ(request.left(), 50);  // some were as quick as that
  EXPECT_NEAR(static_cast<double>(milliseconds(request.stream.access.expected_cost->queued)), 95,
              6);
  request.load->queued = 1;
  EXPECT_TRUE(request.refused());
}

TEST(Deadline, LearnsFromWhatReachedTheApplication) {
  Request request("", {.learn_cost = true});
  request.left();
  stream::AccessRecord record;
  record.request = &request.head;
  record.work_start = request.stream.time.now();
  for (int i = 0; i < 20; ++i) request.filter->on_done(record);  // refused on the way
  request.stream.time.advance(40ms);
  EXPECT_FALSE(request.policy->learned.operation("stock", "GET").cost(request.stream.time.now()));
  record.upstream_start = record.work_start;
  for (int i = 0; i < 20; ++i) request.filter->on_done(record);
  const auto cost =
      request.policy->learned.operation("stock", "GET").cost(request.stream.time.now() + 1s);
  ASSERT_TRUE(cost);
  EXPECT_NEAR(static_cast<double>(milliseconds(cost->at_rest)), 40, 3);
}

TEST(Deadline, AWrongClockIsNotBelieved) {
  Request request("x-deadline: " + in_ms(-5000) + "\r\n", {.if_none = 3s});
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(request.refused());
  request.stream.access.deadline.reset();
  EXPECT_EQ(request.left(), 3000);
  EXPECT_EQ(request.count(request.stats.deadline_not_believed), 1);
}

// --- What attempts are told ----------------------------------------------------------------------

std::string told(Request& request, HeaderId id) {
  return std::string(request.head.fields.find(id).value_or("-"));
}

TEST(Deadline, EveryAttemptIsToldWhatIsLeft) {
  Request request("x-envoy-expected-rq-timeout-ms: 700\r\n");
  request.left();
  for (const int left : {700, 400}) {
    request.filter->on_attempt_head(request.head, {.left = left * 1ms, .per_try = 500ms});
    EXPECT_EQ(told(request, HeaderId::kXEnvoyExpectedRqTimeoutMs),
              std::to_string(std::min(left, 500)));
    const auto at = std::stoll(told(request, HeaderId::kXDeadline));
    EXPECT_NEAR(static_cast<double>(at), static_cast<double>(std::stoll(in_ms(left))), 50);
    EXPECT_EQ(told(request, HeaderId::kXRequestDeadline), "-");
    EXPECT_EQ(told(request, HeaderId::kGrpcTimeout), "-");
  }
}

TEST(Deadline, TheFormThatCameInIsToldToo) {
  Request request("x-request-deadline: " + in_ms(700) + "\r\n", {.emit = {}});
  request.left();
  request.filter->on_attempt_head(request.head, {.left = 400ms, .per_try = std::nullopt});
  const auto at = std::stoll(told(request, HeaderId::kXRequestDeadline));
  EXPECT_NEAR(static_cast<double>(at), static_cast<double>(std::stoll(in_ms(400))), 50);
  EXPECT_EQ(told(request, HeaderId::kXDeadline), "-");
}

TEST(Deadline, AGrpcRequestIsAlwaysToldItsTimeout) {
  Request request("content-type: application/grpc\r\nx-deadline: " + in_ms(700) + "\r\n");
  request.left();
  request.filter->on_attempt_head(request.head, {.left = 400ms, .per_try = std::nullopt});
  EXPECT_EQ(told(request, HeaderId::kGrpcTimeout), "400m");
}

TEST(Deadline, WithoutALimitNothingIsTold) {
  Request request("");
  request.left();
  request.filter->on_attempt_head(request.head, {.left = std::nullopt, .per_try = 500ms});
  EXPECT_EQ(told(request, HeaderId::kXDeadline), "-");
}

}  // namespace
}  // namespace damper::deadline
