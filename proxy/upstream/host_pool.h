// The connections of one worker to one host: one request on each at a time in HTTP/1, as many as
// the host allows in HTTP/2. A request takes a connection with room, or waits for the one that is
// opened for it or for the next that has room; who waits longest is served first. The limit of
// connections is the whole process's, so a pool that has none may open one over it: it must not
// wait for what other hosts and workers hold.
#pragma once
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "config/model/cluster.h"
#include "http/h2_options.h"
#include "http/worker.h"
#include "upstream/cluster_state.h"
#include "upstream/pool.h"

namespace damper::upstream {

// The clocks that all pools of a cluster share on one worker.
struct PoolTimeouts {
  PoolTimeouts(event::Scheduler& scheduler, const config::Cluster& config)
      : connect(scheduler, config.connect_timeout),
        idle(scheduler, config.idle_timeout),
        drain(scheduler, std::chrono::seconds(1)) {}
  event::TimeoutQueue connect;
  event::TimeoutQueue idle;
  event::TimeoutQueue drain;  // for the rest of a response that nobody wants
};

class HostPool final : public Pool, private http::ClientConnection::Owner {
 public:
  // `http`: kAuto lets ALPN choose, and is HTTP/1 without it.
  HostPool(http::Worker& worker, std::shared_ptr<const config::Cluster> config, ClusterState& state,
           PoolTimeouts& timeouts, HostPtr host, config::Priority priority,
           config::UpstreamHttp http, std::string server_name = {});
  ~HostPool() override;

  void acquire(PoolUser& user) override;
  void cancel(PoolUser& user) override;

  void drain();  // its host has left: idle connections close now, the others after their request
  bool empty() const { return connections_.empty() && waiting_.empty(); }

 private:
  struct Entry {
    std::unique_ptr<http::ClientConnection> connection;
    Limit::Ticket place;
    TimePoint opened;
    std::size_t expected = 0;  // streams that it is hoped to take, until that is known
  };
  struct Waiting {
    PoolUser* user;
    Limit::Ticket place;
  };

  // http::ClientConnection::Owner
  void on_connected(http::ClientConnection& connection) override;
  void on_available(http::ClientConnection& connection) override;
  void on_retired(http::ClientConnection& connection) override;
  void on_idle_timeout(http::ClientConnection& connection) override;
  void on_closed(http::ClientConnection& connection, const Error& why) override;

  std::unique_ptr<net::Transport> make_transport() const;
  bool open_connection();  // false: the limit of connections is reached
  std::unique_ptr<http::ClientCodec> make_codec(bool http2) const;
  void choose_protocol(http::ClientConnection& connection);
  void know_limit(Entry& entry);
  void make_ready(http::ClientConnection& connection);
  void make_unready(http::ClientConnection& connection);
  http::ClientConnection& take_ready();
  void give(http::ClientConnection& connection, PoolUser& user);
  void hand_over(http::ClientConnection& connection);  // to the longest waiting
  void serve_waiting();
  Duration settling_time() const;
  bool worn_out(http::ClientConnection& connection) const;
  void fail_first(PoolFailure failure, std::string_view detail);
  void open_for_waiting();
  void count_close(const http::ClientConnection& connection, const Error& why);

  http::Worker& worker_;
  std::shared_ptr<const config::Cluster> config_;
  ClusterState& state_;
  PoolTimeouts& timeouts_;
  HostPtr host_;
  config::Priority priority_;
  const std::string server_name_;  // auto_sni: the host that the requests are for
  std::unordered_map<http::ClientConnection*, Entry> connections_;
  // Those with room. The last used at the end: it is taken first. While somebody waits they are for
  // serve_waiting(). One may lose its room unasked, by a GOAWAY or lower SETTINGS: who takes it
  // asks can_open().
  std::vector<http::ClientConnection*> ready_;
  std::deque<Waiting> waiting_;
  std::unique_ptr<event::Timer> next_turn_;
  std::optional<TimePoint> last_race_;  // the host closed a connection under a request
  const config::UpstreamHttp http_;
  std::shared_ptr<const http::H2Options> http2_options_;
  std::size_t expected_ = 0;  // the sum of what entries expect
  bool draining_ = false;
};

}  // namespace damper::upstream
