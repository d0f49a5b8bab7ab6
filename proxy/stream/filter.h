// The extension seam: what an HTTP filter sees of a request and may do to it. filters/all.cc lists
// them.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

#include "base/buffer.h"
#include "base/time.h"
#include "event/scheduler.h"
#include "http/message.h"
#include "stream/access_record.h"

namespace damper::route {
struct RouteEntry;
}

namespace damper::stream {

// What a filter answers to a part of a request.
struct Continue {};  // on to the next filter
struct Pause {};     // wait: StreamContext::resume() will be called
struct Reply {       // answer now and skip what comes after
  int status = 500;
  std::string body;
  std::string_view details;  // static text: %RESPONSE_CODE_DETAILS%
  std::optional<Flag> flag;
  std::vector<std::pair<http::HeaderId, std::string>> headers;
  std::optional<int> grpc_status = {};  // to a gRPC call; none: what `status` stands for
};
using Verdict = std::variant<Continue, Pause, Reply>;

// What a filter may ask of its stream, from any of its callbacks.
class StreamContext {
 public:
  virtual ~StreamContext() = default;
  virtual event::Scheduler& scheduler() = 0;
  virtual const route::RouteEntry* route() const = 0;  // null: no route matched
  virtual std::optional<TimePoint> deadline() const = 0;
  virtual void tighten_deadline(TimePoint at) = 0;  // can only bring it closer
  virtual void resume(Verdict verdict) = 0;         // ends a Pause; not with another
  virtual AccessRecord& record() = 0;               // flags, details, notes for the log
};

// The time that an attempt has.
struct AttemptTime {
  std::optional<Duration> left;     // of the request, for all that is still to be done; none: any
  std::optional<Duration> per_try;  // of this attempt alone

  // Whichever ends first.
  std::optional<Duration> nearest() const {
    return left && per_try ? std::min(*left, *per_try) : left ? left : per_try;
  }
};

// One object a stream, made when the request's head has come and routed. Override what you need.
class Filter {
 public:
  virtual ~Filter() = default;
  virtual Verdict on_request_head(http::RequestHead&, bool /*end*/) { return Continue{}; }
  // Before each attempt, with the head that it sends.
  virtual void on_attempt_head(http::RequestHead&, const AttemptTime&) {}
  virtual Verdict on_request_body(Buffer&, bool /*end*/) { return Continue{}; }
  virtual Verdict on_request_trailers(http::Fields&) { return Continue{}; }
  // Responses pass in reverse order and are not stopped.
  virtual void on_response_head(http::ResponseHead&, bool /*end*/) {}
  virtual void on_response_body(Buffer&, bool /*end*/) {}
  virtual void on_response_trailers(http::Fields&) {}
  virtual void on_done(const AccessRecord&) {}  // exactly once, the last call, also after a reset
};

}  // namespace damper::stream
