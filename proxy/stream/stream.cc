#include "stream/stream.h"

#include <utility>

#include "base/check.h"
#include "http/forwarding.h"
#include "route/normalize.h"
#include "stream/local_reply.h"

namespace damper::stream {

using http::HeaderId;

Stream::Stream(std::shared_ptr<Frontend> frontend, http::ServerConnection& connection,
               http::StreamId id)
    : frontend_(std::move(frontend)), connection_(&connection), id_(id) {
  record_.stream_id = worker().new_id();
  record_.connection_id = connection.id();
  record_.downstream_remote = connection.peer_text();
  record_.downstream_local = connection.local_text();
  record_.downstream_transport = &connection.transport();
  record_.listener = frontend_->config->listener->name;
  record_.start_time = std::chrono::system_clock::now();
  record_.start = worker().loop.now();
  record_.request = &head_;
  worker().cells.add(frontend_->stats().downstream_rq_total);
  worker().cells.add(frontend_->stats().downstream_rq_active, 1);
}

Stream::~Stream() = default;

// --- The request's way in ------------------------------------------------------------------------

void Stream::on_request_head(http::RequestHead&& head, bool end) {
  head_ = std::move(head);
  request_ = end ? Half::kEnded : Half::kBody;
  if (end) record_.request_end = worker().loop.now();
  std::optional<Reply> refusal = admit(end);
  if (!refusal) refusal = find_route();
  start_clocks();
  if (refusal) {
    send_reply(std::move(*refusal));
    return;
  }
  build_chain();
  run_head(0);
}

void Stream::start_clocks() {
  if (request_ != Half::kEnded) frontend_->request_timeout.restart(request_timeout_);
  const config::RouteAction* action = route_ ? route_->action : nullptr;
  if (action && action->idle_timeout) idle_ = &frontend_->idle_queue(*action->idle_timeout);
  progress();
  Duration longest = options().max_stream_duration;
  if (action) longest = action->max_stream_duration.value_or(longest);
  if (longest > Duration::zero()) {
    max_duration_ = worker().loop.timer([this] { on_max_duration(); });
    max_duration_->arm(longest);
  }
}

// What is decided before the route: who asks, and whether such a request is served at all.
std::optional<Reply> Stream::admit(bool end) {
  const http::Origin origin =
      http::prepare_request(head_, options(), frontend_->config->bootstrap->node,
                            {.address = connection_->peer_ip(),
                             .trusted = connection_->peer_trusted(),
                             .tls = connection_->secure()},
                            worker().random);
  may_steer_ = origin.may_steer;
  record_.request_id_made_here = origin.made_request_id;
  if (frontend_->config->listener->edge) http::strip_request_at_edge(head_.fields);

  if (worker().overloaded) {
    return Reply{.status = 503,
                 .body = "overloaded",
                 .details = "overload",
                 .flag = Flag::kOverload,
                 .headers = {{HeaderId::kXEnvoyOverloaded, "true"}}};
  }
  if (head_.method == "CONNECT") {
    return Reply{.status = 405, .details = "connect_not_supported"};
  }
  if (head_.method == "TRACE" && !end) {  // RFC 9110 §9.3.8
    return Reply{.status = 400, .details = "trace_with_body"};
  }
  switch (route::normalize_path(head_, options())) {
    case route::PathVerdict::kUse: break;
    case route::PathVerdict::kReject:
      return Reply{.status = 400, .details = "path_normalization_failed"};
    case route::PathVerdict::kRedirect:
      return Reply{.status = 307,
                   .details = "path_normalization_failed",
                   .headers = {{HeaderId::kLocation, std::string(head_.path)}}};
  }
  if (options().strip_any_host_port || options().strip_matching_host_port) {
    route::strip_host_port(head_, options(), frontend_->config->listener->address.port);
  }
  return std::nullopt;
}

std::optional<Reply> Stream::find_route() {
  stats::HttpStats& stats = frontend_->stats();
  route_ = frontend_->config->routes.match(head_, worker().random);
  if (!route_) {
    worker().cells.add(stats.no_route);
    return Reply{.status = 404, .details = "route_not_found", .flag = Flag::kNoRoute};
  }
  record_.route_name = route_->route->name;
  record_.virtual_host = route_->virtual_host->name;
  worker().cells.add(stats.rq_total);
  if (route_->direct_response) {
    worker().cells.add(stats.rq_direct_response);
    return Reply{.status = route_->direct_response->status,
                 .body = route_->direct_response->body,
                 .details = "direct_response"};
  }
  if (route_->redirect) {
    worker().cells.add(stats.rq_redirect);
    return Reply{.status = route_->redirect->status,
                 .details = "direct_response",
                 .headers = {{HeaderId::kLocation, route_->redirect_location(head_)}}};
  }
  const bool websocket = route_->action->websocket.value_or(options().websocket);
  if (!head_.upgrade.empty() && !websocket) {
    worker().cells.add(stats.downstream_rq_ws_on_non_ws_route);
    return Reply{.status = 403, .details = "upgrade_failed"};
  }
  return std::nullopt;
}

void Stream::build_chain() {
  filters_.reserve(frontend_->config->filters.size());
  for (const FilterFactory& make : frontend_->config->filters) {
    if (auto filter = make(route_, *this, worker())) filters_.push_back(std::move(filter));
  }
  end_ = frontend_->make_end(*this);
}

// True if the chain goes no further now.
bool Stream::stopped_by(Verdict& verdict, std::size_t at) {
  if (auto* reply = std::get_if<Reply>(&verdict)) {
    send_reply(std::move(*reply));
    return true;
  }
  if (std::holds_alternative<Pause>(verdict)) {
    chain_ = Chain::kPaused;
    paused_at_ = at;
    // Without a body to come nothing needs to be held back, and a client that leaves is seen.
    if (request_ != Half::kEnded) pause_request();
    return true;
  }
  return chain_ == Chain::kOver;
}

void Stream::run_head(std::size_t from) {
  const bool end = request_ended();
  for (std::size_t i = from; i < filters_.size(); ++i) {
    Verdict verdict = filters_[i]->on_request_head(head_, end);
    if (stopped_by(verdict, i)) return;
  }
  record_.work_start = worker().loop.now();
  end_->on_request_head(head_, end);
}

void Stream::on_request_body(Buffer& body, bool end) {
  if (finished_) return;
  record_.bytes_received += body.size();
  progress();
  if (end) end_request();
  if (chain_ == Chain::kPaused) {
    held().body.append(std::move(body));
    held().end = held().end || end;
    return;
  }
  if (chain_ == Chain::kRunning && !over()) run_body(body, end);
}

void Stream::run_body(Buffer& body, bool end) {
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    Verdict verdict = filters_[i]->on_request_body(body, end);
    DAMPER_CHECK(!std::holds_alternative<Pause>(verdict));  // filters pause at the head
    if (stopped_by(verdict, i)) return;
  }
  end_->on_request_body(body, end);
}

