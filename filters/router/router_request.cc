// The router's part of a request: which cluster, which policies, how long; and its body.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "filters/retry/idempotency.h"
#include "filters/retry/marks.h"
#include "filters/retry/request_headers.h"
#include "filters/router/router.h"
#include "http/grpc_timeout.h"

namespace damper::router {

using http::HeaderId;

// --- Before the first attempt --------------------------------------------------------------------

void Router::on_request_head(http::RequestHead& head, bool end) {
  head_ = &head;
  is_grpc_ = head.is_grpc();
  if (!choose_cluster(head)) return;
  choose_policy(head);
  choose_timeouts(head);
  prepare_head(head);
  const std::uint64_t limit = route_.request_body_buffer_limit.value_or(options_.body_limit_bytes);
  replay_.emplace(worker_, limit,
                  hedge_ || (policy_ && !policy_->retry_on.empty() && policy_->num_retries > 0));
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
  const auto* written = cluster.retry_policy ? &*cluster.retry_policy : route_.retry_policy;
  if (written) per_try_timeout_ = written->per_try_timeout;  // it bounds the only attempt too
  if (!off) policy_ = written;

  std::optional<bool> told_hedging;
  if (downstream_.may_steer()) {
    const retry::RequestOverrides told = retry::read_overrides(head.fields);
    told_hedging = told.hedge_on_per_try_timeout;
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
  if (!off) choose_hedging(told_hedging);
  judge_request(head);
}

void Router::choose_hedging(std::optional<bool> told) {
  config::HedgePolicy policy = route_.hedge_policy ? *route_.hedge_policy : config::HedgePolicy{};
  policy.hedge_on_per_try_timeout = told.value_or(policy.hedge_on_per_try_timeout);
  if (policy != config::HedgePolicy{}) hedge_ = std::make_unique<Hedge>(policy);
}

// What the retry policies need to know of the request.
void Router::judge_request(const http::RequestHead& head) {
  const config::Cluster& cluster = cluster_->config();
  if (record().idempotency_key.empty()) {
    record().idempotency_key = head.fields.find(HeaderId::kIdempotencyKey).value_or("");
  }
  const auto key = record().key_made_here             ? retry::KeyOrigin::kMadeHere
                   : record().idempotency_key.empty() ? retry::KeyOrigin::kNone
                                                      : retry::KeyOrigin::kClient;
  static const config::RetryPolicy kNoPolicy;
  const bool repeatable = retry::is_repeatable(head.method, key, policy_ ? *policy_ : kNoPolicy,
                                               cluster.honours_idempotency_key);
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
                                                 .owned_above = action_->marks() && mark_above &&
                                                                retry::is_owner_mark(*mark_above)});
}

// max_stream_duration.grpc_timeout_header_max: from now on, unlike the route timeout, and beside it
// (Envoy switches that off). Without it the first attempt gets grpc-timeout as it came, and further
// ones what is left of it.
void Router::take_grpc_timeout(const http::RequestHead& head) {
  if (!is_grpc_) return;
  const auto value = head.fields.find(HeaderId::kGrpcTimeout);
  const auto told = value ? http::parse_grpc_timeout(*value) : std::nullopt;
  if (!told) return;
  if (!action_->grpc_timeout_header_max) {
    constexpr Duration kFar = std::chrono::hours(24 * 365);
    told_deadline_ = worker_.loop.now() + std::min(*told, kFar);
    return;
  }
  Duration limit = *told;
  const Duration cap = *action_->grpc_timeout_header_max;
  const Duration offset = action_->grpc_timeout_header_offset.value_or(Duration::zero());
  if (cap > Duration::zero()) limit = std::min(limit, cap);
  if (offset < limit) limit -= offset;
  grpc_timeout_holds_ = true;
  downstream_.tighten_deadline(worker_.loop.now() + limit);
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
  if (policy_) per_try_timeout_ = policy_->per_try_timeout;
  if (timeout_ > Duration::zero() && per_try_timeout_ >= timeout_) per_try_timeout_ = {};
  incoming_attempts_ = retry::attempt_count(head.fields);
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
  if (hedge_ && attempt_ && attempt_->number() == 1) watch_patience();
  if (timeout_ > Duration::zero()) route_deadline_ = worker_.loop.now() + timeout_;
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

}  // namespace damper::router
