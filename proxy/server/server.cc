#include "server/server.h"

#include <csignal>
#include <random>
#include <sys/resource.h>
#include <utility>

#include "base/log.h"
#include "server/memory.h"
#include "server/tls_setup.h"

namespace damper::server {
namespace {

// Descriptors are what a proxy lives on: takes as many as the hard limit allows.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Server::Server(Options options, std::shared_ptr<const config::Bootstrap> bootstrap)
    : options_(std::move(options)),
      bootstrap_(std::move(bootstrap)),
      registries_(options_.concurrency),
      main_(options_.concurrency, options_.concurrency + 1, std::random_device{}(),
            registries_.stats().new_cells()),
      admin_(registries_, main_, process_,
             {.quit = [this] { begin_drain(); },
              .drain_listeners =
                  [this](bool graceful) {
                    on_workers([](WorkerThread& w) { w.drain(); });
                    if (!graceful) on_workers([](WorkerThread& w) { w.stop_accepting(); });
                  },
              .snapshot = [this]() -> const Snapshot& { return *snapshot_; },
              .hosts = [this](std::size_t i) -> const upstream::Hosts& { return hosts_[i]; },
              .config_json = [this]() -> const std::string& { return options_.config_json; },
              .addresses = [this]() -> const std::vector<net::Address>& { return addresses_; }}) {}

Server::~Server() {
  workers_.clear();
  admin_listener_.reset();
  dns_clusters_.clear();
  resolvers_.clear();
  main_.loop.run_once();
}

template <class Fn>
void Server::on_workers(Fn fn) {
  for (const auto& worker : workers_) worker->post(fn);
}

Status Server::start() {
  raise_descriptor_limit();
  std::signal(SIGPIPE, SIG_IGN);
  TRY_ASSIGN(snapshot_, build_snapshot(bootstrap_, registries_));
  TRY_ASSIGN(waiting_sockets_, bind_listeners());
  TRY(start_admin());
  for (unsigned i = 0; i < options_.concurrency; ++i) {
    workers_.push_back(
        std::make_unique<WorkerThread>(i, options_.concurrency, registries_, process_));
    workers_.back()->start();
  }
  start_clusters();
  open_listeners_when_resolved();
  watch_memory();
  watch_certificates();
  return Ok{};
}

Status Server::bind_address(const config::Endpoint& endpoint, const config::Listener& listener,
                            Sockets& sockets, std::size_t index) {
  auto address = net::Address::from_endpoint(endpoint);
  if (!address) {
    return Error{Errc::kInvalid, Side::kLocal,
                 "listener \"" + listener.name + "\": no address: " + endpoint.to_string()};
  }
  for (std::size_t worker = 0; worker < sockets.size(); ++worker) {
    // One socket a worker where the kernel can spread connections over several; a unix socket is
    // shared.
    const bool own = worker == 0 || (listener.reuse_port && !address->is_unix());
    if (!own) {
      sockets[worker][index].emplace_back(::dup(sockets[0][index].back().get()));
      continue;
    }
    auto fd = net::listen_on(*address, {.reuse_port = listener.reuse_port && sockets.size() > 1,
                                        .backlog = listener.backlog});
    if (!fd) {
      return Error{fd.error().code, fd.error().side,
                   "listener \"" + listener.name + "\": " + fd.error().detail};
    }
    *address = net::Address::local_of(fd->get());  // port 0 is a number now: the others join it
    sockets[worker][index].push_back(*std::move(fd));
  }
  addresses_.push_back(*address);
  return Ok{};
}

Result<Server::Sockets> Server::bind_listeners() {
  Sockets sockets(options_.concurrency);
  const auto& listeners = bootstrap_->listeners;
  for (auto& of_worker : sockets) of_worker.resize(listeners.size());
  for (std::size_t i = 0; i < listeners.size(); ++i) {
    TRY(bind_address(listeners[i].address, listeners[i], sockets, i));
    for (const config::Endpoint& more : listeners[i].additional_addresses) {
      TRY(bind_address(more, listeners[i], sockets, i));
    }
  }
  return sockets;
}

Status Server::start_admin() {
  if (!bootstrap_->admin) return Ok{};
  const auto address = net::Address::from_endpoint(bootstrap_->admin->address);
  if (!address) return Error{Errc::kInvalid, Side::kLocal, "admin: no address"};
  TRY_ASSIGN(net::Fd fd, net::listen_on(*address, {.reuse_port = false, .backlog = 128}));
  admin_address_ = net::Address::local_of(fd.get());
  std::vector<net::Fd> sockets;
  sockets.push_back(std::move(fd));
  admin_http_.stat_prefix = "admin";
  admin_listener_ =
      std::make_unique<HttpListener>(main_,
                                     HttpListener::Settings{.options = admin_http_,
                                                            .stats = *registries_.http("admin"),
                                                            .process = process_,
                                                            .max_connections = nullptr,
                                                            .trust = admin_trust_,
                                                            .counts_for_drain = false},
                                     std::move(sockets), admin_.stream_maker());
  return Ok{};
}

// --- Clusters and their names --------------------------------------------------------------------

void Server::start_clusters() {
  const auto& clusters = bootstrap_->clusters;
  hosts_.resize(clusters.size());
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const config::Cluster& cluster = clusters[i];
    if (cluster.type == config::Cluster::Type::kStatic) {
      for (const config::ClusterEndpoint& endpoint : cluster.endpoints) {
        if (const auto address = net::Address::from_endpoint(endpoint.address)) {
          hosts_[i].push_back(snapshot_->clusters[i]->host(*address, endpoint));
        }
      }
      main_.cells.add(snapshot_->clusters[i]->stats.membership_total,
                      static_cast<std::int64_t>(hosts_[i].size()));
      continue;
    }
    ++unresolved_;
    dns_clusters_.push_back(make_dns_cluster(i));
  }
  for (const auto& cluster : dns_clusters_) cluster->start();
}

std::unique_ptr<upstream::DnsCluster> Server::make_dns_cluster(std::size_t index) {
  const config::Cluster& cluster = bootstrap_->clusters[index];
  resolvers_.push_back(std::make_unique<net::Resolver>(main_.loop, cluster.dns_servers));
  return std::make_unique<upstream::DnsCluster>(
      cluster, snapshot_->clusters[index]->stats,
      upstream::DnsCluster::Tools{
          .scheduler = main_.loop,
          .random = main_.random,
          .cells = main_.cells,
          .resolve =
              [resolver = resolvers_.back().get()](const std::string& name,
                                                   config::Cluster::DnsFamily family,
                                                   net::Resolver::Done done) {
                return resolver->resolve(name, family, std::move(done));
              }},
      [this, index, first = true](const auto& resolved) mutable {
        upstream::Hosts hosts;
        for (const auto& [address, endpoint] : resolved) {
          hosts.push_back(snapshot_->clusters[index]->host(address, *endpoint));
        }
        hosts_changed(index, std::move(hosts));
        if (!std::exchange(first, false)) return;
        --unresolved_;
        open_listeners_when_resolved();
      });
}

void Server::hosts_changed(std::size_t cluster, upstream::Hosts hosts) {
  hosts_[cluster] = std::move(hosts);
  if (!waiting_sockets_.empty()) return;  // the workers get all of them when they begin
  const std::string& name = bootstrap_->clusters[cluster].name;
  on_workers([name, list = hosts_[cluster]](WorkerThread& w) { w.update_hosts(name, list); });
}

// Requests that came before the first names are known could only be refused, so nothing is accepted
// until then; but a name server that does not answer holds nothing up for longer than 5 s.
void Server::open_listeners_when_resolved() {
  if (waiting_sockets_.empty()) return;
  if (unresolved_ > 0 && !(resolve_patience_ && !resolve_patience_->armed())) {
    if (resolve_patience_) return;
    resolve_patience_ = main_.loop.timer([this] { open_listeners_when_resolved(); });
    resolve_patience_->arm(std::chrono::seconds(5));
    return;
  }
  start_workers(std::exchange(waiting_sockets_, {}));
}

void Server::start_workers(Sockets sockets) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    auto own = std::make_shared<std::vector<std::vector<net::Fd>>>(std::move(sockets[i]));
    workers_[i]->post([this, own, snapshot = snapshot_, hosts = hosts_](WorkerThread& w) {
      w.apply(snapshot, std::move(*own));
      for (std::size_t c = 0; c < hosts.size(); ++c) {
        w.update_hosts(snapshot->bootstrap->clusters[c].name, hosts[c]);
      }
    });
  }
  log::info("started listeners={} clusters={} workers={}", bootstrap_->listeners.size(),
            bootstrap_->clusters.size(), workers_.size());
}

