// Finds the route of a request: a virtual host by its authority, then the first of its routes whose
// match holds. Built once for a snapshot of the configuration, which must outlive it; any thread
// may ask it.
#pragma once
#include <memory>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "config/model/route.h"
#include "http/message.h"
#include "route/domains.h"
#include "route/entry.h"
#include "route/matchers.h"

namespace damper::route {

class RouteTable {
 public:
  // An Error for what the check of a configuration finds first: a bad regex, a domain that occurs
  // twice.
  static Result<RouteTable> build(const config::RouteConfig& config, const ValueCompiler& compiler);

  // Null: no route. `random` is drawn from only by a runtime_fraction.
  const RouteEntry* match(const http::RequestHead& head, Random& random) const;

 private:
  struct VirtualHost {
    const config::VirtualHost* config = nullptr;
    LevelMutators mutators;
    std::vector<PathMatcher>
        paths;  // paths[i] belongs to routes[i]; apart, because every request scans them
    std::vector<RouteEntry> routes;
    config::Route to_https;  // what require_tls answers
    std::unique_ptr<const RouteEntry> tls_redirect;
  };

  Status add_virtual_host(const config::VirtualHost& config, const ValueCompiler& compiler);
  Status add_routes(VirtualHost& host, const ValueCompiler& compiler) const;
  const VirtualHost* find_virtual_host(std::string_view authority) const;

  const config::RouteConfig* config_ = nullptr;
  std::unique_ptr<LevelMutators> mutators_;  // entries point to it
  std::vector<std::unique_ptr<VirtualHost>> virtual_hosts_;
  Domains domains_;
};

}  // namespace damper::route
