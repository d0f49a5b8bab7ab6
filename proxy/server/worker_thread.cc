#include "server/worker_thread.h"

#include <random>
#include <utility>

#include "filters/router/router.h"
#include "stream/stream.h"

namespace damper::server {
namespace {

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

WorkerThread::WorkerThread(unsigned index, unsigned workers, Registries& registries,
                           Process& process)
    : process_(process),
      worker_(index, workers, random_seed(), registries.stats().new_cells()),
      log_buffer_(registries.access_logs(), worker_.cells) {
  worker_.replay_bytes_max = kReplayBytes;
}

WorkerThread::~WorkerThread() { join(); }

void WorkerThread::start() {
  thread_ = std::thread([this] { run(); });
}

void WorkerThread::run() {
  flush_timer_ = worker_.loop.timer([this] { flush_logs(); });
  flush_logs();
  worker_.loop.run();
  // In this order: what ends is still logged, and pools outlive the attempts on them.
  listeners_.clear();
  worker_.loop.run_once();
  clusters_.clear();
  worker_.loop.run_once();
  log_buffer_.flush();
  flush_timer_.reset();
}

void WorkerThread::flush_logs() {
  log_buffer_.flush();
  flush_timer_->arm(std::chrono::milliseconds(250));
}

void WorkerThread::post(std::function<void(WorkerThread&)> fn) {
  worker_.loop.post([this, fn = std::move(fn)] { fn(*this); });
}

void WorkerThread::join() {
  if (!thread_.joinable()) return;
  post([](WorkerThread& worker) { worker.worker_.loop.stop(); });
  thread_.join();
}

void WorkerThread::apply(std::shared_ptr<const Snapshot> snapshot,
                         std::vector<std::vector<net::Fd>> sockets) {
  snapshot_ = std::move(snapshot);
  build_clusters(*snapshot_);
  for (std::size_t i = 0; i < snapshot_->frontends.size(); ++i) {
    build_listener(snapshot_->frontends[i], std::move(sockets[i]));
  }
}

void WorkerThread::build_clusters(const Snapshot& snapshot) {
  const auto& configs = snapshot.bootstrap->clusters;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const std::shared_ptr<const config::Cluster> config(snapshot.bootstrap, &configs[i]);
    clusters_.put(configs[i].name,
                  std::make_unique<upstream::Cluster>(worker_, config, snapshot.clusters[i]));
  }
}

void WorkerThread::build_listener(std::shared_ptr<const FrontendSnapshot> snapshot,
                                  std::vector<net::Fd> sockets) {
  const stream::FrontendConfig& config = *snapshot->config;
  const router::RouterOptions options{.http = config.listener->http,
                                      .node = config.bootstrap->node,
                                      .cluster_matchers = snapshot->cluster_matchers,
                                      .body_limit_bytes = config.listener->buffer_limit_bytes};
  auto frontend = std::make_shared<stream::Frontend>(
      worker_, snapshot->config,
      [this, options](stream::Downstream& downstream) {
        return std::make_unique<router::Router>(downstream, worker_, clusters_, options);
      },
      [this, snapshot](const stream::AccessRecord& record) {
        for (const AccessLog& log : snapshot->access_logs) {
          log.log(record, log_buffer_, worker_.random.next());
        }
      });
  listeners_.push_back(std::make_unique<HttpListener>(
      worker_,
      HttpListener::Settings{.options = config.listener->http,
                             .stats = *config.stats,
                             .process = process_,
                             .max_connections = config.connections.get(),
                             .trust = config.trust,
                             .tls = config.tls.get(),
                             .counts_for_drain = true},
      std::move(sockets), [frontend](http::ServerConnection& connection, http::StreamId id) {
        return std::make_unique<stream::Stream>(frontend, connection, id);
      }));
}

void WorkerThread::update_hosts(const std::string& name, const upstream::Hosts& hosts) {
  if (upstream::Cluster* cluster = clusters_.find(name)) cluster->update_hosts(hosts);
}

void WorkerThread::drain() {
  for (const auto& listener : listeners_) listener->drain();
}

void WorkerThread::stop_accepting() {
  for (const auto& listener : listeners_) listener->stop_accepting();
}

void WorkerThread::close_idle() {
  for (const auto& listener : listeners_) listener->close_idle();
}

void WorkerThread::set_memory_pressure(MemoryPressure pressure) {
  worker_.replay_bytes_max = pressure == MemoryPressure::kNone ? kReplayBytes : 0;
  worker_.overloaded = pressure == MemoryPressure::kCritical;
}

}  // namespace damper::server
