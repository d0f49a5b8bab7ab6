#include "server/admin.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "server/certs_page.h"
#include "server/clusters_page.h"
#include "server/gauges.h"
#include "server/memory.h"
#include "server/version.h"

namespace damper::server {
namespace {

constexpr std::uint64_t kLongestForm = 64 * 1024;
constexpr std::string_view kRetryOfCluster = "/retry/clusters/";

// One request to the admin listener, whose body is a form at most.
class AdminStream final : public http::ServerStream {
 public:
  AdminStream(Admin& admin, http::ServerConnection& connection, http::StreamId id)
      : admin_(admin), connection_(&connection), id_(id) {}

  void on_request_head(http::RequestHead&& head, bool end) override {
    method_ = head.method;
    target_ = head.path;
    is_head_ = head.is_head();
    if (end) answer();
  }
  void on_request_body(Buffer& body, bool end) override {
    if (form_.size() <= kLongestForm) form_ += body.to_string();
    body.clear();
    if (end) answer();
  }
  void on_request_trailers(http::Fields&&) override { answer(); }
  void on_bad_request(int status, const Error& why) override {
    reply_ = {.status = status, .body = why.detail + "\n"};
    send();
  }
  void on_request_reset(http::Reset) override { end(); }
  void on_connection_closed(const Error&) override { connection_ = nullptr; }
  void on_drained() override {}

 private:
  void answer() {
    const bool too_long = form_.size() > kLongestForm;
    reply_ = too_long ? AdminReply{.status = 413, .body = "too long a form\n"}
                      : admin_.answer(AdminQuery::parse(method_, target_, form_));
    send();
  }
  void send() {
    if (!connection_ || sent_) return;
    sent_ = true;
    http::ResponseHead head;
    head.status = reply_.status;
    head.content_length = reply_.body.size();
    head.fields.add(http::HeaderId::kContentType, reply_.content_type);
    head.fields.add("cache-control", "no-cache, max-age=0");
    head.fields.add("x-content-type-options", "nosniff");
    head.fields.add(http::HeaderId::kServer, "damper");
    const bool bodiless = is_head_ || reply_.body.empty();
    connection_->send_head(id_, head, bodiless);
    if (!bodiless) {
      Buffer body;
      body.append(reply_.body);
      connection_->send_body(id_, body, true);
    }
    end();
  }
  void end() { std::exchange(connection_, nullptr)->end_stream(id_); }

  Admin& admin_;
  http::ServerConnection* connection_;
  const http::StreamId id_;
  std::string method_;
  std::string target_;
  std::string form_;
  AdminReply reply_;
  bool is_head_ = false;
  bool sent_ = false;
};

}  // namespace

struct Admin::Page {
  std::string_view path;   // one that ends with '/' stands for all that begin with it
  bool changes_something;  // POST only: a link must not
  AdminReply (Admin::*answer)(const Query&);
  std::string_view help;

