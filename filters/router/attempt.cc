#include "filters/router/attempt.h"

#include <utility>

namespace damper::router {

using retry::Failure;

Attempt::Attempt(Owner& owner, http::Worker& worker, upstream::Cluster& cluster, std::size_t number,
                 upstream::HostPtr host, upstream::FailureBreaker::Pass pass,
                 config::Priority priority, http::Protocol downstream, AttemptTimeouts timeouts,
                 std::string server_name)
    : owner_(owner),
      worker_(worker),
      cluster_(cluster),
      number_(number),
      host_(std::move(host)),
      pass_(std::move(pass)),
      priority_(priority),
      downstream_(downstream),
      timeouts_(timeouts),
      server_name_(std::move(server_name)),
      per_try_left_(timeouts.per_try) {}

Attempt::~Attempt() { cancel(); }

void Attempt::start() {
  started_ = worker_.loop.now();
  upstream::ClusterState& state = cluster_.state();
  state_ = State::kWaiting;
  place_ = state.breaker(priority_).requests.take();
  if (!place_) {
    worker_.cells.add(state.stats.upstream_rq_active_overflow);
    worker_.cells.add(state.stats.upstream_rq_pending_overflow);
    state_ = State::kEnded;
    pass_ = {};
    owner_.on_attempt_failed(*this, {.failure = Failure::kOverflow, .detail = "overflow"});
    return;
  }
  host_->active_requests.fetch_add(1, std::memory_order_relaxed);
  worker_.cells.add(state.stats.upstream_rq_active, 1);
  run_clock();
  pool_ = &cluster_.pool(host_, priority_, downstream_, server_name_);
  pool_->acquire(*this);
}

void Attempt::run_clock() {
  if (timeouts_.per_try == Duration::zero() || head_came_) return;
  if (!per_try_) per_try_ = worker_.loop.timer([this] { on_time(Failure::kPerTryTimeout); });
  if (per_try_->armed()) return;
  clock_started_ = worker_.loop.now();
  per_try_->arm(per_try_left_);
}

void Attempt::restart_clock() {
  if (ended() || (per_try_ && per_try_->armed())) return;
  per_try_left_ = timeouts_.per_try;
  run_clock();
}

void Attempt::stop_clock() {
  if (!per_try_ || !per_try_->armed()) return;
  per_try_->cancel();
  per_try_left_ -= worker_.loop.now() - clock_started_;
}

void Attempt::sign_of_life() {
  if (timeouts_.idle == Duration::zero()) return;
  if (!idle_) idle_ = worker_.loop.timer([this] { on_time(Failure::kPerTryIdleTimeout); });
  idle_->arm(timeouts_.idle);
}

void Attempt::on_connection(http::ClientConnection& connection) {
  connection_ = &connection;
  state_ = State::kOpen;
  worker_.cells.add(cluster_.state().stats.upstream_rq_total);
  owner_.on_attempt_connected(*this);
}

void Attempt::on_no_connection(upstream::PoolFailure failure, std::string_view detail) {
  const auto kind = [failure] {
    switch (failure) {
      case upstream::PoolFailure::kConnectFailure: return Failure::kConnectFailure;
      case upstream::PoolFailure::kConnectTimeout: return Failure::kConnectTimeout;
      case upstream::PoolFailure::kOverflow: return Failure::kOverflow;
    }
    return Failure::kConnectFailure;
  }();
  fail({.failure = kind, .detail = std::string(detail)});
}

void Attempt::send_head(const http::RequestHead& head, bool end) {
  if (http::WebSocketHandshake::is_needed(head, connection_->multiplexed())) {
    websocket_ = std::make_unique<http::WebSocketHandshake>(head, worker_.random);
    id_ = connection_->open(*this, websocket_->request(head), end);
  } else {
    id_ = connection_->open(*this, head, end);
  }
  connection_id_ = connection_->id();
  local_address_ = connection_->local_text();
  request_sent_ = end;
  if (!end) stop_clock();
  sign_of_life();
}

void Attempt::send_body(Buffer& body, bool end) {
  sign_of_life();
  connection_->send_body(id_, body, end);
  if (end) {
    request_sent_ = true;
    run_clock();
  }
}

void Attempt::send_trailers(const http::Fields& trailers) {
  connection_->send_trailers(id_, trailers);
  request_sent_ = true;
  run_clock();
}

std::size_t Attempt::unsent_bytes() const {
  return may_send() ? connection_->unsent_bytes(id_) : 0;
}

bool Attempt::request_on_wire() const { return may_send() && connection_->on_wire(id_); }

void Attempt::pause_response() {
  stop_clock();
  if (idle_) idle_->cancel();  // now it is the client who keeps us waiting
  if (may_send()) connection_->pause_body(id_);
}

void Attempt::resume_response() {
  if (!may_send()) return;
  connection_->resume_body(id_);
  sign_of_life();
}

void Attempt::head_accepted() {
  head_seen_ = true;
  stop_clock();
}

void Attempt::on_drained() {
  if (state_ != State::kOpen) return;
  sign_of_life();
  owner_.on_attempt_drained();
}

void Attempt::on_interim(http::ResponseHead&& head) {
  sign_of_life();
  owner_.on_attempt_interim(std::move(head));
}

void Attempt::on_response_head(http::ResponseHead&& head, bool end) {
  sign_of_life();
  stop_clock();
  if (websocket_ && !websocket_->take_answer(head)) return refuse_handshake();
  head_came_ = worker_.loop.now();
  if (!end && owner_.on_attempt_open_head(head)) return hold(std::move(head));
  if (end) this->end();
  owner_.on_attempt_head(*this, std::move(head), end, nullptr);
}

void Attempt::refuse_handshake() {
  cancel();
  owner_.on_attempt_failed(*this, {.failure = Failure::kProtocolError,
                                   .request_on_wire = true,
                                   .detail = "websocket.handshake"});
}

void Attempt::hold(http::ResponseHead&& head) {
  constexpr Duration kOneMoreFrame = std::chrono::milliseconds(10);
  held_ = std::make_unique<http::ResponseHead>(std::move(head));
  hold_ = worker_.loop.timer([this] { hand_over(false, nullptr); });
  hold_->arm(kOneMoreFrame);
}

// False: the owner does not want the rest.
bool Attempt::hand_over(bool end, http::Fields* trailers) {
  hold_->cancel();
  const auto head = std::exchange(held_, nullptr);
  owner_.on_attempt_head(*this, std::move(*head), end, trailers);
  return head_seen_;
}

void Attempt::on_response_body(Buffer& body, bool end) {
  sign_of_life();
  if (held_ && body.empty() && !end) return;
  if (end) this->end();
  if (held_) {
    const bool all = end && body.empty();
    if (!hand_over(all, nullptr) || all) return;
  }
  owner_.on_attempt_body(body, end);
}

void Attempt::on_response_trailers(http::Fields&& trailers) {
  end();
  if (held_ && !hand_over(false, &trailers)) return;
  owner_.on_attempt_trailers(std::move(trailers));
}

void Attempt::on_stream_failed(const http::StreamFailure& failure) {
  const auto kind = [&failure] {
    if (failure.refused) return Failure::kRefusedStream;
    switch (failure.code) {
      case Errc::kProtocol:
      case Errc::kLimit: return Failure::kProtocolError;
      case Errc::kRefused: return Failure::kConnectFailure;
      case Errc::kClosed:
      case Errc::kReset:
      case Errc::kTimeout:
      case Errc::kInvalid:
      case Errc::kSystem: return Failure::kReset;
    }
    return Failure::kReset;
  }();
  worker_.cells.add(cluster_.state().stats.upstream_rq_rx_reset);
  fail({.failure = kind,
        .request_on_wire = failure.request_on_wire,
        .keep_alive_race = failure.reused_and_silent,
        .stream_only = failure.stream_only,
        .cancelled = failure.cancelled,
        .graceful_goaway = failure.graceful,
        .detail = failure.detail});
}

void Attempt::on_time(Failure failure) {
  if (failure == Failure::kPerTryTimeout && owner_.on_attempt_slow(*this)) return;
  AttemptFailure what{.failure = failure, .request_on_wire = request_on_wire(), .detail = {}};
  cancel();
  owner_.on_attempt_failed(*this, what);
}

void Attempt::fail(AttemptFailure failure) {
  end();
  held_.reset();
  if (failure.failure == Failure::kOverflow) pass_ = {};  // nothing was learned about the cluster
  owner_.on_attempt_failed(*this, failure);
}

void Attempt::cancel() {
  const State before = state_;
  end();
  held_.reset();
  if (before == State::kWaiting) pool_->cancel(*this);
  if (before == State::kOpen && id_ != 0) {
    worker_.cells.add(cluster_.state().stats.upstream_rq_tx_reset);
    connection_->reset(id_);
  }
}

void Attempt::abandon() {
  if (state_ == State::kOpen && request_sent_) {
    end();
    connection_->abandon(id_);
  } else {
    cancel();
  }
}

// Gives back what the attempt holds. Idempotent.
void Attempt::end() {
  if (per_try_) per_try_->cancel();
  if (idle_) idle_->cancel();
  if (hold_) hold_->cancel();
  if (state_ != State::kWaiting && state_ != State::kOpen) return;
  state_ = State::kEnded;
  place_ = {};
  host_->active_requests.fetch_sub(1, std::memory_order_relaxed);
  worker_.cells.add(cluster_.state().stats.upstream_rq_active, -1);
}

}  // namespace damper::router
