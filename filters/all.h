// Every HTTP filter that is in the program.
#pragma once
#include <vector>

#include "base/result.h"
#include "config/model/filters.h"
#include "stream/frontend.h"

namespace damper::filters {

// Compiles what the filters of a listener share; the factories make one filter each for every
// stream. `settings` must outlive them.
Result<std::vector<stream::FilterFactory>> make_factories(
    const std::vector<config::Filter>& settings, const route::ValueCompiler& compiler);

}  // namespace damper::filters
