// Gives a request the deadline that it came with, refuses it when that cannot be met any more, and
// tells every attempt what is left (semantics.md §6).
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "config/model/bootstrap.h"
#include "filters/admission/load.h"
#include "filters/deadline/forms.h"
#include "filters/deadline/learned_cost.h"
#include "filters/deadline/skew_guard.h"
#include "http/worker.h"
#include "stats/http_stats.h"
#include "stream/filter.h"

namespace damper::deadline {

// A header that carries a deadline.
struct Carrier {
  std::string name;
  http::HeaderId id;  // kOther: it has only its name
  Form form;
};

// What all requests of a listener share, on all workers.
class DeadlinePolicy {
 public:
  DeadlinePolicy(const config::DeadlineFilter& settings, const config::Listener& listener,
                 const config::Node& node, const stats::HttpStats& stats,
                 std::shared_ptr<const admission::Load> load);

  // A set of carriers, a bit each.
  using Carriers = std::uint32_t;
  static constexpr Carriers bit(std::size_t carrier) { return Carriers{1} << carrier; }

  const config::DeadlineFilter& settings;
  const config::Node& node;
  const stats::HttpStats& stats;
  const bool from_application;  // outbound: the peer is the local application
  const std::shared_ptr<const admission::Load> load;
  std::vector<Carrier> carriers;
  Carriers emitted = 0;
  Carriers left_to_router = 0;  // it writes x-envoy-expected-rq-timeout-ms itself
  SkewGuard skew_guard;
  LearnedCost learned;

 private:
  void emit(const std::string& name);
};

class Deadline final : public stream::Filter {
 public:
  Deadline(DeadlinePolicy& policy, stream::StreamContext& stream, http::Worker& worker)
      : policy_(policy), stream_(stream), worker_(worker) {}

  stream::Verdict on_request_head(http::RequestHead& head, bool end) override;
  stream::Verdict on_request_body(Buffer& body, bool end) override;
  stream::Verdict on_request_trailers(http::Fields& trailers) override;
  void on_attempt_head(http::RequestHead& head, const stream::AttemptTime& time) override;
  void on_done(const stream::AccessRecord& record) override;

 private:
  struct Told {
    std::optional<Duration> relative;
    std::optional<Duration> absolute;
    bool timeout_alone = false;  // Envoy's header, and no other word
  };

  bool in_shadow() const { return policy_.settings.mode == config::FilterMode::kShadow; }
  Told read_carriers(const http::RequestHead& head);
  std::optional<Duration> settle(const Told& told);
  std::optional<Duration> believe(Duration absolute);
  std::optional<stream::ExpectedCost> expected_cost() const;
  void keep(Duration left);
  void request_ended();
  stream::Verdict judge(Duration left);
  stream::Verdict refuse();

  DeadlinePolicy& policy_;
  stream::StreamContext& stream_;
  http::Worker& worker_;
  DeadlinePolicy::Carriers came_ = 0;
  // Of a request that is still being sent: Envoy's route timeout, which runs from its end.
  std::optional<Duration> left_from_end_;
  LearnedCost::Operation* operation_ = nullptr;  // null: nothing is learned
};

}  // namespace damper::deadline