  bool is_at(std::string_view asked) const {
    return asked == path || (path.size() > 1 && path.ends_with('/') && asked.starts_with(path));
  }
};

Admin::Admin(Registries& registries, http::Worker& main, Process& process, Hooks hooks)
    : registries_(registries),
      cells_(main.cells),
      process_(process),
      hooks_(std::move(hooks)),
      overrides_(main.loop, main.cells),
      amplification_(registries.stats()),
      tls_(registries.stats(), main.cells),
      sampler_(main.loop.timer([this] { sample_attempts(); })) {}

const std::vector<Admin::Page>& Admin::pages() {
  static const std::vector<Page> all = {
      {"/", false, &Admin::help, "this page"},
      {"/help", false, &Admin::help, "this page"},
      {"/ready", false, &Admin::ready, "200 while requests are welcome, 503 while draining"},
      {"/server_info", false, &Admin::server_info, "version, state, uptime"},
      {"/stats", false, &Admin::stats, "statistics (?filter=, ?usedonly, ?format=json|prometheus)"},
      {"/stats/prometheus", false, &Admin::prometheus, "statistics for Prometheus"},
      {"/clusters", false, &Admin::clusters, "clusters and their hosts (?format=json)"},
      {"/retry", false, &Admin::retry, "budgets and live overrides of retries (?format=json)"},
      {kRetryOfCluster, false, &Admin::retry_of_cluster,
       "the same of the cluster named behind it; POST overrides "
       "(?mode=normal|connect_failure_only|off&for=10m&ratio=5%)"},
      {"/listeners", false, &Admin::listeners, "listeners and their addresses"},
      {"/config_dump", false, &Admin::config_dump, "the configuration in force"},
      {"/certs", false, &Admin::certs, "certificates that are shown and roots that are trusted"},
      {"/memory", false, &Admin::memory, "resident memory and its limit"},
      {"/logging", true, &Admin::logging, "change the log level (?level=debug)"},
      {"/drain_listeners", true, &Admin::drain_listeners, "drain (?graceful)"},
      {"/quitquitquit", true, &Admin::quit, "drain and exit"},
      {"/reset_counters", true, &Admin::reset_counters, "set counters to zero"},
      {"/reopen_logs", true, &Admin::reopen_logs, "open access log files anew"},
  };
  return all;
}

HttpListener::MakeStream Admin::stream_maker() {
  sample_attempts();
  return [this](http::ServerConnection& connection, http::StreamId id) {
    return std::make_unique<AdminStream>(*this, connection, id);
  };
}

AdminReply Admin::answer(const Query& query) {
  const auto at = std::find_if(pages().begin(), pages().end(),
                               [&query](const Page& p) { return p.is_at(query.path); });
  if (at == pages().end()) {
    AdminReply reply = help(query);
    reply.status = 404;
    reply.body.insert(0, "invalid path. admin commands are:\n");
    return reply;
  }
  if (at->changes_something && query.method != "POST") {
    return {.status = 405, .body = "method " + query.method + " not allowed, POST required\n"};
  }
  return (this->*at->answer)(query);
}

AdminReply Admin::help(const Query&) {
  AdminReply reply;
  for (const Page& page : pages()) {
    reply.body.append(page.path).append(page.changes_something ? " (POST): " : ": ");
    reply.body.append(page.help).append("\n");
  }
  return reply;
}

AdminReply Admin::ready(const Query&) {
  if (process_.draining) return {.status = 503, .body = "DRAINING\n"};
  return {.body = "LIVE\n"};
}

stats::Registry& Admin::fresh_stats() {
  refresh_gauges(hooks_.snapshot(), hooks_.hosts, registries_.stats(), cells_, Clock::now());
  tls_.publish(hooks_.snapshot());
  return registries_.stats();
}

AdminReply Admin::stats(const Query& query) {
  const std::string_view format = query.get("format");
  if (format == "prometheus") return prometheus(query);
  const stats::Registry& registry = fresh_stats();
  const bool used_only = query.has("usedonly");
  if (format == "json") {
    return {.content_type = "application/json",
            .body = registry.json(query.get("filter"), used_only)};
  }
  return {.body = registry.text(query.get("filter"), used_only)};
}

AdminReply Admin::prometheus(const Query& query) {
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
          .body = fresh_stats().prometheus(query.get("filter"), query.has("usedonly"))};
}

AdminReply Admin::clusters(const Query& query) {
  const Snapshot& snapshot = hooks_.snapshot();
  if (query.get("format") == "json") {
    return {.content_type = "application/json",
            .body = clusters_json(snapshot, hooks_.hosts, Clock::now())};
  }
  return {.body = clusters_text(snapshot, hooks_.hosts, Clock::now())};
}

// The counts that amplification is worked out from, once a second while there is an admin listener.
void Admin::sample_attempts() {
  for (const auto& cluster : hooks_.snapshot().clusters) {
    amplification_.sample(cluster->name, cluster->stats.retry);
  }
  sampler_->arm(std::chrono::seconds(1));
}

