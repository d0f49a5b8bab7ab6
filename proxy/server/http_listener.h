// One listener on one worker: accepts connections, gives each a codec, and ends them in an orderly
// way.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "http/h2_options.h"
#include "http/server_connection.h"
#include "http/worker.h"
#include "net/cidr.h"
#include "net/listener.h"
#include "net/tls_context.h"
#include "server/process.h"
#include "stats/http_stats.h"
#include "upstream/circuit_breaker.h"

namespace damper::server {

class HttpListener final : private http::ServerConnection::Owner {
 public:
  using MakeStream =
      std::function<std::unique_ptr<http::ServerStream>(http::ServerConnection&, http::StreamId)>;

  // What it refers to outlives the listener.
  struct Settings {
    const config::HttpOptions& options;
    stats::HttpStats& stats;
    Process& process;
    upstream::Limit* max_connections;  // of the listener on all workers; null: any number
    const net::CidrSet& trust;         // peers that may steer
    net::TlsServer* tls = nullptr;     // null: plain
    bool counts_for_drain;             // the process waits for its connections before it ends
  };

  HttpListener(http::Worker& worker, Settings settings, std::vector<net::Fd> sockets,
               MakeStream make_stream);
  ~HttpListener() override;

  // Answers carry connection: close, idle connections end now; those that come while accepting goes
  // on get one answer.
  void drain();
  void stop_accepting();
  void close_idle();  // those too that were accepted and have not asked yet
  void close_all(const Error& why);

 private:
  void accept(net::Fd fd, const net::Address& peer,
              const std::shared_ptr<const std::string>& local);
  void close_where(bool (*chosen)(const http::ServerConnection&));

  // http::ServerConnection::Owner
  std::unique_ptr<http::ServerStream> make_stream(http::ServerConnection&, http::StreamId) override;
  std::unique_ptr<http::ServerCodec> choose_codec(http::ServerConnection&, http::Protocol) override;
  void on_timeout_of(http::ServerConnection&, bool in_head) override;
  void on_closed(http::ServerConnection&, const Error& why) override;

  http::Worker& worker_;
  Settings settings_;
  MakeStream make_stream_;
  std::shared_ptr<const http::H1ServerOptions> http1_options_;
  std::shared_ptr<const http::H2Options> http2_options_;
  event::TimeoutQueue idle_timeout_;
  event::TimeoutQueue head_timeout_;
  event::TimeoutQueue flush_timeout_;
  struct Entry {
    std::unique_ptr<http::ServerConnection> connection;
    upstream::Limit::Ticket place;
  };
  std::vector<Entry> connections_;  // each knows its place
  std::vector<std::unique_ptr<net::Listener>> sockets_;
  bool draining_ = false;
};

}  // namespace damper::server
