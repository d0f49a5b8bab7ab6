#include "filters/all.h"

#include <unordered_map>
#include <utility>

#include "filters/admission/admission.h"
#include "filters/buffer/buffer.h"
#include "filters/deadline/deadline.h"
#include "filters/fault/fault.h"
#include "filters/headers/headers.h"
#include "filters/idempotency/idempotency.h"
#include "filters/legs/legs.h"

namespace damper::filters {
namespace {

using stream::FilterFactory;
using stream::StreamContext;

// What the factories of one filter of the chain share, its overrides by routes included; the load
// is that of the whole listener.
struct Shared {
  const Parts& parts;
  std::shared_ptr<admission::Load> load;
  std::vector<std::shared_ptr<admission::Gate>> gates = {};  // one for each setting
};

Result<FilterFactory> make_factory(const config::FaultFilter& settings, Shared&) {
  auto compiled = route::compile(settings.headers);
  if (!compiled) return compiled.error();
  auto only = std::make_shared<std::vector<route::HeaderMatcher>>(*std::move(compiled));
  return FilterFactory(
      [&settings, only](const route::RouteEntry*, StreamContext& stream, http::Worker& worker) {
        return std::make_unique<Fault>(settings, *only, stream, worker.random);
      });
}

Result<FilterFactory> make_factory(const config::HeadersFilter& settings, Shared& shared) {
  auto compiled = route::LevelMutators::compile(settings.mutations, shared.parts.compiler);
  if (!compiled) return compiled.error();
  auto mutators = std::make_shared<route::LevelMutators>(*std::move(compiled));
  return FilterFactory([mutators](const route::RouteEntry*, StreamContext& stream, http::Worker&) {
    return std::make_unique<Headers>(*mutators, stream);
  });
}

Result<FilterFactory> make_factory(const config::BufferFilter& settings, Shared&) {
  return FilterFactory([&settings](const route::RouteEntry*, StreamContext&, http::Worker&) {
    return std::make_unique<BodyLimit>(settings);
  });
}

Result<FilterFactory> make_factory(const config::IdempotencyFilter& settings, Shared&) {
  return FilterFactory(
      [&settings](const route::RouteEntry*, StreamContext& stream, http::Worker& worker) {
        return std::make_unique<Idempotency>(settings, stream, worker.random);
      });
}

Result<FilterFactory> make_factory(const config::DeadlineFilter& settings, Shared& shared) {
  const Parts& parts = shared.parts;
  auto policy = std::make_shared<deadline::DeadlinePolicy>(settings, parts.listener, parts.node,
                                                           parts.stats, shared.load);
  return FilterFactory(
      [policy](const route::RouteEntry*, StreamContext& stream, http::Worker& worker) {
        return std::make_unique<deadline::Deadline>(*policy, stream, worker);
      });
}

std::shared_ptr<admission::Gate> gate_of(const config::AdmissionFilter& settings, Shared& shared) {
  for (const auto& gate : shared.gates) {
    if (gate->settings() == settings) return gate;
  }
  const bool in_shadow = settings.mode == config::FilterMode::kShadow;
  return shared.gates.emplace_back(std::make_shared<admission::Gate>(
      settings, shared.parts.stats.admission.limit, in_shadow ? nullptr : shared.load));
}

Result<FilterFactory> make_factory(const config::AdmissionFilter& settings, Shared& shared) {
  const Parts& parts = shared.parts;
  return FilterFactory([gate = gate_of(settings, shared), &node = parts.node, &stats = parts.stats](
                           const route::RouteEntry*, StreamContext& stream, http::Worker& worker) {
    return std::make_unique<admission::Admission>(
        admission::Admission::Shared{.gate = *gate, .node = node, .stats = stats}, stream, worker);
  });
}

Result<FilterFactory> make_factory(const config::FilterSettings& settings, Shared& shared) {
  return std::visit([&](const auto& s) { return make_factory(s, shared); }, settings);
}

Result<FilterFactory> make_factory(const config::FilterOverride& instead, Shared& shared) {
  if (!instead.disabled) return make_factory(*instead.settings, shared);
  return FilterFactory(
      [](const route::RouteEntry*, StreamContext&, http::Worker&) { return nullptr; });
}

// The most specific word about the filter of that name; null: none changes it.
const config::FilterOverride* override_of(
    std::string_view name,
    std::initializer_list<const std::vector<config::FilterOverride>*> levels) {
  for (const auto* level : levels) {
    for (const config::FilterOverride& o : *level) {
      if (o.name == name) return o.disabled || o.settings ? &o : nullptr;
    }
  }
  return nullptr;
}

using ByRoute = std::unordered_map<const config::Route*, FilterFactory>;

Result<ByRoute> factories_by_route(const std::string& name, const config::RouteConfig& routes,
                                   Shared& shared) {
  ByRoute out;
  for (const config::VirtualHost& host : routes.virtual_hosts) {
    for (const config::Route& route : host.routes) {
      const auto* instead = override_of(
          name, {&route.filter_overrides, &host.filter_overrides, &routes.filter_overrides});
      if (!instead) continue;
      TRY_ASSIGN(FilterFactory factory, make_factory(*instead, shared));
      out.emplace(&route, std::move(factory));
    }
  }
  return out;
}

FilterFactory choose_by_route(FilterFactory usual, ByRoute by_route) {
  if (by_route.empty()) return usual;
  return [usual = std::move(usual), by_route = std::move(by_route)](
             const route::RouteEntry* route, StreamContext& stream, http::Worker& worker) {
    const auto at = by_route.find(route->route);
    return (at == by_route.end() ? usual : at->second)(route, stream, worker);
  };
}

// What ties the two legs of a sidecar together comes first: the call's deadline must be known to
// all that follow. A listener without a direction is none of the two.
void add_leg(const Parts& parts, std::vector<FilterFactory>& out) {
  auto shared = std::make_shared<legs::Shared>(legs::Shared{.correlation = parts.correlation,
                                                            .node = parts.node,
                                                            .stats = parts.stats,
                                                            .edge = parts.listener.edge});
  if (parts.listener.direction == config::Direction::kInbound) {
    out.push_back([shared](const route::RouteEntry*, StreamContext& stream, http::Worker& worker) {
      return std::make_unique<legs::Inbound>(*shared, stream, worker);
    });
  } else if (parts.listener.direction == config::Direction::kOutbound) {
    out.push_back([shared](const route::RouteEntry*, StreamContext& stream, http::Worker& worker) {
      return std::make_unique<legs::Outbound>(*shared, stream, worker);
    });
  }
}

}  // namespace

Result<std::vector<FilterFactory>> make_factories(const Parts& parts) {
  const config::HttpOptions& options = parts.listener.http;
  const auto load = std::make_shared<admission::Load>();
  std::vector<FilterFactory> out;
  add_leg(parts, out);
  for (const config::Filter& filter : options.filters) {
    Shared shared{.parts = parts, .load = load};
    TRY_ASSIGN(FilterFactory usual, make_factory(filter.settings, shared));
    TRY_ASSIGN(ByRoute by_route, factories_by_route(filter.name, options.routes, shared));
    out.push_back(choose_by_route(std::move(usual), std::move(by_route)));
  }
  return out;
}

}  // namespace damper::filters
