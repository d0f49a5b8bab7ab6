#include "filters/deadline/refusal.h"

#include "filters/retry/marks.h"

namespace damper::deadline {

stream::Reply too_close(const config::Node& node, const route::RouteEntry& route,
                        const http::RequestHead& request) {
  stream::Reply reply{.status = 504,
                      .body = "deadline too close",
                      .details = "deadline_too_close",
                      .flag = stream::Flag::kUpstreamTimeout};
  if (route.action->marks()) {
    const std::string mark =
        retry::format_final({.by = node.id,
                             .attempts = 0,
                             .verdict = std::string(retry::word(retry::Verdict::kDeadline))});
    retry::add_final_mark(reply, mark, request.is_grpc());
  }
  return reply;
}

}  // namespace damper::deadline
