#include "filters/router/router.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "filters/retry/idempotency.h"
#include "filters/retry/marks.h"
#include "filters/retry/request_headers.h"
#include "filters/retry/retry_after.h"
#include "filters/router/failure_reply.h"
#include "http/grpc_timeout.h"

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

// --- Before the first attempt --------------------------------------------------------------------

void Router::on_request_head(http::RequestHead& head, bool end) {
  head_ = &head;
  if (!choose_cluster(head)) return;
  choose_policy(head);
  choose_timeouts(head);
  prepare_head(head);
  const std::uint64_t limit = route_.request_body_buffer_limit.value_or(options_.body_limit_bytes);
  replay_.emplace(worker_, limit,
                  policy_ && !policy_->retry_on.empty() && policy_->num_retries > 0);
  account_.emplace(budget(), worker_.index, route_.label, head.operation(), worker_.loop.now());
  cells().add(stats().retry.original_requests);
  if (end) request_complete();
  if (const auto left = time_left(); left && *left <= Duration::zero()) return on_route_timeout();
  if (record().deadline) watch_deadline();
  start_attempt();
}

bool Router::choose_cluster(const http::RequestHead& head) {
  pick_ = route_.pick_cluster(head, worker_.random);
  downstream_.set_cluster(pick_);
  cluster_ = clusters_.find(pick_.name);
  if (cluster_) {
    record().cluster = cluster_->config().name;
    return true;
  }
  downstream_.send_reply({.status = action_->cluster_not_found_status,
                          .details = "cluster_not_found",
                          .flag = stream::Flag::kNoCluster});
  return false;
}

void Router::choose_policy(http::RequestHead& head) {
  const config::Cluster& cluster = cluster_->config();
  const bool off = action_->layer == config::LayerRole::kOff;
  if (!off) policy_ = cluster.retry_policy ? &*cluster.retry_policy : route_.retry_policy;

  if (downstream_.may_steer()) {
    const retry::RequestOverrides told = retry::read_overrides(head.fields);
    timeout_ = retry::tighten(action_->timeout, told.timeout);
    if (!off && retry::changes_policy(told)) {
      own_policy_ = retry::apply(told, policy_ ? *policy_ : config::RetryPolicy{});
      policy_ = &*own_policy_;
      retriable_header_names_ = told.header_names;
    }
  } else {
    timeout_ = action_->timeout;
  }
  retry::strip_overrides(head.fields);
  judge_request(head);
}

// What the retry policies need to know of the request.
void Router::judge_request(const http::RequestHead& head) {
  const config::Cluster& cluster = cluster_->config();
  const auto key = head.fields.has(HeaderId::kIdempotencyKey) ? retry::KeyOrigin::kClient
                                                              : retry::KeyOrigin::kNone;
  if (key == retry::KeyOrigin::kClient) {
    record().idempotency_key = *head.fields.find(HeaderId::kIdempotencyKey);
  }
  const bool repeatable =
      policy_ && retry::is_repeatable(head.method, key, *policy_, cluster.honours_idempotency_key);
  sent_once_ = policy_ && !repeatable && policy_->retry_non_idempotent_on.empty() &&
               cluster.http == config::UpstreamHttp::kHttp1;
  const auto mark_above = head.fields.find(HeaderId::kXDamperRetry);
  const auto own = options_.cluster_matchers.find(&cluster);
  const bool has_own = own != options_.cluster_matchers.end();
  if (has_own) retriable_headers_ = &own->second.response;
  const auto& allowed = has_own ? own->second.request : route_.retriable_request_headers;
  retries_.emplace(policy_, retry::RequestTraits{.headers_allow = allowed.empty() ||
                                                                  route::any_matches(allowed, head),
                                                 .repeatable = repeatable,
                                                 .owned_above = layer_marks() && mark_above &&
                                                                retry::is_owner_mark(*mark_above)});
}

