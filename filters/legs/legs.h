// The two legs of one sidecar: what comes in for its application (Inbound) and what the application
// sends out meanwhile (Outbound). See correlation.h.
#pragma once
#include <memory>

#include "config/model/bootstrap.h"
#include "filters/legs/correlation.h"
#include "http/worker.h"
#include "stats/http_stats.h"
#include "stream/filter.h"

namespace damper::legs {

// What the filters of a listener share.
struct Shared {
  Correlation& correlation;
  const config::Node& node;
  const stats::HttpStats& stats;
  bool edge = false;  // no marks in responses
};

class Inbound final : public stream::Filter {
 public:
  Inbound(const Shared& shared, stream::StreamContext& stream, http::Worker& worker)
      : shared_(shared), stream_(stream), worker_(worker) {}

  stream::Verdict on_request_head(http::RequestHead& head, bool end) override;
  void on_attempt_head(http::RequestHead& head, const stream::AttemptTime& time) override;
  void on_response_head(http::ResponseHead& head, bool end) override;
  void on_response_trailers(http::Fields& trailers) override;
  void on_done(const stream::AccessRecord& record) override;

 private:
  std::optional<TimePoint> deadline(const stream::AttemptTime& time) const;
  void pass_mark_on(http::Fields& fields, bool is_grpc);

  const Shared& shared_;
  stream::StreamContext& stream_;
  http::Worker& worker_;
  std::uint64_t nonce_ = 0;
  bool owned_above_ = false;
  TraceIds ids_;                     // views of the request's head
  std::shared_ptr<InboundLeg> leg_;  // from the first attempt on
};

class Outbound final : public stream::Filter {
 public:
  Outbound(const Shared& shared, stream::StreamContext& stream, http::Worker& worker)
      : shared_(shared), stream_(stream), worker_(worker) {}

  stream::Verdict on_request_head(http::RequestHead& head, bool end) override;
  void on_response_head(http::ResponseHead& head, bool end) override;
  void on_response_trailers(http::Fields& trailers) override;

 private:
  void count(Correlation::Match match, bool no_id);
  void note_mark(const http::Fields& fields);

  const Shared& shared_;
  stream::StreamContext& stream_;
  http::Worker& worker_;
  InboundLegs legs_;  // that this call may be made for
};

}  // namespace damper::legs