// --- The end -------------------------------------------------------------------------------------

void Server::run() {
  main_.loop.run();
  workers_.clear();
  log::info("stopped");
}

void Server::stop() {
  main_.loop.post([this] { begin_drain(); });
}

void Server::catch_signals() {
  const auto on_end = [this] {
    if (process_.draining) {
      log::info("second_signal: leaving at once");
      main_.loop.stop();
      return;
    }
    begin_drain();
  };
  for (const int signal : {SIGTERM, SIGINT}) {
    signals_.push_back(std::make_unique<event::SignalHandle>(main_.loop, signal, on_end));
  }
}

void Server::begin_drain() {
  if (process_.draining.exchange(true)) return;
  log::info("draining time_s={}", milliseconds(options_.drain_time) / 1000);
  drain_started_ = last_accept_ = main_.loop.now();
  accepted_seen_ = process_.accepted;
  on_workers([](WorkerThread& w) { w.drain(); });
  drain_timer_ = main_.loop.timer([this] { watch_drain(); });
  watch_drain();
}

// Accepting goes on until nobody came for a second, at most for half of the time: whoever routes to
// us needs a moment to learn that we leave. Then what runs is finished.
void Server::watch_drain() {
  const TimePoint now = main_.loop.now();
  if (const std::uint64_t accepted = process_.accepted; accepted != accepted_seen_) {
    accepted_seen_ = accepted;
    last_accept_ = now;
  }
  const Duration spent = now - drain_started_;
  const bool quiet = now - last_accept_ >= std::chrono::seconds(1);
  if (accepting_ && (quiet || spent >= options_.drain_time / 2)) {
    accepting_ = false;
    on_workers([](WorkerThread& w) {
      w.stop_accepting();
      w.close_idle();
    });
  }
  if (spent >= options_.drain_time || (!accepting_ && process_.connections == 0)) {
    main_.loop.stop();
    return;
  }
  drain_timer_->arm(std::chrono::milliseconds(20));
}

void Server::watch_memory() {
  const auto limit = memory_limit_bytes();
  if (!limit) return;
  const MemoryPressure pressure = pressure_of(resident_bytes(), *limit);
  if (process_.memory.exchange(pressure) != pressure) {
    log::warn("memory_pressure level={} limit_bytes={}", static_cast<int>(pressure), *limit);
    on_workers([pressure](WorkerThread& w) { w.set_memory_pressure(pressure); });
  }
  if (!memory_timer_) memory_timer_ = main_.loop.timer([this] { watch_memory(); });
  memory_timer_->arm(std::chrono::milliseconds(100));
}

// Asked for again and again: a look at a file costs a microsecond, sees every way in which it may
// change (symbolic links above it, writes in place), and needs no descriptor for each folder.
void Server::watch_certificates() {
  if (tls_parties(*snapshot_).empty()) return;
  refresh_certificates(*snapshot_);
  if (!certificate_timer_) {
    certificate_timer_ = main_.loop.timer([this] { watch_certificates(); });
  }
  certificate_timer_->arm(std::chrono::milliseconds(500));
}

}  // namespace damper::server
