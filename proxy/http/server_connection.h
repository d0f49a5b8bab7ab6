// A downstream connection: bytes to and from its codec, and the streams that run on it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "config/model/listener.h"
#include "event/timeout_queue.h"
#include "http/codec.h"
#include "http/keep_alive.h"
#include "http/stream_entries.h"
#include "net/connection.h"

namespace damper::http {

// One request, as its connection sees it. Implemented by stream::Stream. Ends with
// ServerConnection::end_stream().
class ServerStream : public event::Disposable {
 public:
  virtual void on_request_head(RequestHead&& head, bool end) = 0;
  virtual void on_request_body(Buffer& body, bool end) = 0;
  virtual void on_request_trailers(Fields&& trailers) = 0;
  virtual void on_bad_request(
      int status, const Error& why) = 0;  // answer with this status if nothing was answered yet
  virtual void on_request_reset(Reset why) = 0;             // the client gave up this request
  virtual void on_connection_closed(const Error& why) = 0;  // nothing can be sent any more
  virtual void on_drained() = 0;  // what was sent has left: more of the response may come
};

class ServerConnection final : public event::Disposable,
                               private net::ConnectionOwner,
                               private ServerSink,
                               private event::TimeoutQueue::Member {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual std::unique_ptr<ServerStream> make_stream(ServerConnection&, StreamId) = 0;
    // It is known what the client speaks: the codec for it; null: the one that it was made with.
    virtual std::unique_ptr<ServerCodec> choose_codec(ServerConnection&, Protocol) = 0;
    virtual void on_timeout_of(ServerConnection&, bool in_head) = 0;  // statistics
    virtual void on_closed(ServerConnection&, const Error& why) = 0;  // hands it to destroy_later()
  };

  // The queues belong to the listener and outlive the connection.
  struct Timeouts {
    event::TimeoutQueue& idle;
    event::TimeoutQueue& head;
    event::TimeoutQueue& flush;  // HTTP/2: for what the client's windows hold back after a stream
  };

  // `codec` speaks HTTP/1. Whether the client does is found out from its options, from ALPN, and
  // from its first bytes.
  ServerConnection(Owner& owner, const config::HttpOptions& options, Timeouts timeouts,
                   event::Loop& loop, net::ReadBlock& block, net::Fd fd,
                   std::unique_ptr<net::Transport> transport, std::unique_ptr<ServerCodec> codec,
                   const net::Address& peer, std::uint64_t id);
  void begin() { connection_.begin(); }

  // For the stream `id`; each takes effect at the end of the turn.
  void send_interim(StreamId id, const ResponseHead& head);
  void send_head(StreamId id, const ResponseHead& head, bool end);
  void send_body(StreamId id, Buffer& body, bool end);
  void send_trailers(StreamId id, const Fields& trailers);
  void reset(StreamId id, Reset why);
  void pause_body(StreamId id);  // the request's body is not wanted for now
  void resume_body(StreamId id);
  std::size_t unsent_bytes(StreamId id) const;
  void notify_when_drained(StreamId id);
  void end_stream(
      StreamId id);  // response complete or reset: the stream is destroyed at the end of the turn

  void drain();  // finish what runs, take nothing more; an idle connection closes at once
  void end_after_next_request() { last_request_ = true; }
  void close(const Error& why) { connection_.close(why); }

  // For its owner, who keeps many: where it is kept.
  std::size_t place() const { return place_; }
  void set_place(std::size_t place) { place_ = place; }

  std::uint64_t id() const { return id_; }
  bool peer_trusted() const { return peer_trusted_; }
  void set_peer_trusted(bool trusted) { peer_trusted_ = trusted; }  // false until then
  bool secure() const { return secure_; }                           // by TLS
  void set_secure(bool secure) { secure_ = secure; }
  const net::Transport& transport() const { return connection_.transport(); }
  const std::string& peer_text() const { return peer_text_; }
  std::string_view peer_ip() const;  // of peer_text(); empty for a unix socket
  const std::string& local_text();
  void set_local_text(std::shared_ptr<const std::string> text) { local_text_ = std::move(text); }
  bool idle() const { return streams_.empty(); }
  bool unused() const { return requests_ == 0; }
  std::uint64_t bytes_read() const { return connection_.bytes_read(); }
  std::uint64_t bytes_written() const { return connection_.bytes_written(); }

 private:
  struct Entry {
    StreamId id;
    std::unique_ptr<ServerStream> stream;
    std::size_t unconsumed = 0;  // bytes of the body that came while it was paused (HTTP/2)
    bool paused = false;
    bool wants_drained = false;
    bool request_ended = false;
  };

  // net::ConnectionOwner
  void on_connected() override;
  Status on_bytes(Buffer& in) override;
  Status on_eof(Buffer& in) override;
  void collect(Buffer& out) override;
  void on_drained() override;
  void on_closed(const Error& why) override;
  // ServerSink
  void on_request_head(StreamId id, RequestHead&& head, bool end) override;
  void on_request_body(StreamId id, Buffer& body, bool end) override;
  void on_request_trailers(StreamId id, Fields&& trailers) override;
  void on_request_reset(StreamId id, Reset why) override;
  void on_bad_request(StreamId id, int status, const Error& why) override;
  // event::TimeoutQueue::Member
  void on_timeout() override;

  ServerStream& open(StreamId id);
  bool settle_protocol(const Buffer& in);
  void settle(Protocol protocol);
  void end_streams(const Error& why);
  void end_broken();
  void close_if_finished(bool linger);

  Owner& owner_;
  const config::HttpOptions& options_;
  Timeouts timeouts_;
  std::unique_ptr<ServerCodec> codec_;
  StreamEntries<Entry> streams_;
  std::string peer_text_;
  std::shared_ptr<const std::string> local_text_;  // its listener's, or asked for when needed
  std::unique_ptr<event::Timer> max_age_;          // calls drain()
  std::unique_ptr<KeepAlive> keep_alive_;
  std::uint64_t id_;
  std::size_t place_ = 0;
  std::uint32_t requests_ = 0;
  bool settled_ = false;      // the protocol is known
  bool multiplexed_ = false;  // it is HTTP/2
  bool head_timed_ = false;   // the time of the head that is being read has begun
  bool last_request_ = false;
  bool draining_ = false;
  bool peer_trusted_ = false;
  bool secure_ = false;
  net::Connection connection_;
};

}  // namespace damper::http
