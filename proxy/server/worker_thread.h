// A worker: one thread, one loop, its listeners, clusters and connections. Everything but the
// constructor, post() and join() happens on its own thread.
#pragma once
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "http/worker.h"
#include "server/access_log.h"
#include "server/http_listener.h"
#include "server/snapshot.h"
#include "upstream/cluster.h"

namespace damper::server {

class WorkerThread {
 public:
  WorkerThread(unsigned index, unsigned workers, Registries& registries, Process& process);
  ~WorkerThread();
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  void start();
  void post(std::function<void(WorkerThread&)> fn);  // any thread
  void join();                                       // ends the loop and waits for it

  // Takes up a configuration. `sockets`: for each listener the sockets that this worker accepts on.
  void apply(std::shared_ptr<const Snapshot> snapshot, std::vector<std::vector<net::Fd>> sockets);
  void update_hosts(const std::string& cluster, const upstream::Hosts& hosts);
  void drain();
  void stop_accepting();
  void close_idle();
  void set_memory_pressure(MemoryPressure pressure);

 private:
  static constexpr std::size_t kReplayBytes = 64 * 1024 * 1024;

  void run();
  void flush_logs();
  void build_clusters(const Snapshot& snapshot);
  void build_listener(std::shared_ptr<const FrontendSnapshot> snapshot,
                      std::vector<net::Fd> sockets);

  Process& process_;
  http::Worker worker_;
  AccessLogBuffer log_buffer_;
  std::shared_ptr<const Snapshot> snapshot_;
  upstream::Clusters clusters_;
  std::vector<std::unique_ptr<HttpListener>> listeners_;
  std::unique_ptr<event::Timer> flush_timer_;
  std::thread thread_;
};

}  // namespace damper::server
