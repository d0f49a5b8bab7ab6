#include "filters/all.h"

#include "filters/buffer/buffer.h"
#include "filters/fault/fault.h"
#include "filters/headers/headers.h"

namespace damper::filters {
namespace {

using stream::FilterFactory;
using stream::StreamContext;

Result<FilterFactory> make_factory(const config::FaultFilter& settings,
                                   const route::ValueCompiler&) {
  auto compiled = route::compile(settings.headers);
  if (!compiled) return compiled.error();
  auto only = std::make_shared<std::vector<route::HeaderMatcher>>(*std::move(compiled));
  return FilterFactory(
      [&settings, only](const route::RouteEntry*, StreamContext& stream, http::Worker& worker) {
        return std::make_unique<Fault>(settings, *only, stream, worker.random);
      });
}

Result<FilterFactory> make_factory(const config::HeadersFilter& settings,
                                   const route::ValueCompiler& compiler) {
  auto compiled = route::LevelMutators::compile(settings.mutations, compiler);
  if (!compiled) return compiled.error();
  auto mutators = std::make_shared<route::LevelMutators>(*std::move(compiled));
  return FilterFactory([mutators](const route::RouteEntry*, StreamContext& stream, http::Worker&) {
    return std::make_unique<Headers>(*mutators, stream);
  });
}

Result<FilterFactory> make_factory(const config::BufferFilter& settings,
                                   const route::ValueCompiler&) {
  return FilterFactory([&settings](const route::RouteEntry*, StreamContext&, http::Worker&) {
    return std::make_unique<BodyLimit>(settings);
  });
}

}  // namespace

Result<std::vector<FilterFactory>> make_factories(const std::vector<config::Filter>& settings,
                                                  const route::ValueCompiler& compiler) {
  std::vector<FilterFactory> out;
  for (const config::Filter& filter : settings) {
    auto factory =
        std::visit([&](const auto& s) { return make_factory(s, compiler); }, filter.settings);
    if (!factory) return factory.error();
    out.push_back(*std::move(factory));
  }
  return out;
}

}  // namespace damper::filters
