#include "server/snapshot.h"

#include "filters/all.h"
#include "filters/retry/verdict.h"
#include "stream/format.h"

namespace damper::server {
namespace {

// Values of added headers are written by the same operators as access logs.
Result<route::HeaderValue> compile_header_value(std::string_view text) {
  TRY_ASSIGN(auto format, stream::Format::header_value(text));
  auto shared = std::make_shared<const stream::Format>(std::move(format));
  return route::HeaderValue([shared](const stream::AccessRecord& record, std::string& out) {
    shared->write(record, out);
  });
}

Result<net::CidrSet> trusted_peers(const config::Listener& listener) {
  if (listener.trust) return net::CidrSet::parse(*listener.trust);
  if (listener.http.internal_addresses) {
    return net::CidrSet::parse(*listener.http.internal_addresses);
  }
  return net::CidrSet::loopback();
}

// `owner`: listener, cluster.
Error at(std::string_view owner, const std::string& name, const Error& why) {
  return {why.code, why.side, std::string(owner) + " \"" + name + "\": " + why.detail};
}

Result<std::shared_ptr<const FrontendSnapshot>> build_frontend(
    std::shared_ptr<const config::Bootstrap> bootstrap, const config::Listener& listener,
    Registries& registries) {
  auto frontend = std::make_shared<FrontendSnapshot>();
  auto config = std::make_shared<stream::FrontendConfig>();
  TRY_ASSIGN(frontend->cluster_matchers, router::compile_cluster_matchers(bootstrap->clusters));
  const config::Node& node = bootstrap->node;
  config->bootstrap = std::move(bootstrap);
  config->listener = &listener;
  config->stats = registries.http(listener.http.stat_prefix);
  TRY_ASSIGN(config->routes, route::RouteTable::build(listener.http.routes, compile_header_value));
  TRY_ASSIGN(config->trust, trusted_peers(listener));
  TRY_ASSIGN(config->filters, filters::make_factories({.listener = listener,
                                                       .node = node,
                                                       .stats = *config->stats,
                                                       .correlation = registries.correlation(),
                                                       .compiler = compile_header_value}));
  TRY_ASSIGN(config->tls, registries.tls(listener));
  if (listener.max_connections > 0) {
    config->connections = std::make_shared<upstream::Limit>(listener.max_connections);
  }
  for (const config::AccessLog& log : listener.http.access_logs) {
    TRY_ASSIGN(auto made, AccessLog::create(log, registries.access_logs()));
    frontend->access_logs.push_back(std::move(made));
  }
  frontend->config = std::move(config);
  return std::shared_ptr<const FrontendSnapshot>(std::move(frontend));
}

}  // namespace

std::shared_ptr<upstream::ClusterState> Registries::cluster(const config::Cluster& config) {
  auto& state = clusters_[config.name];
  if (state) {
    state->reconfigure(config);
  } else {
    state = std::make_shared<upstream::ClusterState>(
        config, stats_,
        stats::RetryWords{.verdicts = retry::verdict_words(), .causes = retry::cause_words()},
        workers_);
  }
  return state;
}

std::shared_ptr<stats::HttpStats> Registries::http(const std::string& stat_prefix) {
  auto& stats = http_[stat_prefix];
  if (!stats) stats = std::make_shared<stats::HttpStats>(stats_, stat_prefix);
  return stats;
}

Result<std::shared_ptr<net::TlsServer>> Registries::tls(const config::Listener& listener) {
  auto& known = tls_servers_[listener.name];
  if (!listener.tls) {
    known = nullptr;
  } else if (!known || known->settings() != *listener.tls) {
    TRY_ASSIGN(known,
               net::TlsServer::create(*listener.tls, tls_tools_, "listener=" + listener.name));
  }
  return known;
}

Result<std::shared_ptr<net::TlsClient>> Registries::tls(const config::Cluster& cluster) {
  if (!cluster.tls) return std::shared_ptr<net::TlsClient>();
  const auto state = clusters_.find(cluster.name);
  const auto known = state == clusters_.end() ? nullptr : state->second->tls();
  if (known && known->settings() == *cluster.tls) return known;
  return net::TlsClient::create(*cluster.tls, tls_tools_, "cluster=" + cluster.name);
}

Result<std::shared_ptr<const Snapshot>> build_snapshot(
    std::shared_ptr<const config::Bootstrap> bootstrap, Registries& registries) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->bootstrap = bootstrap;
  for (const config::Listener& listener : bootstrap->listeners) {
    auto frontend = build_frontend(bootstrap, listener, registries);
    if (!frontend) return at("listener", listener.name, frontend.error());
    snapshot->frontends.push_back(*std::move(frontend));
  }
  for (const config::Cluster& cluster : bootstrap->clusters) {
    auto tls = registries.tls(cluster);
    if (!tls) return at("cluster", cluster.name, tls.error());
    snapshot->clusters.push_back(registries.cluster(cluster));
    snapshot->clusters.back()->set_tls(*std::move(tls));
  }
  return std::shared_ptr<const Snapshot>(std::move(snapshot));
}

Status try_to_build(std::shared_ptr<const config::Bootstrap> bootstrap) {
  Registries registries(1);
  const auto built = build_snapshot(std::move(bootstrap), registries);
  if (!built) return built.error();
  return Ok{};
}

}  // namespace damper::server
