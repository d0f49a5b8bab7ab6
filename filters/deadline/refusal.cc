#include "filters/deadline/refusal.h"

#include "filters/retry/marks.h"

namespace damper::deadline {

stream::Reply too_close(const config::Node& node, const route::RouteEntry& route) {
  stream::Reply reply{.status = 504,
                      .body = "deadline too close",
                      .details = "deadline_too_close",
                      .flag = stream::Flag::kUpstreamTimeout};
  if (route.action->layer != config::LayerRole::kEvery) {
    reply.headers.emplace_back(
        http::HeaderId::kXDamperRetry,
        retry::format_final({.by = node.id,
                             .attempts = 0,
                             .verdict = std::string(retry::word(retry::Verdict::kDeadline))}));
  }
  return reply;
}

}  // namespace damper::deadline