void Stream::on_request_trailers(http::Fields&& trailers) {
  if (finished_) return;
  end_request();
  held().trailers = std::move(trailers);
  if (chain_ == Chain::kRunning && !over()) run_trailers();
}

void Stream::run_trailers() {
  http::Fields trailers = *std::exchange(held_->trailers, std::nullopt);
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    Verdict verdict = filters_[i]->on_request_trailers(trailers);
    DAMPER_CHECK(!std::holds_alternative<Pause>(verdict));
    if (stopped_by(verdict, i)) return;
  }
  end_->on_request_trailers(std::move(trailers));
}

void Stream::end_request() {
  request_ = Half::kEnded;
  record_.request_end = worker().loop.now();
  request_timeout_.leave();
}

void Stream::resume(Verdict verdict) {
  if (chain_ != Chain::kPaused) return;
  chain_ = Chain::kRunning;
  resume_request();
  DAMPER_CHECK(!std::holds_alternative<Pause>(verdict));
  if (stopped_by(verdict, paused_at_)) return;
  run_head(paused_at_ + 1);
  if (chain_ == Chain::kRunning) release_held();
}

Stream::Held& Stream::held() {
  if (!held_) held_ = std::make_unique<Held>();
  return *held_;
}

void Stream::release_held() {
  if (!held_) return;
  // An end without a body has gone with the head.
  if (!held_->body.empty()) {
    Buffer body = std::move(held_->body);
    run_body(body, held_->end);
  }
  if (held_->trailers && chain_ == Chain::kRunning) run_trailers();
}

