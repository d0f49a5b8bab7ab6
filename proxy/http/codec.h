// The protocol seam: bytes in, messages out, and back. A codec touches no socket, no clock and no
// loop. Implemented by the codecs of HTTP/1 (h1_codec) and HTTP/2 (h2_codec); one suite of
// conversations tests them all.
#pragma once
#include <cstdint>

#include "base/buffer.h"
#include "base/result.h"
#include "http/message.h"

namespace damper::http {

using StreamId = std::int32_t;  // HTTP/2's own; HTTP/1 counts its requests 1, 3, 5, …

// Why a stream ended before its message did. The HTTP/2 names; HTTP/1 can only close the
// connection.
enum class Reset : std::uint8_t {
  kCancel,
  kRefused,  // surely not processed: REFUSED_STREAM, or above the last id of a GOAWAY that
             // complains
  kGoAway,   // surely not processed: above the last id of a GOAWAY(NO_ERROR)
  kProtocol,
  kInternal,  // and, of an upstream, every code that has no word of its own here
  kNoError
};

// What a server codec reports, and only from inside receive(). A sink may call the codec's send
// functions at once.
class ServerSink {
 public:
  virtual ~ServerSink() = default;
  virtual void on_request_head(StreamId, RequestHead&&, bool end) = 0;
  virtual void on_request_body(StreamId, Buffer& body,
                               bool end) = 0;  // takes what it wants; the rest is dropped
  virtual void on_request_trailers(StreamId, Fields&&) = 0;  // ends the request
  virtual void on_request_reset(StreamId, Reset) = 0;
  // A message that could not be read: answer with this status. No stream exists for it unless its
  // head was reported before, in which case `id` is that stream's and the answer may come too late.
  // HTTP/1 closes the connection then.
  virtual void on_bad_request(StreamId, int status, const Error&) = 0;
};

class ServerCodec {
 public:
  virtual ~ServerCodec() = default;

  // Reads as much of `in` as it can take now and leaves the rest (HTTP/1: the next request while
  // one is answered). An Error means that nothing further can be read: flush what pull() has, then
  // close.
  virtual Status receive(Buffer& in, ServerSink& sink) = 0;

  virtual void send_interim(StreamId, const ResponseHead&) = 0;  // 1xx but 101
  virtual void send_head(StreamId, const ResponseHead&,
                         bool end) = 0;                          // 101 begins raw bytes both ways
  virtual void send_body(StreamId, Buffer& body, bool end) = 0;  // takes all of `body`
  virtual void send_trailers(StreamId, const Fields&) = 0;       // ends the response
  virtual void reset(StreamId, Reset) = 0;
  virtual void consumed(StreamId, std::size_t bytes) = 0;  // opens the peer's window (HTTP/2)

  // No new requests; those that run are finished. HTTP/2 announces it first, so that no request
  // that is under way is lost; the client's answer to that, or a second call, completes it.
  virtual void go_away() = 0;
  virtual void pull(Buffer& out) = 0;  // moves what is to be written; called outside receive()
  virtual std::size_t unsent_bytes(
      StreamId) const = 0;  // taken by send_* but not yet pulled (flow control)

  virtual bool idle() const = 0;  // no stream is open and no message half read
  // A head is half read; HTTP/2: or the client's preface.
  virtual bool in_head() const { return !idle(); }
  virtual bool finished() const = 0;  // nothing more will be read: close when all is written
  // A response ends short in a way that only a broken connection can tell the client.
  virtual bool cut_response() const { return false; }

  // HTTP/2. Many streams at a time: consumed() holds a sender back, not a pause of the connection.
  virtual bool multiplexes() const { return false; }
  // Streams have ended inside pull() or a send function: call receive() again, to be told.
  virtual bool has_reports() const { return false; }
  // The connection is broken and every stream with it. Ask after receive() and pull().
  virtual const Error* failure() const { return nullptr; }
  virtual void ping() {}
};

// What a client codec reports, and only from inside receive() or on_eof().
class ClientSink {
 public:
  virtual ~ClientSink() = default;
  virtual void on_interim(StreamId, ResponseHead&&) = 0;
  virtual void on_response_head(StreamId, ResponseHead&&, bool end) = 0;
  virtual void on_response_body(StreamId, Buffer& body, bool end) = 0;
  virtual void on_response_trailers(StreamId, Fields&&) = 0;  // ends the response
  virtual void on_response_reset(StreamId, Reset) = 0;
};

class ClientCodec {
 public:
  virtual ~ClientCodec() = default;

  // An Error is the upstream's nonsense: every open stream fails with it and the connection closes.
  virtual Status receive(Buffer& in, ClientSink& sink) = 0;
  // The upstream ended its side. Ends a close-delimited body; an Error if it cut a message.
  virtual Status on_eof(ClientSink& sink) = 0;

  virtual StreamId send_head(const RequestHead&,
                             bool end) = 0;  // opens a stream; only if can_open()
  virtual void send_body(StreamId, Buffer& body, bool end) = 0;
  virtual void send_trailers(StreamId, const Fields&) = 0;
  virtual void reset(StreamId, Reset) = 0;  // HTTP/1: the connection is of no further use
  virtual void consumed(StreamId, std::size_t bytes) = 0;

  virtual void pull(Buffer& out) = 0;
  virtual std::size_t unsent_bytes(StreamId) const = 0;

  // Its head may have left; HTTP/1 cannot tell, its connection counts bytes.
  virtual bool on_wire(StreamId) const { return true; }

  virtual bool can_open() const = 0;  // another stream may be opened now
  virtual bool reusable()
      const = 0;                  // it may be kept for later requests once its streams have ended
  virtual bool idle() const = 0;  // no stream is open

  // HTTP/2: as in ServerCodec.
  virtual bool multiplexes() const { return false; }
  virtual bool has_reports() const { return false; }
  virtual const Error* failure() const { return nullptr; }
  virtual void ping() {}
};

}  // namespace damper::http
