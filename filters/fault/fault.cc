#include "filters/fault/fault.h"

#include "http/grpc_status.h"

namespace damper::filters {
namespace {

bool hits(config::Fraction share, Random& random) {
  return random.below(1'000'000) < share.parts_per_million;
}

}  // namespace

Fault::Fault(const config::FaultFilter& settings, const std::vector<route::HeaderMatcher>& only,
             stream::StreamContext& stream, Random& random)
    : settings_(settings),
      only_(only),
      stream_(stream),
      delays_(hits(settings.delay_share, random)),
      aborts_(hits(settings.abort_share, random)) {}

stream::Verdict Fault::on_request_head(http::RequestHead& head, bool) {
  if (!route::all_match(only_, head)) return stream::Continue{};
  if (!delays_) return abort_or_continue();
  set(stream_.record().flags, stream::Flag::kDelayInjected);
  timer_ = stream_.scheduler().timer([this] { stream_.resume(abort_or_continue()); });
  timer_->arm(settings_.delay);
  return stream::Pause{};
}

stream::Verdict Fault::abort_or_continue() {
  if (!aborts_) return stream::Continue{};
  const auto& grpc = settings_.abort_grpc_status;
  return stream::Reply{.status = grpc ? http::http_status_for(*grpc) : settings_.abort_status,
                       .body = "fault filter abort",
                       .details = "fault_filter_abort",
                       .flag = stream::Flag::kFaultInjected,
                       .headers = {},
                       .grpc_status = grpc};
}

}  // namespace damper::filters
