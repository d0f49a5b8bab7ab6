// The answer to a request that cannot be done by its deadline any more, wherever that is noticed:
// when it comes, while it waits for admission. Nothing has been done for it, and nobody should try
// again (semantics.md §6).
#pragma once
#include "config/model/bootstrap.h"
#include "route/entry.h"
#include "stream/filter.h"

namespace damper::deadline {

// `504 deadline too close`, for gRPC status 4; marked as final where the route's layer marks.
stream::Reply too_close(const config::Node& node, const route::RouteEntry& route,
                        const http::RequestHead& request);

}  // namespace damper::deadline
