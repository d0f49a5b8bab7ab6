#include "filters/legs/legs.h"

#include <gtest/gtest.h>
#include <list>

#include "filters/retry/marks.h"
#include "route/entry.h"
#include "tests/support/heads.h"
#include "tests/support/stream_context.h"

namespace damper::legs {
namespace {

using namespace std::chrono_literals;
using http::HeaderId;
using tests::HeaderList;

constexpr const char* kFinal = "final; by=stock; attempts=3; verdict=limit";
constexpr const char* kTraceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

// What all filters of one process share.
struct Sidecar {
  long count(const stats::Counter& counter) { return static_cast<long>(registry.value(counter)); }

  stats::Registry registry;
  stats::HttpStats stats{registry, "test"};
  http::Worker worker{0, 1, 1, registry.new_cells()};
  config::Node node{.id = "order"};
  Correlation correlation{7};
  Shared shared{correlation, node, stats};
};

// One request, and the filter of the leg on which it runs.
template <class Leg>
struct Call {
  Call(Sidecar& sidecar, HeaderList headers)
      : head(tests::request("stock", "/", headers)),
        filter(sidecar.shared, stream, sidecar.worker) {
    route.action = &action;
    stream.matched = &route;
    stream.access.request = &head;
    stream.time.advance(1h);
  }

  TimePoint now() { return stream.time.now(); }
  stream::Verdict comes() { return filter.on_request_head(head, true); }
  void attempt(std::optional<Duration> left = std::nullopt) {
    filter.on_attempt_head(head, {.left = left, .per_try = std::nullopt});
  }
  http::ResponseHead answer(int status, HeaderList headers = {}) {
    http::ResponseHead response = tests::response(status, headers);
    filter.on_response_head(response, true);
    return response;
  }
  void done() { filter.on_done(stream.access); }
  void leaves() {
    set(stream.access.flags, stream::Flag::kDownstreamTermination);
    done();
  }
  std::string_view field(HeaderId id) { return head.fields.find(id).value_or("-"); }

  config::RouteAction action;
  route::RouteEntry route;
  http::RequestHead head;
  tests::TestStream stream;
  Leg filter;
};

// It has reached the application.
struct In : Call<Inbound> {
  explicit In(Sidecar& sidecar, HeaderList headers = {{"x-request-id", "r"}},
              std::optional<Duration> left = std::nullopt, std::string_view key = {})
      : Call(sidecar, headers) {
    if (left) stream.access.deadline = now() + *left;
    stream.access.idempotency_key = key;
    comes();
    attempt();
  }
};

struct Out : Call<Outbound> {
  explicit Out(Sidecar& sidecar, HeaderList headers = {{"x-request-id", "r"}})
      : Call(sidecar, headers) {}

  bool refused() { return std::holds_alternative<stream::Reply>(comes()); }
};

std::string_view mark_of(const http::ResponseHead& response) {
  return response.fields.find(HeaderId::kXDamperRetry).value_or("-");
}

class Legs : public testing::Test {
 protected:
  // A call for `in` ends with the final mark.
  void fail_a_call(HeaderList ids = {{"x-request-id", "r"}}) {
    Out out(sidecar, ids);
    out.comes();
    out.answer(503, {{"x-damper-retry", kFinal}});
  }