AdminReply Admin::retries_of(const RetryPage::Clusters& clusters, const Query& query) {
  const RetryPage page(overrides_, amplification_, Clock::now());
  if (query.get("format") != "json") return {.body = page.text(clusters)};
  return {.content_type = "application/json", .body = page.json(clusters)};
}

AdminReply Admin::retry(const Query& query) {
  return retries_of(hooks_.snapshot().clusters, query);
}

AdminReply Admin::retry_of_cluster(const Query& query) {
  const std::string_view name = std::string_view(query.path).substr(kRetryOfCluster.size());
  const auto& clusters = hooks_.snapshot().clusters;
  const auto at = std::find_if(clusters.begin(), clusters.end(),
                               [name](const auto& cluster) { return cluster->name == name; });
  if (at == clusters.end()) {
    return {.status = 404, .body = "unknown cluster \"" + std::string(name) + "\"\n"};
  }
  if (query.method == "POST") {
    const auto said = parse_live_override(query);
    if (!said) return {.status = 400, .body = said.error().detail + "\n"};
    overrides_.set(*at, *said);
  }
  return retries_of({*at}, query);
}

AdminReply Admin::config_dump(const Query&) {
  return {.content_type = "application/json",
          .body =
              "{\"configs\":[{\"@type\":"
              "\"type.googleapis.com/envoy.admin.v3.BootstrapConfigDump\",\"bootstrap\":" +
              hooks_.config_json() + "}]}\n"};
}

AdminReply Admin::certs(const Query&) {
  return {.content_type = "application/json",
          .body = certs_json(hooks_.snapshot(), std::chrono::system_clock::now())};
}

AdminReply Admin::listeners(const Query&) {
  AdminReply reply;
  auto address = hooks_.addresses().begin();
  for (const config::Listener& listener : hooks_.snapshot().bootstrap->listeners) {
    for (std::size_t i = 0; i <= listener.additional_addresses.size(); ++i) {
      reply.body += listener.name + "::" + (address++)->to_string() + "\n";
    }
  }
  return reply;
}

AdminReply Admin::server_info(const Query&) {
  const auto uptime = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - started_);
  const config::Node& node = hooks_.snapshot().bootstrap->node;
  std::string body = "{\"version\":";
  append_json_string(body, kVersion);
  body += ",\"state\":";
  append_json_string(body, process_.draining ? "DRAINING" : "LIVE");
  body += ",\"uptime_current_epoch\":\"" + std::to_string(uptime.count()) + "s\",\"node\":{\"id\":";
  append_json_string(body, node.id);
  body += ",\"cluster\":";
  append_json_string(body, node.cluster);
  body += "}}\n";
  return {.content_type = "application/json", .body = std::move(body)};
}

AdminReply Admin::logging(const Query& query) {
  log::Level level = log::level();
  const std::string_view wanted = query.get("level");
  if (!wanted.empty() && !log::parse_level(wanted, level)) {
    return {.status = 400, .body = "unknown level \"" + std::string(wanted) + "\"\n"};
  }
  log::set_level(level);
  return {.body = "active logger: damper: " + std::string(log::name(level)) + "\n"};
}

AdminReply Admin::quit(const Query&) {
  hooks_.quit();
  return {.body = "OK\n"};
}

AdminReply Admin::drain_listeners(const Query& query) {
  hooks_.drain_listeners(query.has("graceful"));
  return {.body = "OK\n"};
}

AdminReply Admin::reset_counters(const Query&) {
  registries_.stats().reset_counters();
  return {.body = "OK\n"};
}

AdminReply Admin::reopen_logs(const Query&) {
  registries_.access_logs().reopen();
  return {.body = "OK\n"};
}

AdminReply Admin::memory(const Query&) {
  const auto limit = memory_limit_bytes();
  return {.content_type = "application/json",
          .body = "{\"allocated\":\"" + std::to_string(resident_bytes()) + "\",\"limit\":\"" +
                  (limit ? std::to_string(*limit) : "none") + "\"}\n"};
}

}  // namespace damper::server
