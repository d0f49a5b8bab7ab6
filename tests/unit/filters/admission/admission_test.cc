#include "filters/admission/admission.h"

#include <deque>
#include <gtest/gtest.h>

#include "route/entry.h"
#include "tests/support/heads.h"
#include "tests/support/stream_context.h"

namespace damper::admission {
namespace {

using namespace std::chrono_literals;
using Mode = config::FilterMode;
using Reason = stats::AdmissionStats::Reason;

// A request at the filter, with its stream.
struct Request {
  Request(const Admission::Shared& shared, http::Worker& worker, const route::RouteEntry& entry)
      : filter(shared, stream, worker) {
    stream.matched = &entry;
    stream.access.request = &head;
  }

  bool resumed_with_continue() const {
    return stream.resumed.size() == 1 &&
           std::holds_alternative<stream::Continue>(stream.resumed[0]);
  }
  // The reply that it was resumed with.
  const stream::Reply& reply() const { return std::get<stream::Reply>(stream.resumed.at(0)); }

  tests::TestStream stream;
  http::RequestHead head;
  Admission filter;
};

class AdmissionTest : public testing::Test {
 protected:
  void open(const config::AdmissionFilter& settings) {
    gate_.emplace(settings, stats_.admission.limit, std::make_shared<Load>());
  }
  static config::AdmissionFilter settings(std::uint32_t max_concurrency = 1,
                                          std::optional<std::uint32_t> max_queue = 1,
                                          Mode mode = Mode::kEnforce) {
    config::AdmissionFilter out;
    out.max_concurrency = max_concurrency;
    out.max_queue = max_queue;
    out.mode = mode;
    return out;
  }

  Request& add(tests::HeaderList headers = {}) {
    Request& request =
        requests_.emplace_back(Admission::Shared{*gate_, node_, stats_}, worker_, entry_);
    request.head = tests::request("a", "/", headers);
    return request;
  }
  static stream::Verdict arrives(Request& request) {
    return request.filter.on_request_head(request.head, true);
  }
  Request& inside(tests::HeaderList headers = {}) {
    Request& request = add(headers);
    EXPECT_TRUE(std::holds_alternative<stream::Continue>(arrives(request)));
    return request;
  }
  Request& waiting(tests::HeaderList headers = {}) {
    Request& request = add(headers);
    EXPECT_TRUE(std::holds_alternative<stream::Pause>(arrives(request)));
    return request;
  }
  Request& waiting_until(Duration deadline, std::optional<stream::ExpectedCost> cost = {}) {
    Request& request = add();
    request.stream.access.deadline = TimePoint{} + deadline;
    request.stream.access.expected_cost = cost;
    EXPECT_TRUE(std::holds_alternative<stream::Pause>(arrives(request)));
    return request;
  }
  void ends(Request& request, int status = 200) {
    request.stream.access.status = status;
    request.filter.on_done(request.stream.access);
    worker_.loop.run_once();
  }
  std::uint64_t rejected(Reason reason) const {
    return registry_.value(stats_.admission.rejected(reason));
  }
  std::uint64_t would_be_rejected(Reason reason) const {
    return registry_.value(stats_.admission.shadow_rejected(reason));
  }
  std::int64_t active() const { return registry_.value(stats_.admission.active); }
  std::int64_t queued() const { return registry_.value(stats_.admission.queued); }

