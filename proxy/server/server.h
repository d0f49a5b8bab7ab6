// The process: starts the workers on a checked configuration, resolves names for them, answers the
// operator, and ends without dropping anything. Runs on the main thread.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "event/io_handle.h"
#include "http/worker.h"
#include "net/resolver.h"
#include "server/admin.h"
#include "server/http_listener.h"
#include "server/process.h"
#include "server/snapshot.h"
#include "server/worker_thread.h"
#include "upstream/dns_cluster.h"

namespace damper::server {

struct Options {
  unsigned concurrency = 1;  // workers
  Duration drain_time = std::chrono::seconds(30);
  std::string config_json;  // what /config_dump shows
};

class Server {
 public:
  Server(Options options, std::shared_ptr<const config::Bootstrap> bootstrap);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds all addresses and starts the workers. An Error leaves nothing running.
  Status start();
  void catch_signals();  // SIGTERM and SIGINT are stop(); the process has one server that may
  void run();            // until a signal, /quitquitquit or stop()
  void stop();           // any thread: drains, then ends

  // For tests, after start(): where the listeners really are (port 0 in the configuration), in
  // their order.
  const std::vector<net::Address>& addresses() const { return addresses_; }
  net::Address admin_address() const { return admin_address_; }

 private:
  using Sockets = std::vector<std::vector<std::vector<net::Fd>>>;  // by worker, listener, address

  Result<Sockets> bind_listeners();
  Status bind_address(const config::Endpoint& endpoint, const config::Listener& listener,
                      Sockets& sockets, std::size_t index);
  Status start_admin();
  void start_workers(Sockets sockets);
  void start_clusters();
  std::unique_ptr<upstream::DnsCluster> make_dns_cluster(std::size_t index);
  void hosts_changed(std::size_t cluster, upstream::Hosts hosts);
  void open_listeners_when_resolved();
  void begin_drain();
  void watch_drain();
  void watch_memory();
  void watch_certificates();
  template <class Fn>
  void on_workers(Fn fn);

  const Options options_;
  std::shared_ptr<const config::Bootstrap> bootstrap_;
  Process process_;
  Registries registries_;
  http::Worker main_;  // of the main thread: admin connections
  std::shared_ptr<const Snapshot> snapshot_;
  std::vector<net::Address> addresses_;
  net::Address admin_address_;
  std::vector<std::unique_ptr<WorkerThread>> workers_;

  std::vector<std::unique_ptr<net::Resolver>> resolvers_;
  std::vector<std::unique_ptr<upstream::DnsCluster>> dns_clusters_;
  std::vector<upstream::Hosts> hosts_;  // by cluster
  std::size_t unresolved_ = 0;          // clusters whose first round has not ended
  Sockets waiting_sockets_;
  std::unique_ptr<event::Timer> resolve_patience_;

  Admin admin_;
  config::HttpOptions admin_http_;
  const net::CidrSet admin_trust_;
  std::unique_ptr<HttpListener> admin_listener_;
  std::vector<std::unique_ptr<event::SignalHandle>> signals_;

  std::unique_ptr<event::Timer> drain_timer_;
  std::unique_ptr<event::Timer> memory_timer_;
  std::unique_ptr<event::Timer> certificate_timer_;
  TimePoint drain_started_{};
  TimePoint last_accept_{};
  std::uint64_t accepted_seen_ = 0;
  bool accepting_ = true;
};

}  // namespace damper::server