  Sidecar sidecar;
};

// --- What a call takes over ----------------------------------------------------------------------

TEST_F(Legs, ACallInheritsTheDeadline) {
  In in(sidecar, {{"x-request-id", "r"}}, 700ms);
  Out out(sidecar);
  out.stream.time.advance(200ms);
  EXPECT_FALSE(out.refused());
  EXPECT_EQ(out.stream.access.deadline, out.now() + 500ms);
}

TEST_F(Legs, TheRouteTimeoutCapsTheDeadlineOnceTheRequestIsThere) {
  for (const bool ended : {true, false}) {
    Sidecar fresh;
    Call<Inbound> in(fresh, {{"x-request-id", "r"}});
    in.stream.access.deadline = in.now() + 700ms;
    if (ended) in.stream.access.request_end = in.now();
    in.comes();
    in.attempt(400ms);
    Out out(fresh);
    out.comes();
    EXPECT_EQ(out.stream.access.deadline, out.now() + (ended ? 400ms : 700ms));
  }
}

TEST_F(Legs, ADeadlineOfItsOwnThatIsNearerHolds) {
  In in(sidecar, {{"x-request-id", "r"}}, 700ms);
  Out out(sidecar);
  out.stream.access.deadline = out.now() + 100ms;
  out.comes();
  EXPECT_EQ(out.stream.access.deadline, out.now() + 100ms);
}

TEST_F(Legs, ACallInheritsTheCountOfAttempts) {
  for (const auto* header : {"x-envoy-attempt-count", "grpc-previous-rpc-attempts"}) {
    Sidecar fresh;
    In in(fresh, {{"x-request-id", "r"}, {header, "3"}});
    Out out(fresh);
    out.comes();
    EXPECT_EQ(retry::attempt_count(out.head.fields), retry::attempt_count(in.head.fields));
    Out counted(fresh, {{"x-request-id", "r"}, {"x-envoy-attempt-count", "7"}});
    counted.comes();
    EXPECT_EQ(counted.field(HeaderId::kXEnvoyAttemptCount), "7");  // is never lowered
  }
}

TEST_F(Legs, TheCountIsThatOfTheFirstAttemptsHead) {
  In in(sidecar, {{"x-request-id", "r"}});
  in.head.fields.set(HeaderId::kXEnvoyAttemptCount, "2");
  in.attempt();  // our own retry
  Out out(sidecar);
  out.comes();
  EXPECT_EQ(out.field(HeaderId::kXEnvoyAttemptCount), "-");
}

TEST_F(Legs, ACallLearnsThatALayerAboveRetries) {
  In in(sidecar, {{"x-request-id", "r"}, {"x-damper-retry", "owner"}});
  Out out(sidecar);
  out.comes();
  EXPECT_EQ(out.field(HeaderId::kXDamperRetry), "owner");
}

TEST_F(Legs, TheInboundKeyIsOnlyForTheLog) {
  In in(sidecar, {{"x-request-id", "r"}}, {}, "k1");
  Out out(sidecar);
  out.comes();
  EXPECT_EQ(out.stream.access.parent_key, "k1");
  EXPECT_EQ(out.stream.access.idempotency_key, "");
  EXPECT_EQ(out.field(HeaderId::kIdempotencyKey), "-");
}

TEST_F(Legs, OfSeveralRequestsNoKeyIsNamed) {
  In first(sidecar, {{"x-request-id", "r"}}, {}, "k1");
  In second(sidecar, {{"x-request-id", "r"}}, {}, "k2");
  Out out(sidecar);
  out.comes();
  EXPECT_EQ(out.stream.access.parent_key, "");
}

TEST_F(Legs, AnUnmarkedRequestChangesNothing) {
  In in(sidecar);
  Out out(sidecar);
  const std::string before = tests::text(out.head.fields);
  EXPECT_FALSE(out.refused());
  EXPECT_EQ(tests::text(out.head.fields), before);
  EXPECT_FALSE(out.stream.access.deadline);
}

TEST_F(Legs, ARouteMayInheritNothing) {
  In in(sidecar, {{"x-request-id", "r"}, {"x-damper-retry", "owner"}}, 700ms);
  Out out(sidecar);
  out.action.inherit = false;
  out.comes();
  EXPECT_FALSE(out.stream.access.deadline);
  EXPECT_EQ(out.field(HeaderId::kXDamperRetry), "-");
  EXPECT_EQ(sidecar.count(sidecar.stats.legs.outbound_by_id), 0);
  out.answer(503, {{"x-damper-retry", kFinal}});
  EXPECT_EQ(mark_of(in.answer(500)), "-");
}

TEST_F(Legs, PastTheDeadlineACallIsRefused) {
  In in(sidecar, {{"x-request-id", "r"}}, 700ms);
  Out out(sidecar);
  out.stream.time.advance(700ms);
  const stream::Verdict verdict = out.comes();
  const auto* reply = std::get_if<stream::Reply>(&verdict);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 504);
  EXPECT_EQ(reply->body, "deadline too close");
  EXPECT_EQ(reply->headers[0].second, "final; by=order; attempts=0; verdict=deadline");
  EXPECT_EQ(sidecar.count(sidecar.stats.deadline_rejected), 1);
}

TEST_F(Legs, AfterItsCallerHasLeftACallGetsNoRetryAndLaterNothing) {
  In in(sidecar, {{"x-request-id", "r"}}, 700ms);
  in.leaves();
  Out out(sidecar);
  EXPECT_FALSE(out.refused());
  EXPECT_EQ(out.field(HeaderId::kXDamperRetry), "owner");
  Out late(sidecar);
  late.stream.time.advance(700ms);
  EXPECT_TRUE(late.refused());
}

TEST_F(Legs, AfterATimeoutACallGetsNoRetry) {
  In in(sidecar);
  set(in.stream.access.flags, stream::Flag::kUpstreamTimeout);
  in.done();
  Out out(sidecar);
  out.comes();
  EXPECT_EQ(out.field(HeaderId::kXDamperRetry), "owner");
}

TEST_F(Legs, AnAnswerThatCameTooLateIsNoneEither) {
  In in(sidecar, {{"x-request-id", "r"}}, 700ms);
  in.stream.time.advance(700ms);
  in.done();
  Out out(sidecar);
  out.stream.time.advance(700ms);
  EXPECT_TRUE(out.refused());
}

TEST_F(Legs, AfterAnAnswerTheIdIsFree) {
  In in(sidecar, {{"x-request-id", "r"}, {"x-damper-retry", "owner"}}, 700ms);
  in.answer(200);
  in.done();
  Out out(sidecar);
  out.comes();
  EXPECT_FALSE(out.stream.access.deadline);
  EXPECT_EQ(out.field(HeaderId::kXDamperRetry), "-");
  EXPECT_EQ(sidecar.correlation.size(), 0u);
}

TEST_F(Legs, ARequestThatReachesNobodyIsNotRemembered) {
  Call<Inbound> refused(sidecar, {{"x-request-id", "r"}});
  refused.comes();
  EXPECT_EQ(sidecar.correlation.size(), 0u);
  refused.done();
}

// --- By which id ---------------------------------------------------------------------------------

TEST_F(Legs, TheNonceIsForwardedInTracestate) {
  In first(sidecar, {{"traceparent", kTraceparent}, {"tracestate", "a=1"}}, 700ms);
  In second(sidecar, {{"traceparent", kTraceparent}}, 900ms);
  const std::string state(first.field(HeaderId::kTracestate));
  EXPECT_TRUE(state.starts_with("damper=")) << state;
  EXPECT_TRUE(state.ends_with(",a=1")) << state;
  Out exact(sidecar, {{"traceparent", kTraceparent}, {"tracestate", state}});
  exact.comes();
  EXPECT_EQ(exact.stream.access.deadline, exact.now() + 700ms);
  Out either(sidecar, {{"traceparent", kTraceparent}});
  either.comes();
  EXPECT_EQ(either.stream.access.deadline, either.now() + 900ms);
  EXPECT_EQ(sidecar.count(sidecar.stats.legs.outbound_exact), 1);
  EXPECT_EQ(sidecar.count(sidecar.stats.legs.outbound_by_id), 1);
}

TEST_F(Legs, WithoutATraceparentTracestateIsLeftAlone) {
  In in(sidecar, {{"x-request-id", "r"}});
  EXPECT_EQ(in.field(HeaderId::kTracestate), "-");
}

TEST_F(Legs, EveryKindOfMatchIsCounted) {
  const stats::LegStats& legs = sidecar.stats.legs;
  In without_id(sidecar, {});
  EXPECT_EQ(sidecar.count(legs.inbound_without_id), 1);
  Out nothing(sidecar, {});
  nothing.comes();
  EXPECT_EQ(sidecar.count(legs.outbound_without_id), 1);
  Out made_here(sidecar, {{"x-request-id", "r"}});
  made_here.stream.access.request_id_made_here = true;
  made_here.comes();
  EXPECT_EQ(sidecar.count(legs.outbound_without_id), 2);
  Out unknown(sidecar, {{"x-request-id", "r"}});
  unknown.comes();
  EXPECT_EQ(sidecar.count(legs.outbound_unknown_id), 1);
  std::list<In> many;
  for (int i = 0; i < 17; ++i) many.emplace_back(sidecar, HeaderList{{"x-request-id", "r"}}, 700ms);
  Out ambiguous(sidecar, {{"x-request-id", "r"}});
  ambiguous.comes();
  EXPECT_EQ(sidecar.count(legs.outbound_ambiguous), 1);
  EXPECT_FALSE(ambiguous.stream.access.deadline);
  many.back().done();
  Out by_id(sidecar, {{"x-request-id", "r"}});
  by_id.comes();
  EXPECT_EQ(sidecar.count(legs.outbound_by_id), 1);
  EXPECT_TRUE(by_id.stream.access.deadline);
}

TEST_F(Legs, AFullTableIsCounted) {
  Correlation full(7, 0);
  Shared shared{full, sidecar.node, sidecar.stats};
  Call<Inbound> in(sidecar, {{"x-request-id", "r"}});
  Inbound filter(shared, in.stream, sidecar.worker);
  filter.on_request_head(in.head, true);
  filter.on_attempt_head(in.head, {});
  EXPECT_EQ(sidecar.count(sidecar.stats.legs.inbound_overflow), 1);
}

// --- The mark goes up ----------------------------------------------------------------------------

TEST_F(Legs, AFailedAnswerCarriesTheMarkOfItsCall) {
  In in(sidecar);
  EXPECT_EQ(mark_of(in.answer(500)), "-");
  fail_a_call();
  for (const int status : {500, 503, 599}) EXPECT_EQ(mark_of(in.answer(status)), kFinal);
  EXPECT_EQ(sidecar.count(sidecar.stats.legs.marks_passed_on), 3);
  for (const int status : {200, 404, 429, 499}) EXPECT_EQ(mark_of(in.answer(status)), "-");
}

TEST_F(Legs, AMarkOfTheAnswersOwnStays) {
  In in(sidecar);
  fail_a_call();
  EXPECT_EQ(mark_of(in.answer(503, {{"x-damper-retry", "final; by=app"}})), "final; by=app");
  EXPECT_EQ(sidecar.count(sidecar.stats.legs.marks_passed_on), 0);
}

TEST_F(Legs, OnlyAFinalMarkIsPassedOn) {
  In in(sidecar);
  Out out(sidecar);
  out.comes();
  out.answer(503, {{"x-damper-retry", "owner"}});
  out.answer(503);
  EXPECT_EQ(mark_of(in.answer(500)), "-");
}

TEST_F(Legs, OfSeveralRequestsEachThatFailsIsMarked) {
  In failing(sidecar);
  In fine(sidecar);
  fail_a_call();
  EXPECT_EQ(mark_of(failing.answer(500)), kFinal);
  EXPECT_EQ(mark_of(fine.answer(200)), "-");
}

TEST_F(Legs, AnEdgeShowsNoMark) {
  sidecar.shared.edge = true;
  In in(sidecar);
  fail_a_call();
  EXPECT_EQ(mark_of(in.answer(500)), "-");
}

TEST_F(Legs, ALayerAmongManyPassesNoMarkOn) {
  In in(sidecar);
  in.action.layer = config::LayerRole::kEvery;
  fail_a_call();
  EXPECT_EQ(mark_of(in.answer(500)), "-");
}

TEST_F(Legs, AGrpcAnswerIsMarkedWhereItsStatusIs) {
  In in(sidecar, {{"x-request-id", "r"}, {"content-type", "application/grpc"}});
  Out out(sidecar);
  out.comes();
  http::Fields failed;
  failed.add("grpc-status", "14");
  failed.add("x-damper-retry", kFinal);
  out.filter.on_response_trailers(failed);

  EXPECT_EQ(mark_of(in.answer(200)), "-");
  EXPECT_EQ(mark_of(in.answer(200, {{"grpc-status", "0"}})), "-");
  const http::ResponseHead trailers_only = in.answer(200, {{"grpc-status", "14"}});
  EXPECT_EQ(mark_of(trailers_only), kFinal);
  EXPECT_EQ(trailers_only.fields.find(HeaderId::kGrpcRetryPushbackMs), "-1");
  for (const auto* status : {"0", "14"}) {
    http::Fields trailers;
    trailers.add("grpc-status", status);
    in.filter.on_response_trailers(trailers);
    const bool fails = status != std::string_view("0");
    EXPECT_EQ(trailers.has(HeaderId::kXDamperRetry), fails);
    EXPECT_EQ(trailers.has(HeaderId::kGrpcRetryPushbackMs), fails);
  }
  http::Fields marked;
  marked.add("grpc-status", "14");
  marked.add("x-damper-retry", "final; by=app");
  in.filter.on_response_trailers(marked);
  EXPECT_EQ(marked.find(HeaderId::kXDamperRetry), "final; by=app");
}

}  // namespace
}  // namespace damper::legs