  stats::Registry registry_;
  stats::HttpStats stats_{registry_, "in"};
  http::Worker worker_{0, 1, 1, registry_.new_cells()};
  config::Node node_{.id = "node-1"};
  config::RouteAction action_;
  route::RouteEntry entry_ = [this] {
    route::RouteEntry entry;
    entry.action = &action_;
    return entry;
  }();
  std::optional<Gate> gate_;
  std::deque<Request> requests_;
};

TEST_F(AdmissionTest, ARequestWaitsForTheEndOfAnother) {
  open(settings());
  Request& first = inside();
  Request& second = waiting();
  EXPECT_EQ(active(), 1);
  EXPECT_EQ(queued(), 1);
  second.stream.time.advance(300ms);
  ends(first);
  EXPECT_TRUE(second.resumed_with_continue());
  EXPECT_EQ(active(), 1);
  EXPECT_EQ(queued(), 0);
  const auto waits = registry_.value(stats_.admission.queue_wait);
  EXPECT_EQ(waits.count(), 1u);
  EXPECT_EQ(waits.sum, 300ms);
  ends(second);
  EXPECT_EQ(active(), 0);
  EXPECT_EQ(gate_->active(), 0u);
}

TEST_F(AdmissionTest, AFullQueueIs503AndUnmarked) {
  open(settings(1, 0));
  Request& first = inside();
  const auto verdict = arrives(add());
  const auto& reply = std::get<stream::Reply>(verdict);
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.details, "admission_queue_full");
  EXPECT_EQ(reply.flag, stream::Flag::kUpstreamOverflow);
  using Headers = std::vector<std::pair<http::HeaderId, std::string>>;
  EXPECT_EQ(reply.headers, (Headers{{http::HeaderId::kXEnvoyOverloaded, "true"},
                                    {http::HeaderId::kRetryAfter, "1"}}));
  EXPECT_EQ(rejected(Reason::kQueueFull), 1u);
  ends(first);
}

TEST_F(AdmissionTest, MaxWaitEndsTheWaiting) {
  open(settings());
  Request& first = inside();
  Request& second = waiting();
  second.stream.time.advance(999ms);
  EXPECT_TRUE(second.stream.resumed.empty());
  second.stream.time.advance(1ms);
  EXPECT_EQ(second.reply().status, 503);
  EXPECT_EQ(second.reply().details, "admission_max_wait");
  EXPECT_EQ(rejected(Reason::kMaxWait), 1u);
  EXPECT_EQ(queued(), 0);
  ends(second, 503);
  ends(first);
  EXPECT_EQ(gate_->active(), 0u);
}

TEST_F(AdmissionTest, AFirstAttemptPushesARetryOutOfAFullQueue) {
  open(settings());
  Request& first = inside();
  Request& retry = waiting({{"x-envoy-attempt-count", "2"}});
  Request& original = waiting({{"x-envoy-attempt-count", "1"}});
  worker_.loop.run_once();
  EXPECT_EQ(retry.reply().details, "admission_queue_full");
  ends(retry, 503);
  ends(first);
  EXPECT_TRUE(original.resumed_with_continue());
  ends(original);
}

TEST_F(AdmissionTest, AClientThatLeavesWhileItWaitsLeavesNothingBehind) {
  open(settings());
  Request& first = inside();
  Request& second = waiting();
  ends(second, 0);
  EXPECT_EQ(queued(), 0);
  ends(first);
  EXPECT_TRUE(second.stream.resumed.empty());
  EXPECT_EQ(gate_->active(), 0u);
  EXPECT_EQ(active(), 0);
}

TEST_F(AdmissionTest, AClientThatLeavesWhileItsSlotIsOnTheWayPassesItOn) {
  open(settings(1, 2));
  Request& first = inside();
  Request& second = waiting();
  Request& third = waiting();
  first.filter.on_done(first.stream.access);
  ends(second, 0);
  EXPECT_TRUE(second.stream.resumed.empty());
  EXPECT_TRUE(third.resumed_with_continue());
  ends(third);
}

TEST_F(AdmissionTest, ASlotThatIsOnTheWayWhenTheWaitEndsIsTaken) {
  open(settings());
  Request& first = inside();
  Request& second = waiting();
  first.filter.on_done(first.stream.access);
  second.stream.time.advance(2s);
  EXPECT_TRUE(second.stream.resumed.empty());
  worker_.loop.run_once();
  EXPECT_TRUE(second.resumed_with_continue());
  ends(second);
}

// --- Deadlines -----------------------------------------------------------------------------------

TEST_F(AdmissionTest, ARequestIsRefusedWhenItCanNoLongerMakeIt) {
  open(settings());
  Request& first = inside();
  Request& second = waiting_until(500ms, stream::ExpectedCost{.at_rest = 10ms, .queued = 200ms});
  second.stream.time.advance(299ms);
  EXPECT_TRUE(second.stream.resumed.empty());
  second.stream.time.advance(1ms);
  EXPECT_EQ(second.reply().status, 504);
  EXPECT_EQ(second.reply().details, "deadline_too_close");
  EXPECT_EQ(second.reply().headers.at(0).first, http::HeaderId::kXDamperRetry);
  EXPECT_EQ(rejected(Reason::kDeadline), 1u);
  EXPECT_EQ(registry_.value(stats_.deadline_rejected), 1u);
  ends(second, 504);
  ends(first);
  EXPECT_EQ(gate_->active(), 0u);
}

TEST_F(AdmissionTest, ARequestIsRefusedWhenItsDeadlinePassesWhateverItCosts) {
  open(settings());
  Request& first = inside();
  Request& second = waiting_until(500ms);
  second.stream.time.advance(499ms);
  EXPECT_TRUE(second.stream.resumed.empty());
  second.stream.time.advance(1ms);
  EXPECT_EQ(second.reply().details, "deadline_too_close");
  ends(second, 504);
  ends(first);
}

TEST_F(AdmissionTest, ADeadlineBehindMaxWaitChangesNothing) {
  open(settings());
  Request& first = inside();
  Request& second = waiting_until(5s);
  second.stream.time.advance(1s);
  EXPECT_EQ(second.reply().details, "admission_max_wait");
  ends(second, 503);
  ends(first);
}

TEST_F(AdmissionTest, ARequestThatCannotWaitIsRefusedAtOnce) {
  open(settings());
  Request& first = inside();
  Request& late = add();
  late.stream.access.deadline = TimePoint{} + 100ms;
  late.stream.access.expected_cost = {.at_rest = 10ms, .queued = 101ms};
  const auto verdict = arrives(late);
  EXPECT_EQ(std::get<stream::Reply>(verdict).status, 504);
  EXPECT_EQ(rejected(Reason::kDeadline), 1u);
  EXPECT_EQ(rejected(Reason::kQueueFull), 0u);
  ends(first);
}

TEST_F(AdmissionTest, WithoutAQueueTheCostInOneDoesNotMatter) {
  open(settings());
  Request& request = add();
  request.stream.access.deadline = TimePoint{} + 100ms;
  request.stream.access.expected_cost = {.at_rest = 10ms, .queued = 101ms};
  EXPECT_TRUE(std::holds_alternative<stream::Continue>(arrives(request)));
  ends(request);
}

TEST_F(AdmissionTest, ASlotThatComesTooLateGoesOnToTheNext) {
  open(settings(1, 2));
  Request& first = inside();
  Request& second = waiting_until(500ms);
  Request& third = waiting();
  first.filter.on_done(first.stream.access);
  second.stream.time.advance(501ms);
  worker_.loop.run_once();  // to the second
  worker_.loop.run_once();  // and on to the third
  EXPECT_EQ(second.reply().details, "deadline_too_close");
  EXPECT_TRUE(third.resumed_with_continue());
  ends(second, 504);
  ends(third);
  EXPECT_EQ(gate_->active(), 0u);
}

// --- How long a request is in --------------------------------------------------------------------

TEST_F(AdmissionTest, AnOrdinaryRequestIsInUntilItsEnd) {
  open(settings());
  Request& request = inside();
  http::ResponseHead head = tests::response(200, {{"content-type", "text/plain"}});
  request.filter.on_response_head(head, false);
  EXPECT_EQ(gate_->active(), 1u);
  ends(request);
  EXPECT_EQ(gate_->active(), 0u);
}

TEST_F(AdmissionTest, AnEventStreamIsInUntilItsHead) {
  open(settings());
  for (const char* type : {"text/event-stream", "Text/Event-Stream ; charset=utf-8"}) {
    Request& request = inside();
    http::ResponseHead head = tests::response(200, {{"content-type", type}});
    request.filter.on_response_head(head, false);
    EXPECT_EQ(gate_->active(), 0u) << type;
    ends(request);
    EXPECT_EQ(gate_->active(), 0u) << type;
  }
}

TEST_F(AdmissionTest, AGrpcRequestIsInUntilItsHead) {
  open(settings());
  Request& request = inside({{"content-type", "application/grpc"}});
  http::ResponseHead head = tests::response(200);
  request.filter.on_response_head(head, false);
  EXPECT_EQ(gate_->active(), 0u);
  ends(request);
  EXPECT_EQ(active(), 0);
}

TEST_F(AdmissionTest, AnUpgradeIsNotCounted) {
  open(settings(1, 0));
  Request& request = add();
  request.head.upgrade = "websocket";
  EXPECT_TRUE(std::holds_alternative<stream::Continue>(arrives(request)));
  EXPECT_EQ(gate_->active(), 0u);
  ends(request, 101);
  EXPECT_EQ(gate_->active(), 0u);
}

// --- Shadow --------------------------------------------------------------------------------------

TEST_F(AdmissionTest, ShadowCountsAFullQueueAndRefusesNothing) {
  open(settings(1, 0, Mode::kShadow));
  Request& first = inside();
  Request& second = inside();
  EXPECT_EQ(would_be_rejected(Reason::kQueueFull), 1u);
  EXPECT_EQ(rejected(Reason::kQueueFull), 0u);
  ends(second);
  ends(first);
  EXPECT_EQ(gate_->active(), 0u);
}

TEST_F(AdmissionTest, ShadowCountsAWaitThatWouldHaveBeenTooLong) {
  open(settings(1, 2, Mode::kShadow));
  Request& first = inside();
  Request& second = inside();
  Request& late = add();
  late.stream.access.deadline = TimePoint{} + 100ms;
  EXPECT_TRUE(std::holds_alternative<stream::Continue>(arrives(late)));
  second.stream.time.advance(1s);
  late.stream.time.advance(1s);
  EXPECT_EQ(would_be_rejected(Reason::kMaxWait), 1u);
  EXPECT_EQ(would_be_rejected(Reason::kDeadline), 1u);
  EXPECT_EQ(registry_.value(stats_.deadline_shadow_rejected), 1u);
  EXPECT_EQ(registry_.value(stats_.deadline_rejected), 0u);
  for (Request* request : {&late, &second, &first}) {
    ends(*request);
    EXPECT_TRUE(request->stream.resumed.empty());
  }
  EXPECT_EQ(gate_->active(), 0u);
}

TEST_F(AdmissionTest, ShadowFollowsWhatWouldHaveWaited) {
  open(settings(1, 1, Mode::kShadow));
  Request& first = inside();
  Request& second = inside();
  EXPECT_EQ(queued(), 1);
  ends(first);
  EXPECT_EQ(queued(), 0);
  EXPECT_EQ(active(), 1);
  EXPECT_TRUE(second.stream.resumed.empty());
  ends(second);
  EXPECT_EQ(gate_->active(), 0u);
}

TEST(AdmissionRetries, AreKnownByTheirCounts) {
  const struct {
    tests::HeaderList headers;
    bool expected;
  } cases[] = {{{}, false},
               {{{"x-envoy-attempt-count", "1"}}, false},
               {{{"x-envoy-attempt-count", "2"}}, true},
               {{{"x-envoy-attempt-count", "many"}}, false},
               {{{"grpc-previous-rpc-attempts", "0"}}, false},
               {{{"grpc-previous-rpc-attempts", "1"}}, true}};
  for (const auto& c : cases) {
    EXPECT_EQ(is_retry(tests::request("a", "/", c.headers).fields), c.expected)
        << tests::text(tests::request("a", "/", c.headers).fields);
  }
}

}  // namespace
}  // namespace damper::admission