// max_stream_duration.grpc_timeout_header_max: from now on, unlike the route timeout, and beside it
// (Envoy switches that off).
void Router::take_grpc_timeout(const http::RequestHead& head) {
  if (!action_->grpc_timeout_header_max || !head.is_grpc()) return;
  const auto value = head.fields.find(HeaderId::kGrpcTimeout);
  const auto told = value ? http::parse_grpc_timeout(*value) : std::nullopt;
  if (!told) return;
  Duration limit = *told;
  const Duration cap = *action_->grpc_timeout_header_max;
  const Duration offset = action_->grpc_timeout_header_offset.value_or(Duration::zero());
  if (cap > Duration::zero()) limit = std::min(limit, cap);
  if (offset < limit) limit -= offset;
  grpc_timeout_holds_ = true;
  downstream_.tighten_deadline(worker_.loop.now() + limit);
}

// A layer that is not asked to work alone sends and heeds marks (semantics.md §7).
bool Router::layer_marks() const {
  return action_->layer != config::LayerRole::kEvery && !cluster_->config().ignore_marks;
}

void Router::choose_timeouts(const http::RequestHead& head) {
  if (options_.http.respect_expected_rq_timeout && downstream_.may_steer()) {
    const auto told = head.fields.find(HeaderId::kXEnvoyExpectedRqTimeoutMs);
    const auto ms = told ? parse_number(*told) : std::nullopt;
    constexpr std::uint64_t kDay = 86'400'000;
    if (ms && *ms > 0)
      timeout_ = retry::tighten(timeout_, std::chrono::milliseconds(std::min(*ms, kDay)));
  }
  take_grpc_timeout(head);
  per_try_timeout_ = policy_ ? policy_->per_try_timeout : Duration::zero();
  if (timeout_ > Duration::zero() && per_try_timeout_ >= timeout_) per_try_timeout_ = {};
  const auto count = head.fields.find(HeaderId::kXEnvoyAttemptCount);
  if (count) {
    constexpr std::uint64_t kMost = 1'000'000;  // whoever says more means nothing
    incoming_attempts_ = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(parse_number(*count).value_or(1), 1, kMost));
  }
}

void Router::prepare_head(http::RequestHead& head) {
  route_.mutate_request(head.fields, pick_, record());
  const std::string_view path_before = head.path;
  route_.rewrite(head);
  if (head.path != path_before) {
    record().path_before_rewrite = path_before;
    if (!options_.http.suppress_envoy_headers) {
      head.fields.set(HeaderId::kXEnvoyOriginalPath, path_before);
    }
  }
  if (action_->layer == config::LayerRole::kEntrance) {
    head.fields.set(HeaderId::kXDamperRetry, retry::kOwnerMark);
  }
}

// The route timeout covers all attempts and waits from here, whatever the router is doing
// meanwhile.
void Router::request_complete() {
  if (timeout_ == Duration::zero()) return;
  route_deadline_ = worker_.loop.now() + timeout_;
  watch_deadline();
}

void Router::watch_deadline() {
  const auto left = time_left();
  if (!left) return;
  if (!route_timer_) route_timer_ = worker_.loop.timer([this] { on_route_timeout(); });
  route_timer_->arm(std::max(*left, Duration::zero()));
}

// --- The request's body --------------------------------------------------------------------------

void Router::on_request_body(Buffer& body, bool end) {
  if (over_ || !replay_) return;
  if (end) request_complete();
  const bool sending = attempt_ && attempt_->may_send();
  if (!response_started_ && replay_->keeps()) replay_->hold(body);
  if (!sending) {
    // Nobody can take it yet: hold all of it, and let the client wait when that is much.
    if (replay_->full()) downstream_.pause_request();
    return;
  }
  trim_replay();
  attempt_->send_body(body, end);
  if (attempt_->unsent_bytes() > options_.body_limit_bytes) {
    downstream_.pause_request();
    attempt_->notify_when_drained();
  }
}

// The attempt has been given all of the body: is a copy still of use?
void Router::trim_replay() {
  if (sent_once_ && attempt_->request_on_wire()) {
    replay_->release();
  } else if (replay_->drop_if_useless()) {
    cells().add(stats().retry_or_shadow_abandoned);
  }
}

void Router::on_request_trailers(http::Fields&& trailers) {
  if (over_ || !replay_) return;
  trailers_ = std::move(trailers);
  request_complete();
  if (attempt_ && attempt_->may_send()) attempt_->send_trailers(*trailers_);
}

void Router::on_attempt_drained() { downstream_.resume_request(); }

// --- One attempt after the other -----------------------------------------------------------------

