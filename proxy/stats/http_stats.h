// The statistics of everything that comes in under one stat_prefix: Envoy's `http.<stat_prefix>.`,
// its router's included. Made once a process and shared by the workers.
#pragma once
#include <string_view>

#include "stats/scope.h"

namespace damper::stats {

// admission.: who is beyond that filter, who waits before it, and whom it has refused. With `mode:
// shadow` its refusals count as `shadow_rejected`. Envoy has none of it: Prometheus families begin
// with "damper_http_admission_".
class AdmissionStats {
 public:
  // The reasons of refusals, in the order in which the counters below have them.
  enum class Reason { kQueueFull, kMaxWait, kDeadline };

  explicit AdmissionStats(Scope scope) : scope_(std::move(scope)) {}

  Counter rejected(Reason reason) const { return rejected_[static_cast<std::size_t>(reason)]; }
  Counter shadow_rejected(Reason reason) const {
    return shadow_rejected_[static_cast<std::size_t>(reason)];
  }

 private:
  Scope scope_;

 public:
  Gauge active = scope_.gauge("active");
  Gauge queued = scope_.gauge("queued");
  Gauge limit = scope_.gauge("limit");  // of all its settings together, once they are in use
  Histogram queue_wait = scope_.histogram("queue_wait");  // of those that were let in after it

 private:
  static std::vector<std::string_view> reasons() { return {"queue_full", "max_wait", "deadline"}; }

  std::vector<Counter> rejected_ = scope_.counters("rejected", "reason", reasons());
  std::vector<Counter> shadow_rejected_ = scope_.counters("shadow_rejected", "reason", reasons());
};

// legs.: how the requests that come in for an application and the calls that it makes are tied.
class LegStats {
 public:
  explicit LegStats(Scope scope) : scope_(std::move(scope)) {}

 private:
  Scope scope_;

 public:
  Counter inbound_without_id = scope_.counter("inbound_without_id");
  Counter inbound_overflow = scope_.counter("inbound_overflow");  // the table was full
  Counter outbound_exact = scope_.counter("outbound_exact");      // by our member of tracestate
  Counter outbound_by_id = scope_.counter("outbound_by_id");
  Counter outbound_ambiguous = scope_.counter("outbound_ambiguous");    // too many under the id
  Counter outbound_unknown_id = scope_.counter("outbound_unknown_id");  // nothing came in under it
  Counter outbound_without_id = scope_.counter("outbound_without_id");
  Counter marks_passed_on = scope_.counter("marks_passed_on");
};

class HttpStats {
 public:
  HttpStats(Registry& registry, std::string_view stat_prefix);

 private:
  Scope scope_;  // first: the members below are named through it

 public:
  Counter downstream_cx_total = scope_.counter("downstream_cx_total");
  Counter downstream_cx_http1_total = scope_.counter("downstream_cx_http1_total");
  Counter downstream_cx_http2_total = scope_.counter("downstream_cx_http2_total");
  Gauge downstream_cx_active = scope_.gauge("downstream_cx_active");
  Counter downstream_cx_destroy = scope_.counter("downstream_cx_destroy");
  Counter downstream_cx_destroy_local = scope_.counter("downstream_cx_destroy_local");
  Counter downstream_cx_destroy_remote = scope_.counter("downstream_cx_destroy_remote");
  Counter downstream_cx_destroy_local_active_rq =
      scope_.counter("downstream_cx_destroy_local_active_rq");
  Counter downstream_cx_destroy_remote_active_rq =
      scope_.counter("downstream_cx_destroy_remote_active_rq");
  Counter downstream_cx_idle_timeout = scope_.counter("downstream_cx_idle_timeout");
  Counter downstream_cx_max_duration_reached = scope_.counter("downstream_cx_max_duration_reached");
  Counter downstream_cx_max_requests_reached = scope_.counter("downstream_cx_max_requests_reached");
  Counter downstream_cx_drain_close = scope_.counter("downstream_cx_drain_close");
  Counter downstream_cx_overflow = scope_.counter("downstream_cx_overflow");
  Counter downstream_cx_protocol_error = scope_.counter("downstream_cx_protocol_error");
  Counter downstream_cx_rx_bytes_total = scope_.counter("downstream_cx_rx_bytes_total");
  Counter downstream_cx_tx_bytes_total = scope_.counter("downstream_cx_tx_bytes_total");
  Histogram downstream_cx_length_ms = scope_.histogram("downstream_cx_length_ms");

  Counter downstream_rq_total = scope_.counter("downstream_rq_total");
  Counter downstream_rq_http1_total = scope_.counter("downstream_rq_http1_total");
  Gauge downstream_rq_active = scope_.gauge("downstream_rq_active");
  ResponseCounters downstream_rq{scope_, "downstream_rq", ResponseCounters::PerCode::kNo};
  Counter downstream_rq_rx_reset = scope_.counter("downstream_rq_rx_reset");
  Counter downstream_rq_tx_reset = scope_.counter("downstream_rq_tx_reset");
  Counter downstream_rq_response_before_rq_complete =
      scope_.counter("downstream_rq_response_before_rq_complete");
  Counter downstream_rq_timeout = scope_.counter("downstream_rq_timeout");
  Counter downstream_rq_idle_timeout = scope_.counter("downstream_rq_idle_timeout");
  Counter downstream_rq_header_timeout = scope_.counter("downstream_rq_header_timeout");
  Counter downstream_rq_max_duration_reached = scope_.counter("downstream_rq_max_duration_reached");
  Counter downstream_rq_too_large = scope_.counter("downstream_rq_too_large");
  Counter downstream_rq_non_relative_path = scope_.counter("downstream_rq_non_relative_path");
  Counter downstream_rq_ws_on_non_ws_route = scope_.counter("downstream_rq_ws_on_non_ws_route");
  Histogram downstream_rq_time = scope_.histogram("downstream_rq_time");

  // Refused when they came, or while they waited for admission.
  Counter deadline_rejected = scope_.counter("deadline_rejected");
  Counter deadline_shadow_rejected = scope_.counter("deadline_shadow_rejected");
  Counter deadline_not_believed = scope_.counter("deadline_not_believed");  // wrong clocks
  Counter deadline_skewed = scope_.counter("deadline_skewed");  // over 1 s from the relative form

  LegStats legs{scope_.sub("legs.")};

  Counter rq_total = scope_.counter("rq_total");  // routed
  Counter rq_direct_response = scope_.counter("rq_direct_response");
  Counter rq_redirect = scope_.counter("rq_redirect");
  Counter no_route = scope_.counter("no_route");
  Counter no_cluster = scope_.counter("no_cluster");

  AdmissionStats admission;
};

}  // namespace damper::stats
