// What both HTTP/2 codecs share: an nghttp2 session, the bodies that wait for the peer's windows,
// and the rules that the library leaves to its user. Touches no socket and no clock but for
// nghttp2's own limit on RST_STREAM.
//
// Flow control: a connection's window is given back as bytes come in, a stream's when whoever takes
// them says consumed(). So what a slow stream holds is bounded by its window, and no other stream
// waits for it.
#pragma once
#include <cstdint>
#include <memory>
#include <nghttp2/nghttp2.h>
#include <optional>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/result.h"
#include "http/codec.h"
#include "http/h2_frames.h"
#include "http/h2_head.h"
#include "http/stream_entries.h"

namespace damper::http::h2 {

enum class Role { kServer, kClient };

std::uint32_t error_code(Reset why);  // RFC 9113 §7

class Session {
 public:
  // What a codec makes of what was read; only from inside receive(). Streams that the codec has
  // reset are not reported.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_head(StreamId id, Block&& block, bool end) = 0;
    virtual void on_body(StreamId id, Buffer& body, bool end) = 0;
    virtual void on_trailers(StreamId id, Block&& block) = 0;
    // It ended before its messages did.
    virtual void on_reset(StreamId id, Reset why) = 0;
  };
  static constexpr std::size_t kPullBytes = 64 * 1024;  // about what one pull() moves at most

  Session(Owner& owner, Role role, const H2Options& options, Side peer);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void receive(Buffer& in);
  void pull(Buffer& out);
  // Streams have ended inside pull() or a send function: receive() will report them.
  bool has_reports() const { return !reports_.empty(); }
  // The connection is broken and every stream with it; pull() has the GOAWAY that says so, or had.
  const Error* failure() const { return failure_ ? &*failure_ : nullptr; }

  StreamId request(const RequestHead& head, bool end);  // client
  void respond(StreamId id, const ResponseHead& head, bool end);
  void send_interim(StreamId id, const ResponseHead& head);
  void send_body(StreamId id, Buffer& body, bool end);
  void send_trailers(StreamId id, const Fields& trailers);
  void reset(StreamId id, std::uint32_t error_code);
  void consumed(StreamId id, std::size_t bytes);
  std::size_t unsent_bytes(StreamId id) const;

  void announce_shutdown();  // GOAWAY with the highest id, and a PING whose answer completes it
  void shut_down();          // GOAWAY with the last id
  void ping();

  bool empty() const { return streams_.empty(); }
  std::size_t streams() const { return streams_.size() - leaving_; }  // not reset by us
  bool in_head() const;                                               // server: of some request
  bool started() const { return peer_settings_; }                     // its SETTINGS have come
  bool shut() const { return shut_; }  // our last GOAWAY has been queued
  bool over() const;                   // nothing will be read or written any more
  bool may_open() const;               // client: no GOAWAY, and ids are left
  std::uint32_t peer_max_streams() const;
  bool is_tunnel(StreamId id) const;  // it asked for an upgrade (RFC 8441)
  void ignore(StreamId id);           // nothing more is reported but its reset
  void set_tunnel(StreamId id);       // server: what comes waits until a 101 has been sent
  bool head_sent(StreamId id) const;

 private:
  struct Stream {
    StreamId id = 0;
    Buffer out;                     // of our message, not framed yet
    std::unique_ptr<Buffer> early;  // of the peer's, for a tunnel that does not stand yet
    std::unique_ptr<StoredTrailers> trailers;
    bool tunnel = false;
    bool deaf = false;     // what still comes is dropped
    bool started = false;  // our head is with nghttp2
    bool head_sent = false;
    bool out_complete = false;
    bool deferred = false;  // nghttp2 was told to wait for more of `out`
    bool head_seen = false;
    bool peer_ended = false;
    bool peer_reset = false;
    bool left = false;  // by us: whatever comes is dropped
  };
  struct Entry {
    StreamId id = 0;  // here too: looked for without a look at each stream
    std::unique_ptr<Stream> stream;
  };
  struct Report {
    StreamId id;
    std::optional<Reset> reset;  // nothing: `early` may be delivered
  };
  struct Callbacks;
  friend struct Callbacks;
  struct FreeSession {
    void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  };

  Stream* find(StreamId id) const;
  Stream& add(std::unique_ptr<Stream> stream);
  nghttp2_session* raw() const { return session_.get(); }
  void begin_settings();
  void wake(Stream& stream);
  void receive_frame(Buffer& in);
  void deliver_reports();
  void deliver_chunk(bool end);
  void peer_ended(Stream& stream);
  bool waits_for_tunnel(const Stream& stream) const;
  Reset reason_of(const Stream& stream, std::uint32_t error_code) const;
  void terminate(const Fault& fault);

  // From nghttp2; what they return is its.
  int on_begin_headers(const nghttp2_frame& frame);
  int on_header(std::string_view name, std::string_view value);
  int on_frame(const nghttp2_frame& frame);
  void on_block(Stream& stream, Block&& block, bool end);
  void on_goaway(const nghttp2_goaway& frame);
  int on_data(StreamId id, const std::uint8_t* data, std::size_t n);
  int on_closed(StreamId id, std::uint32_t error_code);
  ssize_t on_read_body(Stream& stream, std::size_t at_most, std::uint32_t& flags);
  int on_send_data(const nghttp2_frame& frame, const std::uint8_t* head, std::size_t n);
  int on_frame_sent(const nghttp2_frame& frame);
  void on_goaway_sent(const nghttp2_goaway& frame);

  const Fault* judge(const FrameHead& frame) const;

  Owner& owner_;
  const Role role_;
  const Side peer_;
  const H2Options& options_;
  FrameScanner scanner_;
  FloodGuard flood_;
  ClosedStreams closed_;
  std::unique_ptr<nghttp2_session, FreeSession> session_;
  StreamEntries<Entry> streams_;
  mutable Stream* recent_ = nullptr;  // found last: frames of one stream come together
  std::vector<Report> reports_;
  std::size_t leaving_ = 0;     // streams that wait for their RST_STREAM
  std::optional<Block> block_;  // that is being read
  IndexedNames indexed_;        // that we have sent
  const Buffer* in_ = nullptr;
  Buffer chunk_;  // of a DATA frame, until it is delivered
  StreamId chunk_of_ = 0;
  Buffer* out_ = nullptr;
  std::optional<Error> failure_;
  const Fault* reset_flood_ = nullptr;  // too many of the client's resets
  bool receiving_ = false;
  bool peer_settings_ = false;
  bool shut_ = false;
  bool goaway_received_ = false;
  bool goaway_graceful_ = false;
};

}  // namespace damper::http::h2