void Router::start_attempt() {
  const bool is_retry = !record().attempts.empty();
  if (is_retry) {
    ticket_->attempt_started();
    cells().add(stats().upstream_rq_retry);
    cells().add(stats().retry.retries_waiting, -1);
    cells().add(stats().retry.retries_active, 1);
  }
  auto pass = cluster_->admit();
  if (!pass) return refuse_attempt(breaker_refusal(*cluster_, worker_.loop.now()));
  const bool prefers_fresh = policy_ && policy_->previous_hosts;
  upstream::HostPtr host =
      cluster_->choose_host(prefers_fresh ? std::span<const upstream::HostPtr>(tried_)
                                          : std::span<const upstream::HostPtr>{},
                            is_retry);
  if (!host) return refuse_attempt({.failure = Failure::kNoHealthyHost, .detail = {}});
  tried_.push_back(host);
  record().upstream_host = host->text;
  record().attempts.push_back({.host = host->text});
  Attempt::Owner& self = *this;
  attempt_ = std::make_unique<Attempt>(self, worker_, *cluster_, std::move(host), *std::move(pass),
                                       action_->priority, attempt_timeouts());
  attempt_->start();
}

// Instead of an attempt: no host was asked.
void Router::refuse_attempt(const AttemptFailure& why) {
  attempt_.reset();
  record().attempts.push_back({.host = {}, .outcome = retry::word(why.failure)});
  on_attempt_failed(why);
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

void Router::on_attempt_connected() {
  record().upstream_start = record().upstream_start.value_or(worker_.loop.now());
  if (head_->expect_continue && !options_.http.proxy_100_continue && !continued_) {
    continued_ = true;
    http::ResponseHead go_on;
    go_on.status = 100;
    downstream_.send_interim(go_on);
  }
  write_attempt_headers();
  Buffer body = replay_->copy();
  const bool ended = downstream_.request_ended();
  const bool body_follows = !body.empty() || trailers_;
  attempt_->send_head(*head_, ended && !body_follows);
  record().upstream_connection_id = attempt_->connection_id();
  record().upstream_local = attempt_->local_address();
  if (!body.empty()) attempt_->send_body(body, ended && !trailers_);
  if (trailers_) attempt_->send_trailers(*trailers_);
  trim_replay();
  if (!ended) downstream_.resume_request();
}

// What each attempt tells the upstream about itself.
void Router::write_attempt_headers() {
  http::Fields& fields = head_->fields;
  const auto attempt = static_cast<std::uint32_t>(record().attempts.size());
  if (route_.virtual_host->include_request_attempt_count) {
    const std::string count = std::to_string(std::max(attempt, incoming_attempts_));
    fields.set(HeaderId::kXEnvoyAttemptCount, count);
  }
  if (route_.virtual_host->include_is_timeout_retry_header && attempt > 1) {
    fields.set(HeaderId::kXEnvoyIsTimeoutRetry, timed_out_before_ ? "true" : "false");
  }
  fields.remove(HeaderId::kXEnvoyExpectedRqTimeoutMs);
  const Duration expected = expected_timeout();
  if (expected > Duration::zero() && !options_.http.suppress_envoy_headers) {
    const std::string ms = std::to_string(std::max<std::int64_t>(milliseconds(expected), 1));
    fields.set(HeaderId::kXEnvoyExpectedRqTimeoutMs, ms);
  }
  if (grpc_timeout_holds_) {
    fields.set(HeaderId::kGrpcTimeout, http::format_grpc_timeout(expected));
  }
  if (action_->auto_host_rewrite) head_->set_authority(attempt_->host()->hostname);
  stream::AttemptTime time{.left = time_left(), .per_try = std::nullopt};
  if (!time.left && timeout_ > Duration::zero()) time.left = timeout_;
  if (per_try_timeout_ > Duration::zero()) time.per_try = per_try_timeout_;
  downstream_.prepare_attempt(*head_, time);
}

// How long we will wait for this attempt; 0: for ever.
Duration Router::expected_timeout() const {
  Duration expected = time_left().value_or(timeout_);
  if (per_try_timeout_ > Duration::zero()) {
    expected =
        expected > Duration::zero() ? std::min(expected, per_try_timeout_) : per_try_timeout_;
  }
  return expected;
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

void Router::on_attempt_head(http::ResponseHead&& head, bool end) {
  if (over_) return;
  const auto matches_name = [&head](const std::string& n) {
    return head.fields.find(n).has_value();
  };
  const Outcome outcome{.response = &head,
                        .header_matched = route::any_matches(*retriable_headers_, head) ||
                                          std::any_of(retriable_header_names_.begin(),
                                                      retriable_header_names_.end(), matches_name),
                        .request_on_wire = true,
                        .any_attempt_on_wire = true};
  any_on_wire_ = true;
  if (try_again(outcome)) {
    stats().retried_rq.count(cells(), head.status);
    attempt_->abandon();
    return;
  }
  if (verdict_is_final()) head.fields.set(HeaderId::kXDamperRetry, mark_text());
  deliver(std::move(head), end);
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

void Router::on_attempt_body(Buffer& body, bool end) { downstream_.send_body(body, end); }

void Router::on_attempt_trailers(http::Fields&& trailers) {
  downstream_.send_trailers(std::move(trailers));
}

void Router::on_response_blocked() {
  if (attempt_) attempt_->pause_response();
}

void Router::on_response_drained() {
  if (attempt_) attempt_->resume_response();
}

// --- After an attempt ----------------------------------------------------------------------------

void Router::on_attempt_failed(const AttemptFailure& failure) {
  if (over_) return;
  if (response_started_) return fail_started_response(failure);
  any_on_wire_ = any_on_wire_ || failure.request_on_wire;
  const Outcome outcome{.failure = failure.failure,
                        .request_on_wire = failure.request_on_wire,
                        .any_attempt_on_wire = any_on_wire_,
                        .keep_alive_race = failure.keep_alive_race};
  if (!try_again(outcome)) deliver_failure(failure);
}

// True if another attempt will follow; else `verdict_` says why not.
bool Router::try_again(const Outcome& outcome) {
  note_outcome(outcome);
  ticket_.reset();  // a retry does not compete with itself for its slot
  auto decision = decide(outcome);
  if (auto* again = std::get_if<retry::Retry>(&decision)) {
    retry_later(std::move(*again));
    return true;
  }
  give_up(std::get<retry::GiveUp>(decision).verdict);
  return false;
}

retry::Situation Router::situation() const {
  return {.response_started = response_started_,
          .body_replayable = replay_->keeps(),
          .heed_marks = layer_marks(),
          .next_host_is_well =
              cluster_->any_well_host_but(tried_.empty() ? nullptr : tried_.back().get()),
          .time_left = time_left(),
          .min_attempt_time = min_attempt_time(),
          .live = cluster_->state().live_mode.load(std::memory_order_relaxed),
          .breaker_open = !cluster_->state().failure_breaker.closed(),
          .wall_time = std::chrono::system_clock::now()};
}

// What hardly any attempt beat: with less time left another one is useless work.
Duration Router::min_attempt_time() const {
  constexpr std::uint64_t kLeastSamples = 20;
  constexpr Duration kFloor = std::chrono::milliseconds(1);
  if (record().min_attempt_time) return *record().min_attempt_time;
  const auto learned = cluster_->attempt_latency().percentile(5, kLeastSamples, worker_.loop.now());
  return std::max(learned.value_or(kFloor), kFloor);
}

retry::Decision Router::decide(const Outcome& outcome) {
  const bool first = record().attempts.size() == 1;
  if (first && retry::is_success(policy_, outcome)) {
    account_->success(worker_.loop.now());
    return retry::GiveUp{};
  }
  const bool noted = account_->shadow_refusal().has_value();
  retry::Decision decision =
      retries_->on_outcome(outcome, situation(), *account_, worker_.loop.now(), worker_.random);
  if (!noted) note_shadow();
  return decision;
}

// What a budget that is only tried out would have done.
void Router::note_shadow() {
  const auto part = account_->shadow_refusal();
  if (!part) return;
  const Verdict verdict = retry::budget_verdict(*part);
  record().retry_shadow_verdict = retry::word(verdict);
  cells().add(stats().retry.budget_shadow_denied);
  cells().add(stats().retry.retry_shadow_refused[retry::index_of(verdict)]);
}

// Once for each attempt, whatever follows from it.
void Router::note_outcome(const Outcome& outcome) {
  stream::AttemptRecord& last = record().attempts.back();
  last.outcome = retry::word(outcome);
  if (record().attempts.size() > 1) cells().add(stats().retry.retries_active, -1);
  timed_out_before_ = outcome.failure == Failure::kPerTryTimeout;
  if (timed_out_before_) cells().add(stats().upstream_rq_per_try_timeout);
  if (outcome.failure == Failure::kPerTryIdleTimeout) {
    cells().add(stats().upstream_rq_per_try_idle_timeout);
  }
  if (!attempt_) return;
  last.duration = worker_.loop.now() - attempt_->started();
  if (outcome.response) cluster_->attempt_latency().add(last.duration, worker_.loop.now());
  cells().record(stats().retry.attempt_time(record().attempts.size()), last.duration);
  if (outcome.failure != Failure::kOverflow) report_to_host(outcome);
}

void Router::report_to_host(const Outcome& outcome) {
  upstream::Host& host = *attempt_->host();
  const TimePoint now = worker_.loop.now();
  host.health.last_attempt_failed.store(outcome.response == nullptr, std::memory_order_relaxed);
  Duration patience{};
  if (may_ask_for_patience(outcome)) {
    patience = host_patience(outcome, policy_, std::chrono::system_clock::now());
  }
  if (patience > Duration::zero() && outcome.response->status == 503) {
    host.health.avoid_until.store((now + patience).time_since_epoch().count(),
                                  std::memory_order_relaxed);
  }
  attempt_->report(evidence_of(outcome, patience));
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

void Router::give_up(Verdict verdict) {
  if (record().attempts.size() > 1 && verdict == Verdict::kNone) {
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
  return layer_marks() && retry::marks_response(verdict_, policy_ ? policy_->num_retries : 0);
}

std::string Router::mark_text() const {
  return retry::format_final({.by = options_.node.id,
                              .attempts = static_cast<std::uint32_t>(record().attempts.size()),
                              .verdict = std::string(retry::word(verdict_))});
}

void Router::deliver_failure(const AttemptFailure& failure) {
  stats().upstream_rq.count(cells(), failure_reply(failure.failure).status);
  reply(failure);
}

void Router::reply(const AttemptFailure& failure) {
  const FailureReply shape = failure_reply(failure.failure);
  const bool retried = record().attempts.size() > 1;
  failure_details_ = failure_details(failure, response_started_);
  stream::Reply reply{.status = shape.status,
                      .body = failure_body(failure, retried),
                      .details = failure_details_,
                      .flag = shape.flag};
  append_failure_headers(reply, failure, options_.http.suppress_envoy_headers);
  if (route_.virtual_host->include_attempt_count_in_response) {
    const std::string count = std::to_string(record().attempts.size());
    reply.headers.emplace_back(HeaderId::kXEnvoyAttemptCount, count);
  }
  const bool own_refusal = layer_marks() && retry::marks_response(failure.failure);
  if (verdict_is_final() || own_refusal)
    reply.headers.emplace_back(HeaderId::kXDamperRetry, mark_text());
  downstream_.send_reply(std::move(reply));
}

// The head has gone out, so the client must see that the rest is missing.
void Router::fail_started_response(const AttemptFailure& failure) {
  set(record().flags, failure_reply(failure.failure).flag);
  failure_details_ = failure_details(failure, true);
  record().details = failure_details_;
  downstream_.cut();
}

void Router::on_route_timeout() {
  if (over_) return;
  cells().add(stats().upstream_rq_timeout);
  const AttemptFailure failure{.failure = Failure::kRouteTimeout, .detail = {}};
  if (response_started_) return fail_started_response(failure);
  if (attempt_ && !(wait_ && wait_->armed())) {
    const Outcome outcome{.failure = Failure::kRouteTimeout, .request_on_wire = true};
    note_outcome(outcome);
    attempt_->cancel();
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
  if (attempt_) {
    stream::AttemptRecord& last = record().attempts.back();
    if (last.outcome.empty()) {  // it still ran: nobody wants its answer any more
      last.outcome = "cancelled";
      last.duration = worker_.loop.now() - attempt_->started();
      if (record().attempts.size() > 1) cells().add(stats().retry.retries_active, -1);
    }
    attempt_->cancel();
  }
  ticket_.reset();
  account_.reset();
  if (replay_) replay_->release();
}

}  // namespace damper::router
