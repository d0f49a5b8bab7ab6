#include "filters/admission/admission.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "filters/deadline/refusal.h"
#include "filters/retry/marks.h"

namespace damper::admission {
namespace {

using http::HeaderId;
using stream::Flag;

// Unmarked: it has surely not been processed, and another replica may have room.
stream::Reply overloaded(stats::AdmissionStats::Reason reason) {
  using Reason = stats::AdmissionStats::Reason;
  return {.status = 503,
          .body = "overloaded",
          .details = reason == Reason::kMaxWait ? "admission_max_wait" : "admission_queue_full",
          .flag = Flag::kUpstreamOverflow,
          .headers = {{HeaderId::kXEnvoyOverloaded, "true"}, {HeaderId::kRetryAfter, "1"}}};
}

bool is_event_stream(const http::ResponseHead& head) {
  const auto type = head.fields.find(HeaderId::kContentType);
  return type && equals_ignoring_case(trim(type->substr(0, type->find(';'))), "text/event-stream");
}

}  // namespace

bool is_retry(const http::Fields& fields) { return retry::attempt_count(fields) > 1; }

// --- The way in ----------------------------------------------------------------------------------

stream::Verdict Admission::on_request_head(http::RequestHead& head, bool) {
  if (!head.upgrade.empty()) return stream::Continue{};
  until_head_ = head.is_grpc();
  const auto latest = latest_start();
  const bool too_late = latest && stream_.scheduler().now() > *latest;
  Gate::Entry entry =
      gate().enter(worker_, {.is_retry = is_retry(head.fields), .may_wait = !too_late},
                   [this](Gate::Turn turn) { on_turn(turn); });
  if (std::holds_alternative<Gate::NoPlace>(entry)) {
    return refuse(too_late ? Reason::kDeadline : Reason::kQueueFull);
  }
  if (auto* waiting = std::get_if<Gate::WaitingRef>(&entry)) return wait(std::move(*waiting));
  go_in();
  return stream::Continue{};
}

// A request that starts later cannot make it. While there is a queue, answers take as long as they
// take in one.
std::optional<TimePoint> Admission::latest_start() const {
  const auto deadline = stream_.deadline();
  if (!deadline) return std::nullopt;
  const auto& cost = stream_.record().expected_cost;
  return *deadline - (cost ? cost->queued : Duration::zero());
}

stream::Verdict Admission::wait(Gate::WaitingRef waiting) {
  place_ = Place::kQueue;
  waiting_ = std::move(waiting);
  came_ = stream_.scheduler().now();
  worker_.cells.add(stats().queued, 1);
  Duration patience = gate().settings().max_wait;
  if (const auto latest = latest_start()) patience = std::min(patience, *latest - came_);
  timer_ = stream_.scheduler().timer([this] { on_time(); });
  timer_->arm(patience);
  if (in_shadow()) return stream::Continue{};
  return stream::Pause{};
}

void Admission::leave_queue() {
  place_ = Place::kOutside;
  timer_->cancel();
  worker_.cells.add(stats().queued, -1);
}

void Admission::on_turn(Gate::Turn turn) {
  leave_queue();
  if (turn == Gate::Turn::kDisplaced) return go_on(refuse(Reason::kQueueFull));
  const TimePoint now = stream_.scheduler().now();
  if (const auto latest = latest_start(); latest && now > *latest) {
    gate().abandon(*waiting_);
    return go_on(refuse(Reason::kDeadline));
  }
  worker_.cells.record(stats().queue_wait, now - came_);
  go_in();
  go_on(stream::Continue{});
}

void Admission::on_time() {
  if (!gate().withdraw(*waiting_)) return;  // its turn is on the way
  leave_queue();
  const auto latest = latest_start();
  const bool too_late = latest && stream_.scheduler().now() >= *latest;
  go_on(refuse(too_late ? Reason::kDeadline : Reason::kMaxWait));
}

// In shadow the request has gone on long ago.
void Admission::go_on(stream::Verdict verdict) {
  if (!in_shadow()) stream_.resume(std::move(verdict));
}

// --- The way out ---------------------------------------------------------------------------------

void Admission::go_in() {
  place_ = Place::kInside;
  admitted_ = stream_.scheduler().now();
  worker_.cells.add(stats().active, 1);
}

void Admission::go_out(int status) {
  if (place_ == Place::kQueue) {
    leave_queue();
    return gate().abandon(*waiting_);
  }
  if (std::exchange(place_, Place::kOutside) != Place::kInside) return;
  worker_.cells.add(stats().active, -1);
  gate().leave(worker_, {.admitted = admitted_,
                         .ended = stream_.scheduler().now(),
                         .good = status > 0 && status < 500});
}

void Admission::on_response_head(http::ResponseHead& head, bool) {
  if (until_head_ || is_event_stream(head)) go_out(head.status);
}

void Admission::on_done(const stream::AccessRecord& record) {
  go_out(record.client_left() ? 0 : record.status);
}

stream::Verdict Admission::refuse(Reason reason) {
  const stats::HttpStats& all = shared_.stats;
  const bool too_late = reason == Reason::kDeadline;
  if (in_shadow()) {
    worker_.cells.add(stats().shadow_rejected(reason));
    if (too_late) worker_.cells.add(all.deadline_shadow_rejected);
    return stream::Continue{};
  }
  worker_.cells.add(stats().rejected(reason));
  if (!too_late) return overloaded(reason);
  worker_.cells.add(all.deadline_rejected);
  return deadline::too_close(shared_.node, *stream_.route(), *stream_.record().request);
}

}  // namespace damper::admission
