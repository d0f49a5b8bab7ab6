#include "filters/deadline/deadline.h"

#include <algorithm>
#include <utility>

#include "filters/deadline/refusal.h"
#include "route/entry.h"

namespace damper::deadline {
namespace {

using http::HeaderId;

// Places among the carriers.
constexpr std::size_t kGrpc = 0;
constexpr std::size_t kExpectedTimeout = 1;

std::vector<Carrier> usual_carriers() {
  return {{"grpc-timeout", HeaderId::kGrpcTimeout, Form::kGrpc},
          {"x-envoy-expected-rq-timeout-ms", HeaderId::kXEnvoyExpectedRqTimeoutMs, Form::kRelative},
          {"x-deadline", HeaderId::kXDeadline, Form::kAbsolute},
          {"x-request-deadline", HeaderId::kXRequestDeadline, Form::kAbsolute}};
}

std::optional<std::string_view> find(const http::Fields& fields, const Carrier& carrier) {
  return carrier.id == HeaderId::kOther ? fields.find(carrier.name) : fields.find(carrier.id);
}

void set(http::Fields& fields, const Carrier& carrier, std::string_view value) {
  if (carrier.id == HeaderId::kOther) {
    fields.set(carrier.name, value);
  } else {
    fields.set(carrier.id, value);
  }
}

void keep_nearest(std::optional<Duration>& nearest, Duration left) {
  nearest = nearest ? std::min(*nearest, left) : left;
}

std::string_view ip_of(std::string_view peer) { return peer.substr(0, peer.rfind(':')); }

}  // namespace

DeadlinePolicy::DeadlinePolicy(const config::DeadlineFilter& settings_,
                               const config::Listener& listener, const config::Node& node_,
                               const stats::HttpStats& stats_,
                               std::shared_ptr<const admission::Load> load_)
    : settings(settings_),
      node(node_),
      stats(stats_),
      from_application(listener.direction == config::Direction::kOutbound),
      load(std::move(load_)),
      carriers(usual_carriers()) {
  for (const auto& header : settings.headers) {
    carriers.push_back({header.name, HeaderId::kOther, header.form});
  }
  for (const std::string& name : settings.emit) emit(name);
  if (!listener.http.suppress_envoy_headers) left_to_router = bit(kExpectedTimeout);
}

void DeadlinePolicy::emit(const std::string& name) {
  for (std::size_t i = 0; i < carriers.size(); ++i) {
    if (carriers[i].name == name) emitted |= bit(i);
  }
}

stream::Verdict Deadline::on_request_head(http::RequestHead& head, bool end) {
  if (policy_.settings.learn_cost && !policy_.from_application) {
    operation_ = &policy_.learned.operation(stream_.route()->label, head.operation());
  }
  const Told told = read_carriers(head);
  std::optional<Duration> left = settle(told);
  if (!end && !policy_.from_application && told.timeout_alone) {
    left_from_end_ = std::exchange(left, std::nullopt);
  } else if (!left) {
    left = policy_.settings.if_none;
  }
  if (left) keep(*left);
  if (const auto least = policy_.settings.min_attempt_time)
    stream_.record().min_attempt_time = *least;
  const auto deadline = stream_.deadline();  // another filter's may be nearer
  if (!deadline) return stream::Continue{};
  return judge(*deadline - stream_.scheduler().now());
}

// In shadow a deadline that is past is only counted.
void Deadline::keep(Duration left) {
  if (in_shadow() && left <= Duration::zero()) {
    worker_.cells.add(policy_.stats.deadline_shadow_rejected);
    return;
  }
  stream_.tighten_deadline(stream_.scheduler().now() + std::min(left, policy_.settings.max));
}

stream::Verdict Deadline::on_request_body(Buffer&, bool end) {
  if (end) request_ended();
  return stream::Continue{};
}

stream::Verdict Deadline::on_request_trailers(http::Fields&) {
  request_ended();
  return stream::Continue{};
}

void Deadline::request_ended() {
  if (const auto left = std::exchange(left_from_end_, std::nullopt)) keep(*left);
}

Deadline::Told Deadline::read_carriers(const http::RequestHead& head) {
  Told told;
  const bool is_grpc = head.is_grpc();
  for (std::size_t i = 0; i < policy_.carriers.size(); ++i) {
    if (i == kGrpc && !is_grpc) continue;
    const Carrier& carrier = policy_.carriers[i];
    const auto value = find(head.fields, carrier);
    if (!value) continue;
    const auto left = read(carrier.form, *value, std::chrono::system_clock::now());
    if (!left) continue;
    came_ |= DeadlinePolicy::bit(i);
    keep_nearest(carrier.form == Form::kAbsolute ? told.absolute : told.relative, *left);
  }
  told.timeout_alone = came_ == DeadlinePolicy::bit(kExpectedTimeout);
  return told;
}

// Between hosts a relative deadline needs no common clock: where there is one, it holds. On one
// host there is one clock, and the nearest of all holds.
std::optional<Duration> Deadline::settle(const Told& told) {
  if (policy_.from_application) {
    std::optional<Duration> nearest = told.relative;
    if (told.absolute) keep_nearest(nearest, *told.absolute);
    return nearest;
  }
  if (!told.relative) return told.absolute ? believe(*told.absolute) : std::nullopt;
  constexpr Duration kNoticeable = std::chrono::seconds(1);
  if (told.absolute && std::chrono::abs(*told.absolute - *told.relative) > kNoticeable) {
    worker_.cells.add(policy_.stats.deadline_skewed);
  }
  return told.relative;
}

std::optional<Duration> Deadline::believe(Duration absolute) {
  const std::string_view peer = ip_of(stream_.record().downstream_remote);
  if (policy_.skew_guard.believes(peer, absolute <= Duration::zero())) return absolute;
  worker_.cells.add(policy_.stats.deadline_not_believed);
  return std::nullopt;
}

std::optional<stream::ExpectedCost> Deadline::expected_cost() const {
  if (policy_.from_application) return std::nullopt;  // it is the callee who knows
  const config::DeadlineFilter& settings = policy_.settings;
  std::optional<stream::ExpectedCost> cost;
  if (settings.expected_cost) {
    cost = {.at_rest = *settings.expected_cost, .queued = *settings.expected_cost};
  } else if (operation_) {
    cost = operation_->cost(stream_.scheduler().now());
  }
  if (cost) {
    cost->at_rest += settings.margin;
    cost->queued += settings.margin;
  }
  return cost;
}

stream::Verdict Deadline::judge(Duration left) {
  if (left <= Duration::zero()) return refuse();
  const auto cost = expected_cost();
  if (!cost) return stream::Continue{};
  if (!in_shadow()) stream_.record().expected_cost = cost;
  const bool queued = policy_.load && policy_.load->queued.load(std::memory_order_relaxed) > 0;
  return left < (queued ? cost->queued : cost->at_rest) ? refuse() : stream::Continue{};
}

stream::Verdict Deadline::refuse() {
  if (in_shadow()) {
    worker_.cells.add(policy_.stats.deadline_shadow_rejected);
    return stream::Continue{};
  }
  worker_.cells.add(policy_.stats.deadline_rejected);
  return too_close(policy_.node, *stream_.route(), *stream_.record().request);
}

void Deadline::on_attempt_head(http::RequestHead& head, const stream::AttemptTime& time) {
  if (!time.left) return;
  DeadlinePolicy::Carriers told = came_ | policy_.emitted;
  if (head.is_grpc()) told |= DeadlinePolicy::bit(kGrpc);
  told &= ~policy_.left_to_router;
  const WallTime wall = std::chrono::system_clock::now();
  for (std::size_t i = 0; told >> i != 0; ++i) {
    if ((told & DeadlinePolicy::bit(i)) == 0) continue;
    const Carrier& carrier = policy_.carriers[i];
    const Duration left = carrier.form == Form::kAbsolute ? *time.left : *time.nearest();
    set(head.fields, carrier, write(carrier.form, left, wall));
  }
}

// What reached the application counts, whatever came of it.
void Deadline::on_done(const stream::AccessRecord& record) {
  if (!operation_ || !record.upstream_start || !record.request->upgrade.empty()) return;
  const TimePoint now = stream_.scheduler().now();
  operation_->add(now - record.work_start, now);
}

}  // namespace damper::deadline
