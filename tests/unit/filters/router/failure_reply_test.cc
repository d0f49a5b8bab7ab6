#include "filters/router/failure_reply.h"

#include <gtest/gtest.h>

#include "tests/support/outcomes.h"

namespace damper::router {
namespace {

using retry::Failure;
using stream::Flag;
using tests::Response;
using upstream::Evidence;

TEST(EndOfDeadline, IsAResetOnceTheTimeIsOverOrACancelJustBefore) {
  using std::chrono::microseconds;
  const struct {
    Failure failure;
    bool cancelled;
    Duration left;
    bool is_end;
  } rows[] = {
      {Failure::kReset, true, microseconds(1000), false},
      {Failure::kReset, true, microseconds(999), true},
      {Failure::kReset, false, microseconds(999), false},  // another code, or the connection
      {Failure::kReset, false, microseconds(1), false},
      {Failure::kReset, false, microseconds(0), true},
      {Failure::kReset, false, microseconds(-5000), true},
      {Failure::kRefusedStream, false, microseconds(1), false},
      {Failure::kRefusedStream, false, microseconds(0), true},
      {Failure::kReset, true, Duration::max(), false},
      {Failure::kConnectFailure, false, microseconds(-1), false},
      {Failure::kProtocolError, false, microseconds(-1), false},
      {Failure::kPerTryTimeout, false, microseconds(-1), false},
  };
  for (const auto& row : rows) {
    const AttemptFailure failure{.failure = row.failure, .cancelled = row.cancelled, .detail = {}};
    EXPECT_EQ(is_end_of_deadline(failure, row.left), row.is_end)
        << retry::word(row.failure) << " " << row.left.count();
  }
}

TEST(FailureReply, EachFailureHasItsStatusFlagDetailsAndText) {
  const std::string reset = "upstream connect error or disconnect/reset before headers. ";
  const struct {
    Failure failure;
    int status;
    Flag flag;
    const char* details;
    std::string body;
  } rows[] = {
      {Failure::kConnectFailure, 503, Flag::kUpstreamFailure,
       "upstream_reset_before_response_started{remote_connection_failure|Connection_refused}",
       reset + "reset reason: remote connection failure"},
      {Failure::kConnectTimeout, 503, Flag::kUpstreamFailure,
       "upstream_reset_before_response_started{connection_timeout}",
       reset + "reset reason: connection timeout"},
      {Failure::kReset, 503, Flag::kUpstreamTermination,
       "upstream_reset_before_response_started{connection_termination}",
       reset + "reset reason: connection termination"},
      {Failure::kRefusedStream, 503, Flag::kUpstreamReset,
       "upstream_reset_before_response_started{remote_refused_stream_reset}",
       reset + "reset reason: remote refused stream reset"},
      {Failure::kProtocolError, 502, Flag::kUpstreamProtocol,
       "upstream_reset_before_response_started{protocol_error|Connection_refused}",
       reset + "reset reason: protocol error"},
      {Failure::kOverflow, 503, Flag::kUpstreamOverflow,
       "upstream_reset_before_response_started{overflow}", reset + "reset reason: overflow"},
      {Failure::kPerTryTimeout, 504, Flag::kUpstreamTimeout, "upstream_per_try_timeout",
       "upstream request timeout"},
      {Failure::kPerTryIdleTimeout, 504, Flag::kUpstreamTimeout, "upstream_per_try_idle_timeout",
       "upstream request timeout"},
      {Failure::kRouteTimeout, 504, Flag::kUpstreamTimeout, "response_timeout",
       "upstream request timeout"},
      {Failure::kNoHealthyHost, 503, Flag::kNoHealthyHost, "no_healthy_upstream",
       "no healthy upstream"},
      {Failure::kBreakerOpen, 503, Flag::kUpstreamOverflow, "circuit_breaker_open",
       "circuit breaker open: too much fails"},
  };
  for (const auto& row : rows) {
    const AttemptFailure failure{.failure = row.failure, .detail = "Connection refused"};
    EXPECT_EQ(failure_reply({.failure = row.failure, .detail = {}}).status, row.status)
        << row.details;
    EXPECT_EQ(failure_reply({.failure = row.failure, .detail = {}}).flag, row.flag) << row.details;
    EXPECT_EQ(failure_details(failure, false), row.details);
    EXPECT_EQ(failure_body(failure, false), row.body);
  }
}

TEST(FailureReply, SaysWhetherTheResponseHadBegunAndWhetherItWasRetried) {
  const AttemptFailure failure{.failure = Failure::kReset, .detail = {}};
  EXPECT_EQ(failure_details(failure, true),
            "upstream_reset_after_response_started{connection_termination}");
  EXPECT_NE(failure_body(failure, true).find("retried and the latest reset reason: "),
            std::string::npos);
}

TEST(Evidence, IsWhatTheAttemptSaysAboutItsHost) {
  const Duration none{};
  const Duration second = std::chrono::seconds(1);
  EXPECT_EQ(evidence_of(Response(200).outcome(), none), Evidence::kGood);
  EXPECT_EQ(evidence_of(Response(404).outcome(), none), Evidence::kGood);
  EXPECT_EQ(evidence_of(Response(500).outcome(), none), Evidence::kError);
  EXPECT_EQ(evidence_of(Response(503).outcome(), none), Evidence::kGateway);
  EXPECT_EQ(evidence_of(Response(503).outcome(), second), Evidence::kNone);
  EXPECT_EQ(evidence_of(Response(429).outcome(), second), Evidence::kNone);
  EXPECT_EQ(evidence_of(Response(502).outcome(), second), Evidence::kGateway);
  EXPECT_EQ(evidence_of(Response(503, {{"x-damper-retry", "final"}}).outcome(), none),
            Evidence::kNone);
  EXPECT_EQ(evidence_of(tests::failed(Failure::kReset), none), Evidence::kLocalOrigin);
}

TEST(Evidence, OfAGrpcCallIsWhatItsStatusStandsFor) {
  const std::pair<const char*, Evidence> rows[] = {
      {"0", Evidence::kGood},    {"1", Evidence::kGood},   {"2", Evidence::kError},
      {"4", Evidence::kGateway}, {"5", Evidence::kGood},   {"8", Evidence::kGood},
      {"12", Evidence::kError},  {"13", Evidence::kError}, {"14", Evidence::kGateway},
      {"15", Evidence::kError},  {"16", Evidence::kGood},  {"none", Evidence::kError}};
  for (const auto& [status, evidence] : rows) {
    const Response response(200, {{"grpc-status", status}});
    EXPECT_EQ(evidence_of(response.grpc_outcome(), {}), evidence) << status;
  }
  const Response patient(200, {{"grpc-status", "14"}, {"grpc-retry-pushback-ms", "500"}});
  const Duration patience = host_patience(patient.grpc_outcome(), nullptr, {});
  EXPECT_EQ(patience, std::chrono::milliseconds(500));
  EXPECT_EQ(evidence_of(patient.grpc_outcome(), patience), Evidence::kNone);
}

TEST(FailureReply, SaysThatALimitRefusedAndWhenToComeBack) {
  using Headers = std::vector<std::pair<http::HeaderId, std::string>>;
  const auto headers = [](Failure failure, Duration retry_after, bool suppressed) {
    stream::Reply reply;
    append_failure_headers(reply, {.failure = failure, .detail = {}, .retry_after = retry_after},
                           suppressed);
    return reply.headers;
  };
  const std::pair overloaded{http::HeaderId::kXEnvoyOverloaded, std::string("true")};
  const auto wait = [](const char* s) {
    return std::pair{http::HeaderId::kRetryAfter, std::string(s)};
  };
  EXPECT_EQ(headers(Failure::kReset, {}, false), Headers{});
  EXPECT_EQ(headers(Failure::kOverflow, {}, false), Headers{overloaded});
  EXPECT_EQ(headers(Failure::kBreakerOpen, std::chrono::seconds(5), false),
            (Headers{overloaded, wait("5")}));
  EXPECT_EQ(headers(Failure::kBreakerOpen, std::chrono::milliseconds(4001), true),
            Headers{wait("5")});
  EXPECT_EQ(headers(Failure::kBreakerOpen, std::chrono::nanoseconds(1), true), Headers{wait("1")});
}

TEST(HostPatience, IsTheRetryAfterOf503And429UpToTheLongestWait) {
  const WallTime now{};
  config::RetryPolicy policy;
  policy.retry_after.max_wait = std::chrono::seconds(5);
  const auto patience = [&](int status, const config::RetryPolicy* p) {
    return host_patience(Response(status, {{"retry-after", "20"}}).outcome(), p, now);
  };
  EXPECT_EQ(patience(503, nullptr), std::chrono::seconds(20));
  EXPECT_EQ(patience(429, &policy), std::chrono::seconds(5));
  EXPECT_EQ(patience(500, &policy), Duration::zero());
  policy.retry_after.ignore = true;
  EXPECT_EQ(patience(503, &policy), Duration::zero());
  EXPECT_EQ(host_patience(tests::failed(Failure::kReset), nullptr, now), Duration::zero());
}

TEST(FailureDetails, SayWhyTlsFailedWheneverItDid) {
  const std::string why = "TLS_error:|1:SSL_routines::X:TLS_error_end";
  for (const Failure failure : {Failure::kConnectFailure, Failure::kReset}) {
    const std::string details = failure_details({.failure = failure, .detail = why}, false);
    EXPECT_EQ(transport_failure_in(details, failure), why) << details;
  }
  const std::string reset = failure_details({.failure = Failure::kReset, .detail = "gone"}, false);
  EXPECT_EQ(transport_failure_in(reset, Failure::kReset), "");
  const std::string codec =
      failure_details({.failure = Failure::kProtocolError, .detail = "bad"}, false);
  EXPECT_EQ(transport_failure_in(codec, Failure::kProtocolError), "");
}

}  // namespace
}  // namespace damper::router
