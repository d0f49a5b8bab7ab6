// The end of the chain: chooses the cluster, makes attempts, asks the retry policies after each,
// and delivers one answer.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "base/chunk.h"
#include "config/model/bootstrap.h"
#include "filters/retry/decision.h"
#include "filters/router/attempt.h"
#include "filters/router/hedge.h"
#include "filters/router/replay.h"
#include "filters/router/retry_matchers.h"
#include "route/entry.h"
#include "stream/chain_end.h"

namespace damper::router {

// What the router needs besides its stream; the same for all streams of a listener.
struct RouterOptions {
  const config::HttpOptions& http;
  const config::Node& node;
  const ClusterMatchers& cluster_matchers;
  std::uint64_t body_limit_bytes;  // of the listener: per_connection_buffer_limit_bytes
};

class Router final : public stream::ChainEnd, private Attempt::Owner {
  DAMPER_LIVES_IN_A_CHUNK(Router)

 public:
  Router(stream::Downstream& downstream, http::Worker& worker, upstream::Clusters& clusters,
         RouterOptions options);
  ~Router() override;

  // stream::ChainEnd
  void on_request_head(http::RequestHead& head, bool end) override;
  void on_request_body(Buffer& body, bool end) override;
  void on_request_trailers(http::Fields&& trailers) override;
  void on_response_blocked() override;
  void on_response_drained() override;
  void on_stream_over() override;

 private:
  // Attempt::Owner
  void on_attempt_connected(Attempt& attempt) override;
  void on_attempt_interim(http::ResponseHead&& head) override;
  bool on_attempt_open_head(const http::ResponseHead& head) override;
  void on_attempt_head(Attempt& attempt, http::ResponseHead&& head, bool end,
                       http::Fields* trailers) override;
  void on_attempt_body(Buffer& body, bool end) override;
  void on_attempt_trailers(http::Fields&& trailers) override;
  void on_attempt_failed(Attempt& attempt, const AttemptFailure& failure) override;
  bool on_attempt_slow(Attempt& attempt) override;
  void on_attempt_drained() override;

  // Before the first attempt.
  bool choose_cluster(const http::RequestHead& head);
  void choose_policy(http::RequestHead& head);
  void judge_request(const http::RequestHead& head);
  void choose_timeouts(const http::RequestHead& head);
  void take_grpc_timeout(const http::RequestHead& head);
  void prepare_head(http::RequestHead& head);
  void request_complete();
  void watch_deadline();
  void trim_replay();

  // One attempt after the other.
  void start_attempt();
  void refuse_attempt(const AttemptFailure& why);
  void write_attempt_headers(const Attempt& attempt);
  void write_attempt_count(std::size_t number);
  stream::AttemptTime attempt_time() const;
  AttemptTimeouts attempt_timeouts() const;
  std::string server_name(const upstream::Host& host) const;
  std::optional<Duration> time_left() const;
  void on_route_timeout();

  // Two attempts at a time.
  void choose_hedging(std::optional<bool> told);
  void watch_patience();
  bool try_hedge();
  Attempt* other_than(const Attempt& attempt) const;
  void drop(Attempt* loser);
  void cancel(Attempt& attempt);

  // After an attempt.
  retry::Situation situation() const;
  Duration min_attempt_time() const;
  retry::Outcome outcome_of(const http::ResponseHead& head, bool complete) const;
  std::size_t number_of(const Attempt* attempt) const;
  bool try_again(Attempt* attempt, const retry::Outcome& outcome);
  retry::Decision decide(std::size_t number, const retry::Outcome& outcome);
  void failed(Attempt* attempt, const AttemptFailure& failure);
  void note_shadow();
  void note_outcome(Attempt* attempt, const retry::Outcome& outcome);
  void note_attempt(Attempt* attempt, const retry::Outcome& outcome);
  bool tells_of_host(const retry::Outcome& outcome, Duration took) const;
  void report_to_host(Attempt& attempt, const retry::Outcome& outcome);
  bool heeds_marks() const;
  void retry_later(retry::Retry&& retry);
  void give_up(std::size_t number, retry::Verdict verdict);
  void deliver(http::ResponseHead&& head, bool end);
  void mark_if_final(http::Fields& where_the_status_is);

  // A gRPC answer whose status is not in its head.
  void await_status(Attempt& attempt, const retry::Outcome& outcome);
  void judge_status(const retry::Outcome& outcome);
  bool ended_by_deadline(const AttemptFailure& failure) const;
  retry::Outcome ended_with(const http::Fields* trailers) const;
  void deliver_failure(const AttemptFailure& failure);
  void fail_started_response(const AttemptFailure& failure);
  void reply(const AttemptFailure& failure);
  bool verdict_is_final() const;
  std::string mark_text(std::string_view why) const;

  stats::Cells& cells() const { return worker_.cells; }
  stats::ClusterStats& stats() const { return cluster_->state().stats; }
  upstream::RetryBudget& budget() const { return cluster_->state().budget(action_->priority); }
  stream::AccessRecord& record() const { return downstream_.record(); }

  stream::Downstream& downstream_;
  http::Worker& worker_;
  upstream::Clusters& clusters_;
  const RouterOptions options_;
  const route::RouteEntry& route_;
  const config::RouteAction* action_ = nullptr;

  http::RequestHead* head_ = nullptr;
  std::optional<http::Fields> trailers_;
  route::ClusterPick pick_;
  upstream::Cluster* cluster_ = nullptr;

  std::optional<config::RetryPolicy> own_policy_;  // if the request's headers changed the route's
  const config::RetryPolicy* policy_ = nullptr;
  const std::vector<route::HeaderMatcher>* retriable_headers_ = &route_.retriable_headers;
  std::vector<std::string> retriable_header_names_;  // of x-envoy-retriable-header-names
  std::optional<retry::RetryState> retries_;
  std::optional<Replay> replay_;
  std::optional<upstream::BudgetAccount> account_;
  std::optional<upstream::RetryTicket> ticket_;  // of the retry that waits or runs
  std::unique_ptr<Attempt> attempt_;             // the youngest
  std::unique_ptr<Hedge> hedge_;                 // null: the route does not hedge
  std::vector<upstream::HostPtr> tried_;
  std::uint32_t incoming_attempts_ = 1;  // x-envoy-attempt-count of the request

  Duration timeout_{};
  Duration per_try_timeout_{};
  std::optional<TimePoint> route_deadline_;
  std::optional<TimePoint> told_deadline_;  // by a grpc-timeout that nobody enforces here
  std::unique_ptr<event::Timer> route_timer_;
  std::unique_ptr<event::Timer> wait_;
  std::string failure_details_;  // what record().details views

  retry::Verdict verdict_ = retry::Verdict::kNone;  // why there is no further attempt
  bool is_grpc_ = false;
  bool status_awaited_ = false;      // the answer has gone out, and will be judged at its end
  bool grpc_timeout_holds_ = false;  // the client's grpc-timeout is enforced, and told anew
  bool sent_once_ = false;           // no attempt may follow one whose bytes are on the wire
  bool any_on_wire_ = false;         // bytes of some attempt may have reached an upstream
  bool continued_ = false;           // 100 Continue has been sent
  bool response_started_ = false;
  bool timed_out_before_ = false;  // the last attempt ended by its timeout
  bool over_ = false;
};

}  // namespace damper::router
