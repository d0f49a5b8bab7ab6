#include "server/admin.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "server/clusters_page.h"
#include "server/gauges.h"
#include "server/memory.h"
#include "server/version.h"

namespace damper::server {
namespace {

// One request to the admin listener: no body is wanted, the answer is made at once.
class AdminStream final : public http::ServerStream {
 public:
  AdminStream(Admin& admin, http::ServerConnection& connection, http::StreamId id)
      : admin_(admin), connection_(&connection), id_(id) {}

  void on_request_head(http::RequestHead&& head, bool end) override {
    reply_ = admin_.answer(head.method, head.path);
    is_head_ = head.is_head();
    if (end) send();
  }
  void on_request_body(Buffer&, bool end) override {
    if (end) send();
  }
  void on_request_trailers(http::Fields&&) override { send(); }
  void on_bad_request(int status, const Error& why) override {
    reply_ = {.status = status, .body = why.detail + "\n"};
    send();
  }
  void on_request_reset(http::Reset) override { end(); }
  void on_connection_closed(const Error&) override { connection_ = nullptr; }
  void on_drained() override {}

 private:
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
  AdminReply reply_;
  bool is_head_ = false;
  bool sent_ = false;
};

}  // namespace

struct Admin::Query {
  std::vector<std::pair<std::string_view, std::string_view>> parameters;

  std::string_view get(std::string_view name) const {
    for (const auto& [key, value] : parameters) {
      if (key == name) return value;
    }
    return {};
  }
  bool has(std::string_view name) const {
    return std::any_of(parameters.begin(), parameters.end(),
                       [name](const auto& p) { return p.first == name; });
  }
};

struct Admin::Page {
  std::string_view path;
  bool changes_something;  // POST only: a link must not
  AdminReply (Admin::*answer)(const Query&);
  std::string_view help;
};

const std::vector<Admin::Page>& Admin::pages() {
  static const std::vector<Page> all = {
      {"/", false, &Admin::help, "this page"},
      {"/help", false, &Admin::help, "this page"},
      {"/ready", false, &Admin::ready, "200 while requests are welcome, 503 while draining"},
      {"/server_info", false, &Admin::server_info, "version, state, uptime"},
      {"/stats", false, &Admin::stats, "statistics (?filter=, ?usedonly, ?format=json|prometheus)"},
      {"/stats/prometheus", false, &Admin::prometheus, "statistics for Prometheus"},
      {"/clusters", false, &Admin::clusters, "clusters and their hosts (?format=json)"},
      {"/listeners", false, &Admin::listeners, "listeners and their addresses"},
      {"/config_dump", false, &Admin::config_dump, "the configuration in force"},
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
  return [this](http::ServerConnection& connection, http::StreamId id) {
    return std::make_unique<AdminStream>(*this, connection, id);
  };
}

AdminReply Admin::answer(std::string_view method, std::string_view target) {
  const auto question = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, question);
  Query query;
  for (const auto part : split(target.substr(std::min(question + 1, target.size())), '&')) {
    const auto equals = std::min(part.find('='), part.size());
    query.parameters.emplace_back(part.substr(0, equals),
                                  part.substr(std::min(equals + 1, part.size())));
  }
  const auto at = std::find_if(pages().begin(), pages().end(),
                               [path](const Page& p) { return p.path == path; });
  if (at == pages().end()) {
    AdminReply reply = help(query);
    reply.status = 404;
    reply.body.insert(0, "invalid path. admin commands are:\n");
    return reply;
  }
  if (at->changes_something && method != "POST") {
    return {.status = 405,
            .body = "method " + std::string(method) + " not allowed, POST required\n"};
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

AdminReply Admin::config_dump(const Query&) {
  return {.content_type = "application/json",
          .body =
              "{\"configs\":[{\"@type\":"
              "\"type.googleapis.com/envoy.admin.v3.BootstrapConfigDump\",\"bootstrap\":" +
              hooks_.config_json() + "}]}\n"};
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
