// The end of the filter chain: what turns a request into a response. The router implements it; a
// test may too.
#pragma once
#include <memory>

#include "route/entry.h"
#include "stream/filter.h"

namespace damper::stream {

// What the end of the chain may ask of its stream.
class Downstream : public StreamContext {
 public:
  virtual const http::RequestHead& request() const = 0;
  virtual bool may_steer()
      const = 0;  // the client is trusted to set retries and timeouts by x-envoy-*
  virtual bool request_ended() const = 0;
  // Where the request goes: the header changes of a weighted cluster are the response's too.
  virtual void set_cluster(const route::ClusterPick& pick) = 0;

  // Lets the filters tell the next attempt what is new: to be called before its head is sent.
  virtual void prepare_attempt(http::RequestHead& head, const AttemptTime& time) = 0;
  virtual void send_interim(const http::ResponseHead& head) = 0;
  virtual void send_head(http::ResponseHead&& head, bool end) = 0;
  virtual void send_body(Buffer& body, bool end) = 0;
  virtual void send_trailers(http::Fields&& trailers) = 0;
  virtual void send_reply(Reply&& reply) = 0;  // an answer of our own
  virtual void
  cut() = 0;  // the response that has begun cannot be completed, and the client must see it
  virtual void pause_request() = 0;  // no more of the request's body for now
  virtual void resume_request() = 0;
};

class ChainEnd {
 public:
  virtual ~ChainEnd() = default;
  virtual void on_request_head(http::RequestHead& head, bool end) = 0;
  virtual void on_request_body(Buffer& body, bool end) = 0;
  virtual void on_request_trailers(http::Fields&& trailers) = 0;
  virtual void on_response_blocked() = 0;  // the client does not read: no more of the body for now
  virtual void on_response_drained() = 0;
  // The response is complete, cut or no longer wanted: cancels what still runs. The last call.
  virtual void on_stream_over() = 0;
};

}  // namespace damper::stream
