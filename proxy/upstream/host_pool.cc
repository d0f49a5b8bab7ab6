#include "upstream/host_pool.h"

#include <algorithm>
#include <utility>

#include "http/h1_client_codec.h"

namespace damper::upstream {
namespace {

http::H1ClientOptions codec_options(const config::Cluster& config) {
  return {.max_head_bytes = config.max_response_headers_kb * std::size_t{1024},
          .max_headers = config.max_response_headers_count,
          .enable_trailers = config.enable_trailers};
}

}  // namespace

HostPool::HostPool(http::Worker& worker, std::shared_ptr<const config::Cluster> config,
                   ClusterState& state, PoolTimeouts& timeouts, HostPtr host,
                   config::Priority priority)
    : worker_(worker),
      config_(std::move(config)),
      state_(state),
      timeouts_(timeouts),
      host_(std::move(host)),
      priority_(priority),
      next_turn_(worker.loop.timer([this] { serve_waiting(); })) {}

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
  while (waiting_.empty() && !idle_.empty()) {
    http::ClientConnection& connection = *idle_.back();
    idle_.pop_back();
    if (!worn_out(connection)) return user.on_connection(connection);
    connection.close({Errc::kClosed, Side::kLocal, "too old"});
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
  while (connecting_ + idle_.size() < waiting_.size()) {
    if (!open_connection()) return;
  }
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
  http::ClientConnection::Owner& self = *this;
  auto connection = std::make_unique<http::ClientConnection>(
      self, worker_.loop, worker_.read_block, *std::move(fd), net::make_plain_transport(),
      std::make_unique<http::H1ClientCodec>(codec_options(*config_)), timeouts_.drain,
      worker_.new_id());
  http::ClientConnection& opened = *connection;
  connections_.emplace(&opened, Entry{std::move(connection), std::move(place), worker_.loop.now()});
  ++connecting_;
  worker_.cells.add(state_.stats.upstream_cx_total);
  worker_.cells.add(state_.stats.upstream_cx_http1_total);
  worker_.cells.add(state_.stats.upstream_cx_active, 1);
  timeouts_.connect.restart(opened);
  opened.begin();
  return true;
}

void HostPool::on_connected(http::ClientConnection& connection) {
  --connecting_;
  connection.leave();
  worker_.cells.record(state_.stats.upstream_cx_connect_ms,
                       worker_.loop.now() - connections_.at(&connection).opened);
  on_available(connection);
}

void HostPool::on_available(http::ClientConnection& connection) {
  if (connection.requests() == 0 && !waiting_.empty()) return hand_over(connection);
  if (draining_ || worn_out(connection)) {
    return connection.close({Errc::kClosed, Side::kLocal, "retired"});
  }
  idle_.push_back(&connection);
  timeouts_.idle.restart(connection);
  if (!waiting_.empty()) next_turn_->arm(settling_time());
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
  while (!waiting_.empty() && !idle_.empty()) {
    http::ClientConnection& connection = *idle_.back();
    if (!connection.looks_alive()) {
      connection.close({Errc::kClosed, Side::kUpstream, "closed by the upstream"});
      continue;
    }
    idle_.pop_back();
    hand_over(connection);
  }
}

void HostPool::hand_over(http::ClientConnection& connection) {
  Waiting next = std::move(waiting_.front());
  waiting_.pop_front();
  worker_.cells.add(state_.stats.upstream_rq_pending_active, -1);
  next.place = {};
  next.user->on_connection(connection);
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
  std::erase(idle_, &connection);
  count_close(connection, why);
  if (connection.lost_race()) last_race_ = worker_.loop.now();
  auto entry = connections_.extract(&connection);
  entry.mapped().place = {};
  const bool was_connecting = !connection.connected();
  worker_.loop.destroy_later(std::move(entry.mapped().connection));
  if (was_connecting) {
    --connecting_;
    worker_.cells.add(state_.stats.upstream_cx_connect_fail);
    fail_first(
        why.code == Errc::kTimeout ? PoolFailure::kConnectTimeout : PoolFailure::kConnectFailure,
        why.detail);
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
  while (!idle_.empty()) {
    idle_.back()->close({Errc::kClosed, Side::kLocal, "its host has left"});
  }
}

}  // namespace damper::upstream
