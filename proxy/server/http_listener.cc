#include "server/http_listener.h"

#include <cstring>
#include <utility>

#include "base/log.h"
#include "http/h1_server_codec.h"
#include "http/h2_server_codec.h"

namespace damper::server {
namespace {

http::H1ServerOptions http1_options(const config::HttpOptions& o) {
  return {.accept_http_10 = o.http1.accept_http_10,
          .default_host_for_http_10 = o.http1.default_host_for_http_10,
          .enable_trailers = o.http1.enable_trailers,
          .allow_absolute_url = o.http1.allow_absolute_url,
          .max_head_bytes = o.max_request_headers_kb * std::size_t{1024},
          .max_headers = o.max_headers_count,
          .headers_with_underscores = o.headers_with_underscores,
          .proxy_100_continue = o.proxy_100_continue};
}

http::H2Options http2_options(const config::HttpOptions& o) {
  config::Http2Options http2 = o.http2;
  http2.allow_connect = http2.allow_connect || o.websocket;
  return {.http2 = http2,
          .max_head_bytes = o.max_request_headers_kb * std::size_t{1024},
          .max_headers = o.max_headers_count,
          .headers_with_underscores = o.headers_with_underscores,
          .proxy_100_continue = o.proxy_100_continue};
}

}  // namespace

HttpListener::HttpListener(http::Worker& worker, Settings settings, std::vector<net::Fd> sockets,
                           MakeStream make_stream)
    : worker_(worker),
      settings_(settings),
      make_stream_(std::move(make_stream)),
      http1_options_(std::make_shared<http::H1ServerOptions>(http1_options(settings.options))),
      http2_options_(std::make_shared<http::H2Options>(http2_options(settings.options))),
      idle_timeout_(worker.loop, settings.options.idle_timeout),
      head_timeout_(worker.loop, settings.options.request_headers_timeout),
      flush_timeout_(worker.loop, settings.options.stream_idle_timeout) {
  for (net::Fd& fd : sockets) {
    // Where we listen on one address, that is every connection's, and no connection need be asked
    // for it.
    const net::Address address = net::Address::local_of(fd.get());
    const auto local =
        address.is_wildcard() ? nullptr : std::make_shared<const std::string>(address.to_string());
    sockets_.push_back(std::make_unique<net::Listener>(
        worker_.loop, std::move(fd),
        [this, local](net::Fd accepted, const net::Address& peer) {
          accept(std::move(accepted), peer, local);
        },
        [this](int error) {
          worker_.cells.add(settings_.stats.downstream_cx_overflow);
          log::warn("accept_failed listener={} why=\"{}\"", settings_.options.stat_prefix,
                    std::strerror(error));
        }));
  }
}

HttpListener::~HttpListener() { close_all({Errc::kClosed, Side::kLocal, "the listener is gone"}); }

void HttpListener::accept(net::Fd fd, const net::Address& peer,
                          const std::shared_ptr<const std::string>& local) {
  settings_.process.accepted.fetch_add(1, std::memory_order_relaxed);
  upstream::Limit::Ticket place;
  if (settings_.max_connections) place = settings_.max_connections->take();
  const bool too_many = settings_.max_connections && !place;
  if (too_many || settings_.process.memory.load() == MemoryPressure::kCritical) {
    worker_.cells.add(settings_.stats.downstream_cx_overflow);
    return;
  }
  http::ServerConnection::Owner& self = *this;
  auto connection = std::make_unique<http::ServerConnection>(
      self, settings_.options,
      http::ServerConnection::Timeouts{
          .idle = idle_timeout_, .head = head_timeout_, .flush = flush_timeout_},
      worker_.loop, worker_.read_block, std::move(fd),
      settings_.tls ? settings_.tls->make_transport() : net::make_plain_transport(),
      std::make_unique<http::H1ServerCodec>(http1_options_), peer, worker_.new_id());
  http::ServerConnection& accepted = *connection;
  accepted.set_place(connections_.size());
  accepted.set_peer_trusted(settings_.trust.contains(peer.get()));
  accepted.set_secure(settings_.tls != nullptr);
  connections_.push_back({std::move(connection), std::move(place)});
  worker_.cells.add(settings_.stats.downstream_cx_total);
  worker_.cells.add(settings_.stats.downstream_cx_active, 1);
  if (settings_.counts_for_drain) settings_.process.connections.fetch_add(1);
  accepted.set_local_text(local);
  if (draining_) accepted.end_after_next_request();
  accepted.begin();
}

std::unique_ptr<http::ServerStream> HttpListener::make_stream(http::ServerConnection& connection,
                                                              http::StreamId id) {
  return make_stream_(connection, id);
}

std::unique_ptr<http::ServerCodec> HttpListener::choose_codec(http::ServerConnection&,
                                                              http::Protocol protocol) {
  const bool http2 = protocol == http::Protocol::kHttp2;
  worker_.cells.add(http2 ? settings_.stats.downstream_cx_http2_total
                          : settings_.stats.downstream_cx_http1_total);
  if (!http2) return nullptr;
  return std::make_unique<http::H2ServerCodec>(http2_options_);
}

void HttpListener::on_timeout_of(http::ServerConnection&, bool in_head) {
  worker_.cells.add(in_head ? settings_.stats.downstream_rq_header_timeout
                            : settings_.stats.downstream_cx_idle_timeout);
}

void HttpListener::on_closed(http::ServerConnection& connection, const Error& why) {
  stats::HttpStats& stats = settings_.stats;
  stats::Cells& cells = worker_.cells;
  const bool remote = why.side == Side::kDownstream || why.code == Errc::kReset;
  cells.add(stats.downstream_cx_active, -1);
  cells.add(stats.downstream_cx_destroy);
  cells.add(remote ? stats.downstream_cx_destroy_remote : stats.downstream_cx_destroy_local);
  cells.add(stats.downstream_cx_rx_bytes_total, connection.bytes_read());
  cells.add(stats.downstream_cx_tx_bytes_total, connection.bytes_written());
  if (settings_.counts_for_drain) settings_.process.connections.fetch_sub(1);
  Entry& entry = connections_[connection.place()];
  worker_.loop.destroy_later(std::move(entry.connection));
  if (&entry != &connections_.back()) {
    entry = std::move(connections_.back());
    entry.connection->set_place(connection.place());
  }
  connections_.pop_back();
}

void HttpListener::close_where(bool (*chosen)(const http::ServerConnection&)) {
  std::vector<http::ServerConnection*> all;
  for (const Entry& entry : connections_) all.push_back(entry.connection.get());
  for (http::ServerConnection* connection : all) {
    if (chosen(*connection)) connection->drain();
  }
}

void HttpListener::drain() {
  draining_ = true;
  for (const Entry& entry : connections_) {
    if (entry.connection->unused()) entry.connection->end_after_next_request();
  }
  close_where([](const http::ServerConnection& c) { return !c.unused(); });
}

void HttpListener::stop_accepting() { sockets_.clear(); }

void HttpListener::close_idle() {
  close_where([](const http::ServerConnection& c) { return c.idle(); });
}

void HttpListener::close_all(const Error& why) {
  sockets_.clear();
  while (!connections_.empty()) connections_.back().connection->close(why);
}

}  // namespace damper::server
