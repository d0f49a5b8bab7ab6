#include "filters/legs/legs.h"

#include "filters/deadline/refusal.h"
#include "filters/retry/marks.h"
#include "route/entry.h"

namespace damper::legs {
namespace {

using http::HeaderId;
using stream::Flag;

bool is_owned_above(const http::Fields& fields) {
  const auto mark = fields.find(HeaderId::kXDamperRetry);
  return mark && retry::is_owner_mark(*mark);
}

bool says_failure(const http::Fields& fields) {
  const auto status = fields.find(HeaderId::kGrpcStatus);
  return status && *status != "0";
}

}  // namespace

// --- What comes in -------------------------------------------------------------------------------

stream::Verdict Inbound::on_request_head(http::RequestHead& head, bool) {
  owned_above_ = is_owned_above(head.fields);
  ids_ = plain_trace_ids(head.fields);
  if (head.fields.has(HeaderId::kTraceparent)) {
    nonce_ = worker_.random.next() | 1;
    set_tracestate_member(head.fields, kNonceMember, format_nonce(nonce_));
  }
  return stream::Continue{};
}

// From here on the application may make calls for it.
void Inbound::on_attempt_head(http::RequestHead& head, const stream::AttemptTime& time) {
  if (leg_) return;
  if (ids_.none()) return worker_.cells.add(shared_.stats.legs.inbound_without_id);
  auto leg = std::make_shared<InboundLeg>();
  leg->nonce = nonce_;
  leg->deadline = deadline(time);
  leg->attempts = retry::attempt_count(head.fields);
  leg->owned_above = owned_above_;
  leg->idempotency_key = stream_.record().idempotency_key;
  if (!shared_.correlation.add(leg, ids_, stream_.scheduler().now())) {
    return worker_.cells.add(shared_.stats.legs.inbound_overflow);
  }
  leg_ = std::move(leg);
}

// The route timeout caps it, but does not run before all of the request is there.
std::optional<TimePoint> Inbound::deadline(const stream::AttemptTime& time) const {
  if (!time.left || !stream_.record().request_end) return stream_.deadline();
  return stream_.scheduler().now() + *time.left;
}

void Inbound::pass_mark_on(http::Fields& fields, bool is_grpc) {
  if (!leg_ || shared_.edge || !stream_.route()->action->marks()) return;
  const std::string mark = leg_->final_mark();
  if (mark.empty()) return;
  worker_.cells.add(shared_.stats.legs.marks_passed_on);
  retry::add_final_mark(fields, mark, is_grpc);
}

void Inbound::on_response_head(http::ResponseHead& head, bool) {
  if (head.status < 500 && !says_failure(head.fields)) return;
  if (head.fields.has(HeaderId::kXDamperRetry)) return;
  pass_mark_on(head.fields, stream_.record().request->is_grpc());
}

void Inbound::on_response_trailers(http::Fields& trailers) {
  if (trailers.has(HeaderId::kXDamperRetry)) return;
  if (says_failure(trailers)) pass_mark_on(trailers, true);
}

void Inbound::on_done(const stream::AccessRecord& record) {
  if (!leg_) return;
  const TimePoint now = stream_.scheduler().now();
  const bool late =
      has(record.flags, Flag::kUpstreamTimeout) || (leg_->deadline && *leg_->deadline <= now);
  if (record.client_left() || late) {
    shared_.correlation.abandon(*leg_, now);
  } else {
    shared_.correlation.remove(*leg_);
  }
}

// --- What goes out -------------------------------------------------------------------------------

stream::Verdict Outbound::on_request_head(http::RequestHead& head, bool) {
  if (!stream_.route()->action->inherit) return stream::Continue{};
  TraceIds ids = trace_ids(head.fields);
  if (stream_.record().request_id_made_here) ids.request = {};  // the application sent none
  const TimePoint now = stream_.scheduler().now();
  Correlation::Found found = shared_.correlation.find(ids, now);
  count(found.match, ids.none());
  if (found.legs.empty()) return stream::Continue{};
  legs_ = std::move(found.legs);

  const Inheritance inherited = inherit(legs_);
  if (legs_.size() == 1) stream_.record().parent_key = legs_.front()->idempotency_key;
  if (inherited.attempts > retry::attempt_count(head.fields)) {
    head.fields.set(HeaderId::kXEnvoyAttemptCount, std::to_string(inherited.attempts));
  }
  if (inherited.no_retry) head.fields.set(HeaderId::kXDamperRetry, retry::kOwnerMark);
  if (inherited.deadline) {
    stream_.tighten_deadline(*inherited.deadline);
    if (*inherited.deadline <= now) {
      worker_.cells.add(shared_.stats.deadline_rejected);
      return deadline::too_close(shared_.node, *stream_.route(), head);
    }
  }
  return stream::Continue{};
}

void Outbound::count(Correlation::Match match, bool no_id) {
  const stats::LegStats& stats = shared_.stats.legs;
  switch (match) {
    case Correlation::Match::kNone:
      worker_.cells.add(no_id ? stats.outbound_without_id : stats.outbound_unknown_id);
      return;
    case Correlation::Match::kExact: worker_.cells.add(stats.outbound_exact); return;
    case Correlation::Match::kById: worker_.cells.add(stats.outbound_by_id); return;
    case Correlation::Match::kTooMany: worker_.cells.add(stats.outbound_ambiguous); return;
  }
}

void Outbound::on_response_head(http::ResponseHead& head, bool) { note_mark(head.fields); }

void Outbound::on_response_trailers(http::Fields& trailers) { note_mark(trailers); }

void Outbound::note_mark(const http::Fields& fields) {
  if (legs_.empty()) return;
  const auto mark = fields.find(HeaderId::kXDamperRetry);
  if (!mark || !retry::parse_final(*mark)) return;
  for (const auto& leg : legs_) leg->mark(*mark);
}

}  // namespace damper::legs