void Stream::tighten_deadline(TimePoint at) {
  if (!record_.deadline || at < *record_.deadline) record_.deadline = at;
}

// --- Trouble on the client's side ----------------------------------------------------------------

void Stream::on_bad_request(int status, const Error& why) {
  if (finished_) return;
  details_ = std::make_unique<std::string>(why.detail);
  worker().cells.add(frontend_->stats().downstream_cx_protocol_error);
  if (status == 413 || status == 431)
    worker().cells.add(frontend_->stats().downstream_rq_too_large);
  set(record_.flags, Flag::kDownstreamProtocol);
  send_reply(
      {.status = status, .body = std::string(http::reason_phrase(status)), .details = *details_});
}

void Stream::on_request_reset(http::Reset) {
  if (finished_) return;
  worker().cells.add(frontend_->stats().downstream_rq_rx_reset);
  set(record_.flags, Flag::kDownstreamReset);
  record_.details = "downstream_remote_reset";
  connection_->end_stream(id_);
  finish();
}

void Stream::on_connection_closed(const Error& why) {
  connection_ = nullptr;
  if (finished_) return;
  if (why.side == Side::kLocal && why.code == Errc::kLimit) {
    set(record_.flags, Flag::kOverload);
    record_.details = "overload";
  } else {
    const bool ours = why.side == Side::kLocal && why.code == Errc::kClosed;
    set(record_.flags, Flag::kDownstreamTermination);
    record_.details = ours ? "downstream_local_disconnect" : "downstream_remote_disconnect";
  }
  worker().cells.add(frontend_->stats().downstream_rq_rx_reset);
  finish();
}

void Stream::on_timeout() {
  worker().cells.add(frontend_->stats().downstream_rq_idle_timeout);
  time_out(request_ == Half::kEnded ? 504 : 408, "stream_idle_timeout", "stream timeout",
           Flag::kStreamIdleTimeout);
}

void Stream::on_request_timeout() {
  if (finished_) return;
  worker().cells.add(frontend_->stats().downstream_rq_timeout);
  time_out(408, "request_overall_timeout", "request timeout", Flag::kDurationTimeout);
}

void Stream::on_max_duration() {
  if (finished_) return;
  worker().cells.add(frontend_->stats().downstream_rq_max_duration_reached);
  time_out(504, "max_duration_timeout", "downstream duration timeout", Flag::kDurationTimeout);
}

void Stream::time_out(int status, std::string_view details, std::string_view body, Flag flag) {
  if (finished_) return;
  send_reply({.status = status, .body = std::string(body), .details = details, .flag = flag});
}

// --- The response's way out ----------------------------------------------------------------------

void Stream::send_interim(const http::ResponseHead& head) {
  if (over() || response_ != Half::kIdle) return;
  progress();
  connection_->send_interim(id_, head);
}

void Stream::send_head(http::ResponseHead&& head, bool end) {
  DAMPER_CHECK(response_ == Half::kIdle);
  response_head_ = std::move(head);
  record_.response = &response_head_;
  record_.status = response_head_.status;
  record_.response_start = worker().loop.now();
  finish_head(response_head_);
  for (auto at = filters_.rbegin(); at != filters_.rend(); ++at) {
    (*at)->on_response_head(response_head_, end);
  }
  response_ = end ? Half::kEnded : Half::kBody;
  progress();
  connection_->send_head(id_, response_head_, end);
  if (end) finish();
}

