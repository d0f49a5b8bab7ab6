// Every HTTP filter that is in the program.
#pragma once
#include <vector>

#include "base/result.h"
#include "config/model/listener.h"
#include "filters/legs/correlation.h"
#include "stats/http_stats.h"
#include "stream/frontend.h"

namespace damper::filters {

// What the filters of a listener are made with. What it refers to outlives them.
struct Parts {
  const config::Listener& listener;
  const config::Node& node;
  stats::HttpStats& stats;
  legs::Correlation& correlation;
  route::ValueCompiler compiler;
};

// Compiles what the filters of a listener share, with what its routes say about them; the factories
// make one filter each for every stream, or none where a route disables it.
Result<std::vector<stream::FilterFactory>> make_factories(const Parts& parts);

}  // namespace damper::filters
