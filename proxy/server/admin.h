// The operator's door, on the main thread: Envoy's paths, so that scripts and dashboards go on
// working.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "http/server_connection.h"
#include "server/admin_query.h"
#include "server/http_listener.h"
#include "server/live_overrides.h"
#include "server/process.h"
#include "server/retry_page.h"
#include "server/snapshot.h"
#include "server/tls_stats.h"

namespace damper::server {

struct AdminReply {
  int status = 200;
  std::string content_type = "text/plain; charset=UTF-8";
  std::string body;
};

class Admin {
 public:
  struct Hooks {
    std::function<void()> quit;  // /quitquitquit
    std::function<void(bool graceful)> drain_listeners;
    std::function<const Snapshot&()> snapshot;
    std::function<const upstream::Hosts&(std::size_t cluster)> hosts;
    std::function<const std::string&()> config_json;
    std::function<const std::vector<net::Address>&()>
        addresses;  // of the listeners, in their order
  };

  // `main` is the main thread's.
  Admin(Registries& registries, http::Worker& main, Process& process, Hooks hooks);

  AdminReply answer(const AdminQuery& query);
  HttpListener::MakeStream stream_maker();

 private:
  using Query = AdminQuery;
  struct Page;
  static const std::vector<Page>& pages();

  stats::Registry& fresh_stats();
  void sample_attempts();
  AdminReply retries_of(const RetryPage::Clusters& clusters, const Query& query);

  AdminReply help(const Query&);
  AdminReply ready(const Query&);
  AdminReply stats(const Query& query);
  AdminReply prometheus(const Query& query);
  AdminReply clusters(const Query& query);
  AdminReply retry(const Query& query);
  AdminReply retry_of_cluster(const Query& query);
  AdminReply config_dump(const Query&);
  AdminReply certs(const Query& query);
  AdminReply listeners(const Query&);
  AdminReply server_info(const Query&);
  AdminReply logging(const Query& query);
  AdminReply quit(const Query&);
  AdminReply drain_listeners(const Query& query);
  AdminReply reset_counters(const Query&);
  AdminReply reopen_logs(const Query&);
  AdminReply memory(const Query&);

  Registries& registries_;
  stats::Cells& cells_;
  Process& process_;
  Hooks hooks_;
  LiveOverrides overrides_;
  AmplificationWindow amplification_;
  TlsStats tls_;
  std::unique_ptr<event::Timer> sampler_;
  const TimePoint started_ = Clock::now();
};

}  // namespace damper::server
