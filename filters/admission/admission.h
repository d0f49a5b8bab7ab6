// Lets a bounded number of requests through to the application at a time; the others wait here,
// where waiting costs little and can be ended, or are refused while another replica may still have
// room (semantics.md §6). gate.h has the rules of the queue.
//
// A request is in until its response has ended, however it ends. An event stream and a gRPC request
// are in until their response head: they may last for hours, and wait more than they work. Upgrades
// are not counted.
#pragma once
#include <memory>

#include "config/model/bootstrap.h"
#include "filters/admission/gate.h"
#include "stream/filter.h"

namespace damper::admission {

class Admission final : public stream::Filter {
 public:
  // What all filters of one gate share; outlives them.
  struct Shared {
    Gate& gate;
    const config::Node& node;
    const stats::HttpStats& stats;
  };

  Admission(const Shared& shared, stream::StreamContext& stream, http::Worker& worker)
      : shared_(shared), stream_(stream), worker_(worker) {}

  stream::Verdict on_request_head(http::RequestHead& head, bool end) override;
  void on_response_head(http::ResponseHead& head, bool end) override;
  void on_done(const stream::AccessRecord& record) override;

 private:
  using Reason = stats::AdmissionStats::Reason;
  enum class Place { kOutside, kQueue, kInside };

  Gate& gate() const { return shared_.gate; }
  const stats::AdmissionStats& stats() const { return shared_.stats.admission; }
  bool in_shadow() const { return gate().settings().mode == config::FilterMode::kShadow; }
  std::optional<TimePoint> latest_start() const;
  void go_in();
  void go_out(int status);
  stream::Verdict wait(Gate::WaitingRef waiting);
  void leave_queue();
  void on_turn(Gate::Turn turn);
  void on_time();
  void go_on(stream::Verdict verdict);
  stream::Verdict refuse(Reason reason);

  const Shared shared_;
  stream::StreamContext& stream_;
  http::Worker& worker_;
  Place place_ = Place::kOutside;
  bool until_head_ = false;  // it is out when its response begins
  TimePoint came_{};         // into the queue
  TimePoint admitted_{};
  Gate::WaitingRef waiting_;
  std::unique_ptr<event::Timer> timer_;  // of max_wait or of the latest start, which is first
};

// A layer above has sent this request before: x-envoy-attempt-count, grpc-previous-rpc-attempts.
bool is_retry(const http::Fields& fields);

}  // namespace damper::admission
