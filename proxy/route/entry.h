// One route with everything that a request needs to know of it, compiled. Immutable; lives as long
// as its RouteTable, and points into the configuration that the table was built from.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "config/model/route.h"
#include "http/message.h"
#include "route/matchers.h"
#include "route/mutate.h"
#include "route/rewrite.h"

namespace damper::route {

// The header changes of the levels above a route.
struct OuterLevels {
  const LevelMutators* virtual_host = nullptr;
  const LevelMutators* table = nullptr;
  bool most_specific_wins = false;  // most_specific_header_mutations_wins
};

// Where a request goes. `name` is a view of the configuration or of the request's head; empty:
// cluster_header is absent.
struct ClusterPick {
  std::string_view name;
  const LevelMutators* mutators = nullptr;  // those of the weighted cluster
};

struct RouteEntry {
  static Result<RouteEntry> compile(const config::Route& route,
                                    const config::VirtualHost& virtual_host,
                                    const OuterLevels& outer, const ValueCompiler& compiler);

  const config::Route* route = nullptr;
  const config::VirtualHost* virtual_host = nullptr;
  // Which of the three the route does; exactly one is set.
  const config::RouteAction* action = nullptr;
  const config::DirectResponse* direct_response = nullptr;
  const config::Redirect* redirect = nullptr;

  // What the route is called where something is kept for each: its name, or where it stands.
  std::string label;

  // What holds: the route's own, else the virtual host's, as a whole. Null: neither has one.
  const config::RetryPolicy* retry_policy = nullptr;
  const config::HedgePolicy* hedge_policy = nullptr;
  std::optional<std::uint64_t> request_body_buffer_limit;
  std::vector<HeaderMatcher> retriable_headers;          // of retry_policy
  std::vector<HeaderMatcher> retriable_request_headers;  // of retry_policy

  // Every condition of the match but the path.
  bool conditions_hold(const http::RequestHead& head) const;

  ClusterPick pick_cluster(const http::RequestHead& head,
                           Random& random) const;  // only with an action

  // Once a request, before the first attempt, in Envoy's order: headers first, then path and host.
  // auto_host_rewrite is not done here: the chosen host decides.
  void mutate_request(http::Fields& fields, const ClusterPick& pick,
                      const stream::AccessRecord& record) const;
  void rewrite(http::RequestHead& head) const;
  void mutate_response(http::Fields& fields, const ClusterPick& pick,
                       const stream::AccessRecord& record) const;

  std::string redirect_location(const http::RequestHead& head) const;  // only with a redirect

 private:
  struct WeightedCluster {
    std::string_view name;
    std::uint64_t weights_up_to_here = 0;  // its own included
    LevelMutators mutators;
  };

  Status compile_action(const config::RouteAction& routed, const ValueCompiler& compiler);
  Status compile_weighted_clusters(const config::RouteAction& routed,
                                   const ValueCompiler& compiler);
  void mutate(HeaderMutator LevelMutators::*direction, http::Fields& fields,
              const ClusterPick& pick, const stream::AccessRecord& record) const;

  std::vector<HeaderMatcher> headers_;
  std::vector<QueryMatcher> query_parameters_;
  std::vector<WeightedCluster> weighted_clusters_;
  PathRewrite path_rewrite_;
  LevelMutators mutators_;
  OuterLevels outer_;
};

}  // namespace damper::route
