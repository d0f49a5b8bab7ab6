// An upstream connection: bytes to and from its codec, and the streams that wait for responses on
// it.
#pragma once
#include <memory>
#include <vector>

#include "event/timeout_queue.h"
#include "http/codec.h"
#include "http/keep_alive.h"
#include "http/stream_entries.h"
#include "net/connection.h"

namespace damper::http {

// How a stream failed before its response was complete, with what decides whether the request may
// be sent again.
struct StreamFailure {
  Errc code = Errc::kReset;
  std::string detail;
  bool stream_only = false;  // by RST_STREAM: the connection lives
  bool cancelled = false;    // by RST_STREAM(CANCEL)
  bool refused = false;   // surely not processed: REFUSED_STREAM, or above the last id of a GOAWAY
  bool graceful = false;  // by a GOAWAY(NO_ERROR): the host is draining
  bool request_on_wire = false;  // bytes of the request may have reached the upstream
  bool reused_and_silent =
      false;  // an old connection died before any byte of the response: the keep-alive race
};

// One request, as its connection sees it. Implemented by the router's attempt.
class ClientStream {
 public:
  virtual ~ClientStream() = default;
  virtual void on_interim(ResponseHead&& head) = 0;
  virtual void on_response_head(ResponseHead&& head, bool end) = 0;
  virtual void on_response_body(Buffer& body, bool end) = 0;
  virtual void on_response_trailers(Fields&& trailers) = 0;
  virtual void on_stream_failed(const StreamFailure& failure) = 0;
  virtual void on_drained() = 0;  // what was sent has left: more of the request may come
};

class ClientConnection final : public event::Disposable,
                               private net::ConnectionOwner,
                               private ClientSink,
                               public event::TimeoutQueue::Member {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_connected(ClientConnection&) = 0;
    // Another stream may be opened: one has ended, or the limit was raised.
    virtual void on_available(ClientConnection&) = 0;
    // No further stream will be, but those that are open go on: the upstream is draining it.
    virtual void on_retired(ClientConnection&) = 0;
    virtual void on_idle_timeout(ClientConnection&) = 0;
    virtual void on_closed(ClientConnection&, const Error& why) = 0;  // hands it to destroy_later()
  };

  ClientConnection(Owner& owner, event::Loop& loop, net::ReadBlock& block, net::Fd fd,
                   std::unique_ptr<net::Transport> transport, std::unique_ptr<ClientCodec> codec,
                   event::TimeoutQueue& drain_timeout, std::uint64_t id);
  void begin() { connection_.begin(); }
  // Only in Owner::on_connected(): what ALPN chose.
  std::string_view alpn() const { return connection_.alpn(); }
  void set_codec(std::unique_ptr<ClientCodec> codec);
  void keep_alive(const config::Http2Options& options);  // pings, if the options say so

  bool can_open() const { return connected_ && !connection_.closing() && codec_->can_open(); }
  // Sends a request; the stream hears of its response until it is complete, failed or left by
  // reset() or abandon().
  StreamId open(ClientStream& stream, const RequestHead& head, bool end);
  void send_body(StreamId id, Buffer& body, bool end);
  void send_trailers(StreamId id, const Fields& trailers);
  void pause_body(StreamId id);  // the response's body is not wanted for now
  void resume_body(StreamId id);
  std::size_t unsent_bytes(StreamId id) const;
  bool on_wire(StreamId id) const;  // bytes of the request may have reached the upstream
  void notify_when_drained(StreamId id);

  // Cancels. HTTP/1 has no way to say so but to close.
  void reset(StreamId id);
  // The rest of the response is of no interest. A short one is read, for as long as `drain_timeout`
  // has patience, so that the connection can be used again.
  void abandon(StreamId id);

  void close(const Error& why) { connection_.close(why); }

  // For its owner: is it among those with room?
  bool ready() const { return ready_; }
  void set_ready(bool ready) { ready_ = ready; }

  std::uint64_t id() const { return id_; }
  bool idle() const { return streams_.empty(); }
  bool connected() const { return connected_; }
  bool multiplexed() const { return multiplexed_; }
  bool reusable() const { return !connection_.closing() && codec_->reusable(); }
  bool closed() const { return connection_.closed(); }
  bool lost_race() const {
    return lost_race_;
  }  // it died under a request before any byte of the response
  std::size_t requests() const { return requests_; }
  bool looks_alive() const { return !connection_.has_unread(); }
  const std::string& local_text();
  std::uint64_t bytes_read() const { return connection_.bytes_read(); }
  std::uint64_t bytes_written() const { return connection_.bytes_written(); }

 private:
  struct Entry {
    StreamId id;
    ClientStream* stream;  // null: abandoned
    std::uint64_t read_before;
    std::uint64_t written_before;
    bool reused;
    std::size_t unconsumed = 0;  // bytes of the body that came while it was paused (HTTP/2)
    bool paused = false;
    bool wants_drained = false;
  };
  static constexpr std::size_t kDrainBytes = 32 * 1024;

  // net::ConnectionOwner
  void on_connected() override;
  Status on_bytes(Buffer& in) override;
  Status on_eof(Buffer& in) override;
  void collect(Buffer& out) override;
  void on_drained() override;
  void on_closed(const Error& why) override;
  // ClientSink
  void on_interim(StreamId id, ResponseHead&& head) override;
  void on_response_head(StreamId id, ResponseHead&& head, bool end) override;
  void on_response_body(StreamId id, Buffer& body, bool end) override;
  void on_response_trailers(StreamId id, Fields&& trailers) override;
  void on_response_reset(StreamId id, Reset why) override;
  // event::TimeoutQueue::Member: idle, or too slow with what is being drained
  void on_timeout() override { owner_.on_idle_timeout(*this); }

  ClientStream* remove(StreamId id);
  StreamFailure failure_of(const Entry& entry, const Error& why) const;
  void end_turn_of_streams();
  void fail_streams(const Error& why);

  Owner& owner_;
  std::unique_ptr<ClientCodec> codec_;
  std::unique_ptr<KeepAlive> keep_alive_;
  event::TimeoutQueue& drain_timeout_;
  StreamEntries<Entry> streams_;
  std::string local_text_;
  std::uint64_t id_;
  std::size_t requests_ = 0;
  std::size_t drained_bytes_ = 0;
  bool connected_ = false;
  bool multiplexed_;
  bool could_open_ = false;  // after the last turn
  bool ready_ = false;
  bool retired_ = false;
  bool stream_ended_ = false;
  bool lost_race_ = false;
  net::Connection connection_;
};

}  // namespace damper::http