// What every response gets, an upstream's or our own.
void Stream::finish_head(http::ResponseHead& head) {
  if (route_) route_->mutate_response(head.fields, pick_, record_);
  http::prepare_response(head, head_, options());
  if (frontend_->config->listener->edge) http::strip_response_at_edge(head.fields);
}

void Stream::send_body(Buffer& body, bool end) {
  if (response_ != Half::kBody) return;
  for (auto at = filters_.rbegin(); at != filters_.rend(); ++at) {
    (*at)->on_response_body(body, end);
  }
  record_.bytes_sent += body.size();
  progress();
  connection_->send_body(id_, body, end);
  if (end) {
    response_ = Half::kEnded;
    finish();
    return;
  }
  if (!blocked_ &&
      connection_->unsent_bytes(id_) > frontend_->config->listener->buffer_limit_bytes) {
    blocked_ = true;
    connection_->notify_when_drained(id_);
    if (end_) end_->on_response_blocked();
  }
}

void Stream::on_drained() {
  if (!std::exchange(blocked_, false)) return;
  progress();
  if (end_) end_->on_response_drained();
}

void Stream::send_trailers(http::Fields&& trailers) {
  if (response_ != Half::kBody) return;
  response_trailers_ = std::make_unique<http::Fields>(std::move(trailers));
  record_.response_trailers = response_trailers_.get();
  for (auto at = filters_.rbegin(); at != filters_.rend(); ++at) {
    (*at)->on_response_trailers(*response_trailers_);
  }
  if (frontend_->config->listener->edge) http::strip_response_at_edge(*response_trailers_);
  response_ = Half::kEnded;
  connection_->send_trailers(id_, *response_trailers_);
  finish();
}

void Stream::send_reply(Reply&& reply) {
  if (over()) return;
  chain_ = Chain::kOver;
  record_.details = reply.details;
  if (reply.flag) set(record_.flags, *reply.flag);
  if (response_ != Half::kIdle) return cut();  // too late for another answer
  LocalReply local = make_local_reply(reply, request_ == Half::kIdle ? nullptr : &head_);
  const bool end = local.body.empty();
  if (end) return send_head(std::move(local.head), true);
  send_head(std::move(local.head), false);
  Buffer body;
  body.append(local.body);
  send_body(body, true);
}

void Stream::cut() {
  if (over()) return;
  response_ = Half::kEnded;
  worker().cells.add(frontend_->stats().downstream_rq_tx_reset);
  connection_->reset(id_, http::Reset::kInternal);
  finish();
}

void Stream::pause_request() {
  if (connection_) connection_->pause_body(id_);
}

void Stream::resume_request() {
  if (connection_ && chain_ != Chain::kPaused) connection_->resume_body(id_);
}

// --- The end -------------------------------------------------------------------------------------

void Stream::finish() {
  if (std::exchange(finished_, true)) return;
  chain_ = Chain::kOver;
  response_ = Half::kEnded;
  leave();
  request_timeout_.leave();
  if (max_duration_) max_duration_->cancel();
  if (end_) end_->on_stream_over();
  record_.end = worker().loop.now();
  count_finished();
  for (const auto& filter : filters_) filter->on_done(record_);
  frontend_->log(record_);
  if (connection_) connection_->end_stream(id_);
}

void Stream::count_finished() {
  stats::HttpStats& stats = frontend_->stats();
  stats::Cells& cells = worker().cells;
  cells.add(stats.downstream_rq_active, -1);
  if (record_.status == 0) return;
  stats.downstream_rq.count(cells, record_.status);
  cells.record(stats.downstream_rq_time, *record_.end - record_.start);
  if (request_ != Half::kEnded) cells.add(stats.downstream_rq_response_before_rq_complete);
}

}  // namespace damper::stream
