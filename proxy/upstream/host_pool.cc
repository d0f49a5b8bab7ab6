#include "upstream/host_pool.h"

#include <algorithm>
#include <utility>

#include "http/h1_client_codec.h"
#include "http/h2_client_codec.h"

namespace damper::upstream {
namespace {

http::H1ClientOptions http1_options(const config::Cluster& config) {
  return {.max_head_bytes = config.max_response_headers_kb * std::size_t{1024},
          .max_headers = config.max_response_headers_count,
          .enable_trailers = config.enable_trailers};
}

http::H2Options http2_options(const config::Cluster& config) {
  return {.http2 = config.http2,
          .max_head_bytes = config.max_response_headers_kb * std::size_t{1024},
          .max_headers = config.max_response_headers_count};
}

}  // namespace

HostPool::HostPool(http::Worker& worker, std::shared_ptr<const config::Cluster> config,
                   ClusterState& state, PoolTimeouts& timeouts, HostPtr host,
                   config::Priority priority, config::UpstreamHttp http, std::string server_name)
    : worker_(worker),
      config_(std::move(config)),
      state_(state),
      timeouts_(timeouts),
      host_(std::move(host)),
      priority_(priority),
      server_name_(std::move(server_name)),
      next_turn_(worker.loop.timer([this] { serve_waiting(); })),
      http_(http) {
  if (http_ != config::UpstreamHttp::kHttp1) {
    http2_options_ = std::make_shared<const http::H2Options>(http2_options(*config_));
  }
}

HostPool::~HostPool() {
  worker_.cells.add(state_.stats.upstream_rq_pending_active,
                    -static_cast<std::int64_t>(waiting_.size()));
  waiting_.clear();
  while (!connections_.empty()) {
    connections_.begin()->second.connection->close(
        {Errc::kClosed, Side::kLocal, "the pool is gone"});
  }
}

void HostPool::acquire(PoolUser& user) {
  while (waiting_.empty() && !ready_.empty()) {
    http::ClientConnection& connection = take_ready();
    if (!connection.can_open()) continue;
    if (!worn_out(connection)) return give(connection, user);
    if (connection.idle()) connection.close({Errc::kClosed, Side::kLocal, "too old"});
  }
  auto place = state_.breaker(priority_).pending_requests.take();
  if (!place) {
    worker_.cells.add(state_.stats.upstream_rq_pending_overflow);
    return user.on_no_connection(PoolFailure::kOverflow, "overflow");
  }
  worker_.cells.add(state_.stats.upstream_rq_pending_total);
  worker_.cells.add(state_.stats.upstream_rq_pending_active, 1);
  waiting_.push_back({&user, std::move(place)});
  open_for_waiting();
}

void HostPool::cancel(PoolUser& user) {
  const auto at = std::find_if(waiting_.begin(), waiting_.end(),
                               [&user](const Waiting& w) { return w.user == &user; });
  if (at == waiting_.end()) return;
  waiting_.erase(at);
  worker_.cells.add(state_.stats.upstream_rq_pending_active, -1);
  worker_.cells.add(state_.stats.upstream_rq_cancelled);
}

void HostPool::open_for_waiting() {
  while (expected_ + ready_.size() < waiting_.size()) {
    if (!open_connection()) return;
  }
}

std::unique_ptr<net::Transport> HostPool::make_transport() const {
  const auto tls = state_.tls();
  if (!tls) return net::make_plain_transport();
  return tls->make_transport(host_->hostname, server_name_, http_);
}

bool HostPool::open_connection() {
  auto place = state_.breaker(priority_).connections.take();
  if (!place) {
    worker_.cells.add(state_.stats.upstream_cx_overflow);
    if (!connections_.empty()) return false;
  }
  std::optional<net::Address> source;
  if (config_->source_address) source = net::Address::from_endpoint(*config_->source_address);
  auto fd = net::connect_to(host_->address, source);
  if (!fd) {
    worker_.cells.add(state_.stats.upstream_cx_connect_fail);
    fail_first(PoolFailure::kConnectFailure, fd.error().detail);
    return true;  // whoever waits next gets a try of its own
  }
  if (!host_->address.is_unix()) {
    net::set_no_delay(fd->get());
    net::set_liveness(fd->get(), config_->tcp_keepalive.value_or(config::TcpKeepalive{}));
  }
  const bool maybe_http2 = http_ != config::UpstreamHttp::kHttp1;
  http::ClientConnection::Owner& self = *this;
  auto connection = std::make_unique<http::ClientConnection>(
      self, worker_.loop, worker_.read_block, *std::move(fd), make_transport(),
      make_codec(http_ == config::UpstreamHttp::kHttp2), timeouts_.drain, worker_.new_id());
  http::ClientConnection& opened = *connection;
  // Most servers allow a hundred streams (RFC 9113 §6.5.2 asks for no less).
  constexpr std::uint32_t kUsualLimit = 100;
  const std::size_t expected =
      maybe_http2 ? std::min(config_->http2.max_concurrent_streams, kUsualLimit) : 1;
  connections_.emplace(
      &opened, Entry{std::move(connection), std::move(place), worker_.loop.now(), expected});
  expected_ += expected;
  worker_.cells.add(state_.stats.upstream_cx_total);
  worker_.cells.add(state_.stats.upstream_cx_active, 1);
  timeouts_.connect.restart(opened);
  opened.begin();
  return true;
}

std::unique_ptr<http::ClientCodec> HostPool::make_codec(bool http2) const {
  if (http2) return std::make_unique<http::H2ClientCodec>(http2_options_);
  return std::make_unique<http::H1ClientCodec>(http1_options(*config_));
}

// ALPN has spoken, where it was asked.
void HostPool::choose_protocol(http::ClientConnection& connection) {
  if (http_ == config::UpstreamHttp::kAuto && connection.alpn() == "h2") {
    connection.set_codec(make_codec(true));
  }
  if (connection.multiplexed()) connection.keep_alive(config_->http2);
  worker_.cells.add(connection.multiplexed() ? state_.stats.upstream_cx_http2_total
                                             : state_.stats.upstream_cx_http1_total);
}

void HostPool::know_limit(Entry& entry) { expected_ -= std::exchange(entry.expected, 0); }

void HostPool::on_connected(http::ClientConnection& connection) {
  connection.leave();
  choose_protocol(connection);
  Entry& entry = connections_.at(&connection);
  worker_.cells.record(state_.stats.upstream_cx_connect_ms, worker_.loop.now() - entry.opened);
  if (!connection.multiplexed()) return on_available(connection);
  // Its SETTINGS say how much it takes; until then it gets one request.
  if (waiting_.empty()) return make_ready(connection);
  hand_over(connection);
}

void HostPool::on_available(http::ClientConnection& connection) {
  if (expected_ > 0) know_limit(connections_.at(&connection));
  const bool fresh = connection.requests() == 0 || connection.multiplexed();
  if (fresh) {
    while (!waiting_.empty() && connection.can_open() && !worn_out(connection)) {
      hand_over(connection);
      if (!connection.multiplexed()) return;
    }
    open_for_waiting();
  }
  if (draining_ || worn_out(connection)) {
    if (connection.idle()) connection.close({Errc::kClosed, Side::kLocal, "retired"});
    return;
  }
  if (!connection.can_open()) return;
  make_ready(connection);
  if (!waiting_.empty()) next_turn_->arm(settling_time());
}

void HostPool::make_ready(http::ClientConnection& connection) {
  if (connection.idle()) timeouts_.idle.restart(connection);
  if (connection.ready()) return;
  connection.set_ready(true);
  ready_.push_back(&connection);
}

void HostPool::on_retired(http::ClientConnection& connection) {
  know_limit(connections_.at(&connection));
  make_unready(connection);
  open_for_waiting();
}

void HostPool::make_unready(http::ClientConnection& connection) {
  if (!connection.ready()) return;
  connection.set_ready(false);
  std::erase(ready_, &connection);
}

http::ClientConnection& HostPool::take_ready() {
  http::ClientConnection& connection = *ready_.back();
  ready_.pop_back();
  connection.set_ready(false);
  return connection;
}

void HostPool::give(http::ClientConnection& connection, PoolUser& user) {
  user.on_connection(connection);
  if (!connection.multiplexed()) return;
  connection.can_open() ? make_ready(connection) : make_unready(connection);
}

// It has just answered, and the upstream's FIN may come right behind the answer: who waits gets it
// in the loop's next turn, when that has been seen. A host that has closed a connection under a
// request gets a little longer to do so.
Duration HostPool::settling_time() const {
  constexpr std::chrono::seconds kRemembered(10);
  const bool closes_silently = last_race_ && worker_.loop.now() - *last_race_ < kRemembered;
  return closes_silently ? std::chrono::milliseconds(1) : Duration::zero();
}

void HostPool::serve_waiting() {
  while (!waiting_.empty() && !ready_.empty()) {
    http::ClientConnection& connection = take_ready();
    if (!connection.can_open()) continue;
    if (!connection.multiplexed() && !connection.looks_alive()) {
      connection.close({Errc::kClosed, Side::kUpstream, "closed by the upstream"});
      continue;
    }
    hand_over(connection);
  }
}

void HostPool::hand_over(http::ClientConnection& connection) {
  Waiting next = std::move(waiting_.front());
  waiting_.pop_front();
  worker_.cells.add(state_.stats.upstream_rq_pending_active, -1);
  next.place = {};
  give(connection, *next.user);
}

bool HostPool::worn_out(http::ClientConnection& connection) const {
  const bool used_up = config_->max_requests_per_connection > 0 &&
                       connection.requests() >= config_->max_requests_per_connection;
  if (used_up) {
    worker_.cells.add(state_.stats.upstream_cx_max_requests);
    return true;
  }
  if (config_->max_connection_duration == Duration::zero()) return false;
  const Duration age = worker_.loop.now() - connections_.at(&connection).opened;
  if (age < config_->max_connection_duration) return false;
  worker_.cells.add(state_.stats.upstream_cx_max_duration_reached);
  return true;
}

void HostPool::on_idle_timeout(http::ClientConnection& connection) {
  if (!connection.connected()) {
    worker_.cells.add(state_.stats.upstream_cx_connect_timeout);
    connection.close({Errc::kTimeout, Side::kUpstream, "connection timeout"});
    return;
  }
  if (connection.idle()) worker_.cells.add(state_.stats.upstream_cx_idle_timeout);
  connection.close({Errc::kTimeout, Side::kLocal, "idle"});
}

void HostPool::on_closed(http::ClientConnection& connection, const Error& why) {
  make_unready(connection);
  count_close(connection, why);
  if (connection.lost_race()) last_race_ = worker_.loop.now();
  auto entry = connections_.extract(&connection);
  const std::size_t hoped_for_it = entry.mapped().expected;
  know_limit(entry.mapped());
  entry.mapped().place = {};
  const bool was_connecting = !connection.connected();
  worker_.loop.destroy_later(std::move(entry.mapped().connection));
  if (was_connecting) {
    worker_.cells.add(state_.stats.upstream_cx_connect_fail);
    const PoolFailure failure =
        why.code == Errc::kTimeout ? PoolFailure::kConnectTimeout : PoolFailure::kConnectFailure;
    for (std::size_t n = std::min(hoped_for_it, waiting_.size()); n > 0; --n)
      fail_first(failure, why.detail);
  }
  open_for_waiting();
}

void HostPool::fail_first(PoolFailure failure, std::string_view detail) {
  if (waiting_.empty()) return;
  Waiting first = std::move(waiting_.front());
  waiting_.pop_front();
  worker_.cells.add(state_.stats.upstream_rq_pending_active, -1);
  worker_.cells.add(state_.stats.upstream_rq_pending_failure_eject);
  first.place = {};
  first.user->on_no_connection(failure, detail);
}

void HostPool::count_close(const http::ClientConnection& connection, const Error& why) {
  const stats::ClusterStats& stats = state_.stats;
  stats::Cells& cells = worker_.cells;
  cells.add(stats.upstream_cx_active, -1);
  cells.add(stats.upstream_cx_destroy);
  const bool remote = why.side == Side::kUpstream || why.code == Errc::kReset;
  cells.add(remote ? stats.upstream_cx_destroy_remote : stats.upstream_cx_destroy_local);
  if (!connection.idle()) {
    cells.add(stats.upstream_cx_destroy_with_active_rq);
    cells.add(remote ? stats.upstream_cx_destroy_remote_with_active_rq
                     : stats.upstream_cx_destroy_local_with_active_rq);
  }
  if (why.code == Errc::kProtocol) cells.add(stats.upstream_cx_protocol_error);
  cells.add(stats.upstream_cx_rx_bytes_total, connection.bytes_read());
  cells.add(stats.upstream_cx_tx_bytes_total, connection.bytes_written());
}

void HostPool::drain() {
  draining_ = true;
  const auto ready = ready_;
  for (http::ClientConnection* connection : ready) {
    if (connection->idle()) connection->close({Errc::kClosed, Side::kLocal, "its host has left"});
  }
}

}  // namespace damper::upstream
