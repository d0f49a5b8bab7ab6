#include "filters/router/router.h"

#include <algorithm>
#include <utility>

#include "filters/retry/marks.h"
#include "filters/retry/retry_after.h"
#include "filters/router/failure_reply.h"
#include "http/grpc_timeout.h"
#include "route/normalize.h"

namespace damper::router {

using http::HeaderId;
using retry::Failure;
using retry::Outcome;
using retry::Verdict;

Router::Router(stream::Downstream& downstream, http::Worker& worker, upstream::Clusters& clusters,
               RouterOptions options)
    : downstream_(downstream),
      worker_(worker),
      clusters_(clusters),
      options_(options),
      route_(*downstream.route()),
      action_(route_.action) {}

Router::~Router() { on_stream_over(); }

// --- One attempt after the other -----------------------------------------------------------------

void Router::start_attempt() {
  const std::size_t number = record().attempts.size() + 1;
  const bool is_retry = number > 1;
  if (is_retry) {
    ticket_->attempt_started();
    cells().add(stats().upstream_rq_retry);
    cells().add(stats().retry.retries_waiting, -1);
    cells().add(stats().retry.retries_active, 1);
  }
  auto pass = cluster_->admit();
  if (!pass) return refuse_attempt(breaker_refusal(*cluster_, worker_.loop.now()));
  const bool prefers_fresh = hedge_ || (policy_ && policy_->previous_hosts);
  upstream::HostPtr host =
      cluster_->choose_host(prefers_fresh ? std::span<const upstream::HostPtr>(tried_)
                                          : std::span<const upstream::HostPtr>{},
                            is_retry);
  if (!host) return refuse_attempt({.failure = Failure::kNoHealthyHost, .detail = {}});
  tried_.push_back(host);
  record().upstream_host = host->text;
  record().attempts.push_back({.host = host->text});
  Attempt::Owner& self = *this;
  attempt_ = std::make_unique<Attempt>(self, worker_, *cluster_, number, std::move(host),
                                       *std::move(pass), action_->priority, head_->protocol,
                                       attempt_timeouts(), server_name(*tried_.back()));
  // Like the per-try clock it stands still while the client sends.
  if (hedge_ && !is_retry && downstream_.request_ended()) watch_patience();
  attempt_->start();
}

// Instead of an attempt: no host was asked.
void Router::refuse_attempt(const AttemptFailure& why) {
  attempt_.reset();
  record().attempts.push_back({.host = {}, .outcome = retry::word(why.failure)});
  failed(nullptr, why);
}

// With auto_sni: the host that the request goes to, as the upstream will read it.
std::string Router::server_name(const upstream::Host& host) const {
  const auto& tls = cluster_->config().tls;
  if (!tls || !tls->sni_from_request) return {};
  const std::string_view authority =
      action_->auto_host_rewrite ? std::string_view(host.hostname) : head_->authority;
  return std::string(route::without_port(authority));
}

AttemptTimeouts Router::attempt_timeouts() const {
  return {.per_try = per_try_timeout_,
          .idle = policy_ ? policy_->per_try_idle_timeout : Duration::zero()};
}

// What is left for all that is still to be done; nothing: there is no limit (yet).
std::optional<Duration> Router::time_left() const {
  std::optional<TimePoint> nearest = route_deadline_;
  if (record().deadline && (!nearest || *record().deadline < *nearest)) nearest = record().deadline;
  if (!nearest) return std::nullopt;
  return *nearest - worker_.loop.now();
}

void Router::on_attempt_connected(Attempt& attempt) {
  record().upstream_start = record().upstream_start.value_or(worker_.loop.now());
  if (head_->expect_continue && !options_.http.proxy_100_continue && !continued_) {
    continued_ = true;
    http::ResponseHead go_on;
    go_on.status = 100;
    downstream_.send_interim(go_on);
  }
  write_attempt_headers(attempt);
  Buffer body = replay_->copy();
  const bool ended = downstream_.request_ended();
  const bool body_follows = !body.empty() || trailers_;
  attempt.send_head(*head_, ended && !body_follows);
  record().upstream_connection_id = attempt.connection_id();
  record().upstream_local = attempt.local_address();
  if (!body.empty()) attempt.send_body(body, ended && !trailers_);
  if (trailers_) attempt.send_trailers(*trailers_);
  trim_replay();
  if (!ended) downstream_.resume_request();
}

// What each attempt tells the upstream about itself.
void Router::write_attempt_headers(const Attempt& attempt) {
  http::Fields& fields = head_->fields;
  write_attempt_count(attempt.number());
  if (route_.virtual_host->include_is_timeout_retry_header) {
    fields.remove(HeaderId::kXEnvoyIsTimeoutRetry);
    if (attempt.number() > 1) {
      fields.set(HeaderId::kXEnvoyIsTimeoutRetry, timed_out_before_ ? "true" : "false");
    }
  }
  fields.remove(HeaderId::kXEnvoyExpectedRqTimeoutMs);
  const stream::AttemptTime time = attempt_time();
  const Duration expected = time.nearest().value_or(Duration::zero());
  if (expected > Duration::zero() && !options_.http.suppress_envoy_headers) {
    const std::string ms = std::to_string(std::max<std::int64_t>(milliseconds(expected), 1));
    fields.set(HeaderId::kXEnvoyExpectedRqTimeoutMs, ms);
  }
  if (grpc_timeout_holds_) {
    fields.set(HeaderId::kGrpcTimeout, http::format_grpc_timeout(expected));
  } else if (told_deadline_ && attempt.number() > 1) {
    const Duration left = *told_deadline_ - worker_.loop.now();
    fields.set(HeaderId::kGrpcTimeout, http::format_grpc_timeout(left));
  }
  if (action_->auto_host_rewrite) head_->set_authority(attempt.host()->hostname);
  downstream_.prepare_attempt(*head_, time);
}

// Every attempt is numbered (semantics.md §7); a count that came in is never lowered.
void Router::write_attempt_count(std::size_t number) {
  if (!route_.virtual_host->include_request_attempt_count && !action_->marks()) return;
  const auto count = std::max(static_cast<std::uint32_t>(number), incoming_attempts_);
  head_->fields.set(HeaderId::kXEnvoyAttemptCount, std::to_string(count));
  // The head is that of the attempt before, or of a hedge that was connected first.
  head_->fields.remove(HeaderId::kGrpcPreviousRpcAttempts);
  if (count > 1 && is_grpc_) {
    head_->fields.set(HeaderId::kGrpcPreviousRpcAttempts, std::to_string(count - 1));
  }
}

// While the client still sends, the route timeout does not run, and nobody is told of it: the next
// proxy would count it from now.
stream::AttemptTime Router::attempt_time() const {
  stream::AttemptTime time{.left = time_left(), .per_try = std::nullopt};
  if (per_try_timeout_ > Duration::zero()) time.per_try = per_try_timeout_;
  return time;
}

// --- The response --------------------------------------------------------------------------------

void Router::on_attempt_interim(http::ResponseHead&& head) {
  // 100 answers our own Expect, unless the client's was passed through: then it is the client's
  // business.
  if (head.status == 100) {
    if (!options_.http.proxy_100_continue || !head_->expect_continue || continued_) return;
    continued_ = true;
  }
  downstream_.send_interim(head);
}

void Router::on_attempt_head(Attempt& attempt, http::ResponseHead&& head, bool end,
                             http::Fields* trailers) {
  if (over_) return;
  Outcome outcome = outcome_of(head, end || trailers);
  outcome.trailers = trailers;
  any_on_wire_ = true;
  if (Attempt* other = other_than(attempt)) {
    if (!retries_->is_wanted(outcome)) {  // the other one may still be
      stats().retried_rq.count(cells(), head.status);
      note_outcome(&attempt, outcome);
      retries_->count_failure(outcome, situation(), *account_);
      attempt.abandon();
      return drop(&attempt);
    }
    if (attempt.number() > 1) cells().add(stats().retry.hedges_won);
    cancel(*other);
    drop(other);
  }
  if (retry::awaits_grpc_status(outcome) && retries_->is_wanted(outcome)) {
    await_status(attempt, outcome);
    return deliver(std::move(head), end);
  }
  if (try_again(&attempt, outcome)) {
    stats().retried_rq.count(cells(), head.status);
    attempt.abandon();
    return;
  }
  mark_if_final(trailers && trailers->has(HeaderId::kGrpcStatus) ? *trailers : head.fields);
  deliver(std::move(head), end);
}

Outcome Router::outcome_of(const http::ResponseHead& head, bool complete) const {
  const auto matches_name = [&head](const std::string& n) {
    return head.fields.find(n).has_value();
  };
  return {.response = &head,
          .header_matched = route::any_matches(*retriable_headers_, head) ||
                            std::any_of(retriable_header_names_.begin(),
                                        retriable_header_names_.end(), matches_name),
          .request_on_wire = true,
          .any_attempt_on_wire = true,
          .is_grpc = is_grpc_,
          .complete = complete};
}

void Router::deliver(http::ResponseHead&& head, bool end) {
  response_started_ = true;
  attempt_->head_accepted();
  replay_->release();
  record().details = "via_upstream";
  const TimePoint now = worker_.loop.now();
  stats().upstream_rq.count(cells(), head.status);
  cells().record(stats().upstream_rq_time, now - record().start);
  if (!options_.http.suppress_envoy_headers) {
    const std::string ms =
        std::to_string(milliseconds(now - record().request_end.value_or(record().start)));
    head.fields.set(HeaderId::kXEnvoyUpstreamServiceTime, ms);
  }
  if (route_.virtual_host->include_attempt_count_in_response) {
    const std::string count = std::to_string(record().attempts.size());
    head.fields.set(HeaderId::kXEnvoyAttemptCount, count);
  }
  downstream_.send_head(std::move(head), end);
}

void Router::on_attempt_body(Buffer& body, bool end) {
  if (end && status_awaited_) judge_status(ended_with(nullptr));
  downstream_.send_body(body, end);
}

void Router::on_attempt_trailers(http::Fields&& trailers) {
  if (status_awaited_) {
    judge_status(ended_with(&trailers));
    mark_if_final(trailers);
  }
  downstream_.send_trailers(std::move(trailers));
}

void Router::on_response_blocked() {
  if (attempt_) attempt_->pause_response();
}

void Router::on_response_drained() {
  if (attempt_) attempt_->resume_response();
}

// --- After an attempt ----------------------------------------------------------------------------

void Router::on_attempt_failed(Attempt& attempt, const AttemptFailure& failure) {
  if (over_ || !ended_by_deadline(failure)) return failed(&attempt, failure);
  if (!response_started_) {
    note_outcome(&attempt,
                 {.failure = Failure::kRouteTimeout, .request_on_wire = failure.request_on_wire});
  }
  on_route_timeout();
}

// `attempt` is null if no host was asked.
void Router::failed(Attempt* attempt, const AttemptFailure& failure) {
  if (over_) return;
  any_on_wire_ = any_on_wire_ || failure.request_on_wire;
  const Outcome outcome{.failure = failure.failure,
                        .request_on_wire = failure.request_on_wire,
                        .any_attempt_on_wire = any_on_wire_,
                        .keep_alive_race = failure.keep_alive_race,
                        .graceful_goaway = failure.graceful_goaway};
  if (response_started_) {
    if (status_awaited_) {
      judge_status(outcome);
      return fail_started_response(failure);
    }
    const auto decision = decide(record().attempts.size(), outcome);
    const Verdict verdict = std::get<retry::GiveUp>(decision).verdict;
    if (verdict != Verdict::kNone) give_up(record().attempts.size(), verdict);
    return fail_started_response(failure);
  }
  if (hedge_ && hedge_->rival()) {  // the other one may still answer
    note_outcome(attempt, outcome);
    retries_->count_failure(outcome, situation(), *account_);
    drop(attempt);
    if (outcome.failure == Failure::kPerTryTimeout && hedge_->on_per_try_timeout()) try_hedge();
    return;
  }
  if (!try_again(attempt, outcome)) deliver_failure(failure);
}

// Its place in the record, from 1; null: that of the refusal that stands last.
std::size_t Router::number_of(const Attempt* attempt) const {
  return attempt ? attempt->number() : record().attempts.size();
}

// True if another attempt will follow; else `verdict_` says why not.
bool Router::try_again(Attempt* attempt, const Outcome& outcome) {
  const std::size_t number = number_of(attempt);
  note_outcome(attempt, outcome);
  ticket_.reset();  // a retry does not compete with itself for its slot
  auto decision = decide(number, outcome);
  if (auto* again = std::get_if<retry::Retry>(&decision)) {
    retry_later(std::move(*again));
    return true;
  }
  give_up(number, std::get<retry::GiveUp>(decision).verdict);
  return false;
}

// --- How it stands -------------------------------------------------------------------------------

retry::Situation Router::situation() const {
  return {.response_started = response_started_,
          .body_replayable = replay_->keeps(),
          .heed_marks = heeds_marks(),
          .next_host_is_well =
              cluster_->any_well_host_but(tried_.empty() ? nullptr : tried_.back().get()),
          .time_left = time_left(),
          .min_attempt_time = min_attempt_time(),
          .live = cluster_->state().live_mode.load(std::memory_order_relaxed),
          .breaker_open = !cluster_->state().failure_breaker.closed(),
          .wall_time = std::chrono::system_clock::now()};
}

bool Router::heeds_marks() const { return action_->marks() && !cluster_->config().ignore_marks; }

// What hardly any attempt beat: with less time left another one is useless work.
Duration Router::min_attempt_time() const {
  constexpr std::uint64_t kLeastSamples = 20;
  constexpr Duration kFloor = std::chrono::milliseconds(1);
  if (record().min_attempt_time >= Duration::zero()) return record().min_attempt_time;
  const auto learned = cluster_->attempt_latency().percentile(5, kLeastSamples, worker_.loop.now());
  return std::max(learned.value_or(kFloor), kFloor);
}

retry::Decision Router::decide(std::size_t number, const Outcome& outcome) {
  if (number == 1 && retry::is_success(policy_, outcome)) {
    account_->success(worker_.loop.now());
    return retry::GiveUp{};
  }
  retry::Decision decision =
      retries_->on_outcome(outcome, situation(), *account_, worker_.loop.now(), worker_.random);
  note_shadow();
  if (const auto ignored = retries_->take_unreadable_retry_afters()) {
    cells().add(stats().retry.retry_after_unreadable, ignored);
  }
  return decision;
}

// Once a request: what a budget that is only tried out would have done.
void Router::note_shadow() {
  const auto part = account_->shadow_refusal();
  if (!part || !record().retry_shadow_verdict.empty()) return;
  const Verdict verdict = retry::budget_verdict(*part);
  record().retry_shadow_verdict = retry::word(verdict);
  cells().add(stats().retry.budget_shadow_denied);
  cells().add(stats().retry.retry_shadow_refused[retry::index_of(verdict)]);
}

// Once for each attempt, whatever follows from it; null: no host was asked.
void Router::note_outcome(Attempt* attempt, const Outcome& outcome) {
  note_attempt(attempt, outcome);
  if (!attempt) return;
  const Duration took = record().attempts[attempt->number() - 1].duration;
  if (tells_of_host(outcome, took)) report_to_host(*attempt, outcome);
}

// Without what it says about its host.
void Router::note_attempt(Attempt* attempt, const Outcome& outcome) {
  const std::size_t number = number_of(attempt);
  stream::AttemptRecord& noted = record().attempts[number - 1];
  noted.outcome = retry::word(outcome);
  if (number > 1) cells().add(stats().retry.retries_active, -1);
  timed_out_before_ = outcome.failure == Failure::kPerTryTimeout;
  if (timed_out_before_) cells().add(stats().upstream_rq_per_try_timeout);
  if (outcome.failure == Failure::kPerTryIdleTimeout) {
    cells().add(stats().upstream_rq_per_try_idle_timeout);
  }
  if (!attempt) return;
  const TimePoint now = worker_.loop.now();
  noted.duration =
      (outcome.response ? attempt->head_came().value_or(now) : now) - attempt->started();
  if (outcome.response) cluster_->attempt_latency().add(noted.duration, worker_.loop.now());
  cells().record(stats().retry.attempt_time(number), noted.duration);
}

// A caller that had less time than the host usually takes says nothing about the host.
bool Router::tells_of_host(const Outcome& outcome, Duration took) const {
  if (outcome.failure == Failure::kOverflow) return false;
  if (outcome.failure != Failure::kRouteTimeout) return true;
  const bool own =
      route_deadline_ && (!record().deadline || *route_deadline_ <= *record().deadline);
  if (own) return true;
  constexpr std::uint64_t kLeastSamples = 20;
  const auto usual = cluster_->attempt_latency().percentile(95, kLeastSamples, worker_.loop.now());
  return usual && took > *usual;
}

void Router::report_to_host(Attempt& attempt, const Outcome& outcome) {
  upstream::Host& host = *attempt.host();
  const TimePoint now = worker_.loop.now();
  host.health.last_attempt_failed.store(outcome.response == nullptr, std::memory_order_relaxed);
  Duration patience{};
  if (may_ask_for_patience(outcome)) {
    patience = host_patience(outcome, policy_, std::chrono::system_clock::now());
  }
  if (patience > Duration::zero() && retry::effective_status(outcome) == 503) {
    host.health.avoid_until.store((now + patience).time_since_epoch().count(),
                                  std::memory_order_relaxed);
  }
  attempt.report(evidence_of(outcome, patience));
}

void Router::retry_later(retry::Retry&& again) {
  ticket_.emplace(std::move(again.ticket));
  cells().add(again.from_retry_after ? stats().upstream_rq_retry_backoff_ratelimited
                                     : stats().upstream_rq_retry_backoff_exponential);
  cells().add(stats().retry.retry_attempts[retry::cause_index(again.cause)]);
  cells().add(stats().retry.retries_waiting, 1);
  if (!wait_) wait_ = worker_.loop.timer([this] { start_attempt(); });
  wait_->arm(again.wait);
}

void Router::give_up(std::size_t number, Verdict verdict) {
  if (number > 1 && verdict == Verdict::kNone) {
    cells().add(stats().upstream_rq_retry_success);
    cells().add(stats().retry.retry_success);
  }
  verdict_ = verdict;
  if (verdict == Verdict::kNone) return;
  record().retry_verdict = retry::word(verdict);
  cells().add(stats().retry.retry_refused[retry::index_of(verdict)]);
  if (verdict == Verdict::kLimit) {
    set(record().flags, stream::Flag::kRetryLimit);
    cells().add(stats().upstream_rq_retry_limit_exceeded);
  }
  if (retry::is_budget(verdict)) {
    set(record().flags, stream::Flag::kUpstreamOverflow);
    cells().add(stats().upstream_rq_retry_overflow);
    cells().add(stats().retry.budget_denied);
  }
}

// Do the layers above have to be told that what could be retried has been?
bool Router::verdict_is_final() const {
  return action_->marks() && retry::marks_response(verdict_, policy_ ? policy_->num_retries : 0);
}

void Router::mark_if_final(http::Fields& where_the_status_is) {
  if (!verdict_is_final()) return;
  retry::add_final_mark(where_the_status_is, mark_text(retry::word(verdict_)), is_grpc_);
}

std::string Router::mark_text(std::string_view why) const {
  return retry::format_final({.by = options_.node.id,
                              .attempts = static_cast<std::uint32_t>(record().attempts.size()),
                              .verdict = std::string(why)});
}

void Router::deliver_failure(const AttemptFailure& failure) {
  stats().upstream_rq.count(cells(), failure_reply(failure).status);
  reply(failure);
}

void Router::reply(const AttemptFailure& failure) {
  const FailureReply shape = failure_reply(failure);
  const bool retried = record().attempts.size() > 1;
  failure_details_ = failure_details(failure, response_started_);
  record().upstream_failure_reason = transport_failure_in(failure_details_, failure.failure);
  stream::Reply reply{.status = shape.status,
                      .body = failure_body(failure, retried),
                      .details = failure_details_,
                      .flag = shape.flag};
  append_failure_headers(reply, failure, options_.http.suppress_envoy_headers);
  if (route_.virtual_host->include_attempt_count_in_response) {
    const std::string count = std::to_string(record().attempts.size());
    reply.headers.emplace_back(HeaderId::kXEnvoyAttemptCount, count);
  }
  const bool retries_ended = verdict_is_final();
  const bool own_refusal = action_->marks() && retry::marks_response(failure.failure);
  if (retries_ended || own_refusal) {
    const auto why = retries_ended ? retry::word(verdict_) : retry::word(failure.failure);
    retry::add_final_mark(reply, mark_text(why), is_grpc_);
  }
  downstream_.send_reply(std::move(reply));
}

// The head has gone out, so the client must see that the rest is missing.
void Router::fail_started_response(const AttemptFailure& failure) {
  set(record().flags, failure_reply(failure).flag);
  failure_details_ = failure_details(failure, true);
  record().details = failure_details_;
  record().upstream_failure_reason = transport_failure_in(failure_details_, failure.failure);
  downstream_.cut();
}

void Router::on_route_timeout() {
  if (over_) return;
  cells().add(stats().upstream_rq_timeout);
  const AttemptFailure failure{.failure = Failure::kRouteTimeout, .detail = {}};
  if (response_started_) return fail_started_response(failure);
  for (Attempt* running : {attempt_.get(), hedge_ ? hedge_->rival() : nullptr}) {
    if (!running || running->ended()) continue;
    note_outcome(running, {.failure = Failure::kRouteTimeout, .request_on_wire = true});
    running->cancel();
  }
  deliver_failure(failure);
}

void Router::on_stream_over() {
  if (std::exchange(over_, true)) return;
  if (route_timer_) route_timer_->cancel();
  const bool waiting = wait_ && wait_->armed();
  if (waiting) {
    wait_->cancel();
    cells().add(stats().retry.retries_waiting, -1);
  }
  if (hedge_) {
    if (hedge_->timer) hedge_->timer->cancel();
    if (Attempt* rival = hedge_->rival()) {
      cancel(*rival);
      drop(rival);
    }
  }
  if (attempt_) cancel(*attempt_);
  ticket_.reset();
  account_.reset();
  if (replay_) replay_->release();
}

}  // namespace damper::router
