// Every HTTP filter that is in the program.
#pragma once
#include <vector>

#include "base/result.h"
#include "config/model/listener.h"
#include "stream/frontend.h"

namespace damper::filters {

// Compiles what the filters of a listener share, with what its routes say about them; the factories
// make one filter each for every stream, or none where a route disables it. `options` must outlive
// them.
Result<std::vector<stream::FilterFactory>> make_factories(const config::HttpOptions& options,
                                                          const route::ValueCompiler& compiler);

}  // namespace damper::filters
