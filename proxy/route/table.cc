#include "route/table.h"

#include "route/normalize.h"

namespace damper::route {
namespace {

using RequireTls = config::VirtualHost::RequireTls;

// Must the request come back by https? What counts is x-forwarded-proto, not our own connection
// alone.
bool lacks_tls(RequireTls required, const http::RequestHead& head) {
  if (required == RequireTls::kNone) return false;
  if (head.fields.find(http::HeaderId::kXForwardedProto) == "https") return false;
  return required == RequireTls::kAll ||
         head.fields.find(http::HeaderId::kXEnvoyInternal) != "true";
}

// Draws at most once a request: the fractions of routes that follow each other share one number, so
// that 10% and then 30% take 10% and 20% of all.
class Share {
 public:
  explicit Share(Random& random) : random_(random) {}

  bool within(const std::optional<config::Fraction>& fraction) {
    if (!fraction) return true;
    if (!drawn_) drawn_ = random_.below(1'000'000);
    return *drawn_ < fraction->parts_per_million;
  }

 private:
  Random& random_;
  std::optional<std::uint64_t> drawn_;
};

}  // namespace

Result<RouteTable> RouteTable::build(const config::RouteConfig& config,
                                     const ValueCompiler& compiler) {
  RouteTable out;
  out.config_ = &config;
  TRY_ASSIGN(LevelMutators mutators, LevelMutators::compile(config.headers, compiler));
  out.mutators_ = std::make_unique<LevelMutators>(std::move(mutators));
  for (const config::VirtualHost& host : config.virtual_hosts)
    TRY(out.add_virtual_host(host, compiler));
  return out;
}

Status RouteTable::add_virtual_host(const config::VirtualHost& config,
                                    const ValueCompiler& compiler) {
  for (const std::string& domain : config.domains) TRY(domains_.add(domain, virtual_hosts_.size()));
  auto host = std::make_unique<VirtualHost>();
  host->config = &config;
  TRY_ASSIGN(host->mutators, LevelMutators::compile(config.headers, compiler));
  TRY(add_routes(*host, compiler));
  virtual_hosts_.push_back(std::move(host));
  return Ok{};
}

Status RouteTable::add_routes(VirtualHost& host, const ValueCompiler& compiler) const {
  const OuterLevels outer{&host.mutators, mutators_.get(),
                          config_->most_specific_header_mutations_wins};
  host.paths.reserve(host.config->routes.size());
  host.routes.reserve(host.config->routes.size());
  for (const config::Route& route : host.config->routes) {
    TRY_ASSIGN(PathMatcher path, PathMatcher::compile(route.match));
    TRY_ASSIGN(RouteEntry entry, RouteEntry::compile(route, *host.config, outer, compiler));
    host.paths.push_back(std::move(path));
    host.routes.push_back(std::move(entry));
  }
  host.to_https.action = config::Redirect{.https = true};
  TRY_ASSIGN(RouteEntry to_https,
             RouteEntry::compile(host.to_https, *host.config, outer, compiler));
  host.tls_redirect = std::make_unique<const RouteEntry>(std::move(to_https));
  return Ok{};
}

const RouteTable::VirtualHost* RouteTable::find_virtual_host(std::string_view authority) const {
  const auto found =
      domains_.find(config_->ignore_port_in_host_matching ? without_port(authority) : authority);
  return found ? virtual_hosts_[*found].get() : nullptr;
}

const RouteEntry* RouteTable::match(const http::RequestHead& head, Random& random) const {
  const VirtualHost* host = find_virtual_host(head.authority);
  if (!host) return nullptr;
  if (lacks_tls(host->config->require_tls, head)) return host->tls_redirect.get();

  const std::string_view path = without_query(head.path);
  Share share(random);
  for (std::size_t i = 0; i < host->paths.size(); ++i) {
    if (!host->paths[i].matches(path)) continue;
    const RouteEntry& entry = host->routes[i];
    if (entry.conditions_hold(head) && share.within(entry.route->match.runtime_fraction))
      return &entry;
  }
  return nullptr;
}

}  // namespace damper::route
