#include "http/h2_session.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace damper::http::h2 {
namespace {

constexpr std::size_t kFrameHeadBytes = 9;
constexpr std::uint8_t kDrainPing[8] = {'d', 'r', 'a', 'i', 'n', 0, 0, 0};

struct FreeOptions {
  void operator()(nghttp2_option* option) const { nghttp2_option_del(option); }
};
struct FreeCallbacks {
  void operator()(nghttp2_session_callbacks* callbacks) const {
    nghttp2_session_callbacks_del(callbacks);
  }
};

std::unique_ptr<nghttp2_option, FreeOptions> make_options(const H2Options& options) {
  constexpr std::uint64_t kMostResets = 100'000;
  constexpr std::uint64_t kResetsPerSecond = 10'000;
  constexpr std::size_t kMostSent = 16 * 1024 * 1024;  // the other side's limit holds, not this
  nghttp2_option* out = nullptr;
  DAMPER_CHECK(nghttp2_option_new(&out) == 0);
  nghttp2_option_set_no_auto_window_update(out, 1);
  nghttp2_option_set_no_closed_streams(out, 1);
  // FloodGuard judges resets by how many requests they end early; this is for those that it
  // excuses.
  nghttp2_option_set_stream_reset_rate_limit(out, kMostResets, kResetsPerSecond);
  nghttp2_option_set_max_outbound_ack(out, options.http2.max_outbound_control_frames);
  nghttp2_option_set_max_send_header_block_length(out, kMostSent);
  // As many CONTINUATIONs as a head of the largest size may need. nghttp2 counts each piece in
  // which the head of such a frame comes, at worst a byte.
  nghttp2_option_set_max_continuations(out, kFrameHeadBytes * (8 + options.max_head_bytes / 16384));
  return std::unique_ptr<nghttp2_option, FreeOptions>(out);
}

std::string_view text(const std::uint8_t* bytes, std::size_t n) {
  return {reinterpret_cast<const char*>(bytes), n};
}

}  // namespace

std::uint32_t error_code(Reset why) {
  switch (why) {
    case Reset::kCancel: return NGHTTP2_CANCEL;
    case Reset::kRefused:
    case Reset::kGoAway: return NGHTTP2_REFUSED_STREAM;
    case Reset::kProtocol: return NGHTTP2_PROTOCOL_ERROR;
    case Reset::kInternal: return NGHTTP2_INTERNAL_ERROR;
    case Reset::kNoError: return NGHTTP2_NO_ERROR;
  }
  return NGHTTP2_INTERNAL_ERROR;
}

struct Session::Callbacks {
  static Session& of(void* user) { return *static_cast<Session*>(user); }

  static std::unique_ptr<nghttp2_session_callbacks, FreeCallbacks> make() {
    nghttp2_session_callbacks* out = nullptr;
    DAMPER_CHECK(nghttp2_session_callbacks_new(&out) == 0);
    nghttp2_session_callbacks_set_on_begin_headers_callback(
        out, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          return of(user).on_begin_headers(*frame);
        });
    nghttp2_session_callbacks_set_on_header_callback(
        out,
        [](nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name, std::size_t name_size,
           const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
          return of(user).on_header(text(name, name_size), text(value, value_size));
        });
    // Without this nghttp2 drops a field with forbidden octets and goes on (RFC 9113 §8.2.1).
    nghttp2_session_callbacks_set_on_invalid_header_callback(
        out,
        [](nghttp2_session*, const nghttp2_frame*, const std::uint8_t*, std::size_t,
           const std::uint8_t*, std::size_t, std::uint8_t,
           void*) -> int { return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        out, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          return of(user).on_frame(*frame);
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        out, [](nghttp2_session*, std::uint8_t, StreamId id, const std::uint8_t* data,
                std::size_t n, void* user) { return of(user).on_data(id, data, n); });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        out, [](nghttp2_session*, StreamId id, std::uint32_t error_code, void* user) {
          return of(user).on_closed(id, error_code);
        });
    nghttp2_session_callbacks_set_send_data_callback(
        out,
        [](nghttp2_session*, nghttp2_frame* frame, const std::uint8_t* head, std::size_t n,
           nghttp2_data_source*, void* user) { return of(user).on_send_data(*frame, head, n); });
    nghttp2_session_callbacks_set_on_frame_send_callback(
        out, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          return of(user).on_frame_sent(*frame);
        });
    return std::unique_ptr<nghttp2_session_callbacks, FreeCallbacks>(out);
  }

  static nghttp2_data_provider body_of(Session::Stream& stream) {
    nghttp2_data_provider out{};
    out.source.ptr = &stream;
    out.read_callback = [](nghttp2_session*, StreamId, std::uint8_t*, std::size_t at_most,
                           std::uint32_t* flags, nghttp2_data_source* source,
                           void* user) -> ssize_t {
      return of(user).on_read_body(*static_cast<Session::Stream*>(source->ptr), at_most, *flags);
    };
    return out;
  }
};

Session::Session(Owner& owner, Role role, const H2Options& options, Side peer)
    : owner_(owner),
      role_(role),
      peer_(peer),
      options_(options),
      scanner_(role == Role::kServer ? kPreface.size() : 0),
      flood_(options.http2) {
  const auto callbacks = Callbacks::make();
  const auto raw_options = make_options(options);
  nghttp2_session* session = nullptr;
  const int made =
      role == Role::kServer
          ? nghttp2_session_server_new2(&session, callbacks.get(), this, raw_options.get())
          : nghttp2_session_client_new2(&session, callbacks.get(), this, raw_options.get());
  DAMPER_CHECK(made == 0);
  session_.reset(session);
  begin_settings();
}

Session::~Session() = default;

void Session::begin_settings() {
  const config::Http2Options& o = options_.http2;
  std::vector<nghttp2_settings_entry> settings = {
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, o.stream_window_bytes}};
  if (o.hpack_table_bytes != NGHTTP2_DEFAULT_HEADER_TABLE_SIZE)
    settings.push_back({NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, o.hpack_table_bytes});
  if (role_ == Role::kServer) {
    settings.push_back({NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, o.max_concurrent_streams});
    settings.push_back({NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1});
    if (o.allow_connect) settings.push_back({NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1});
  } else {
    settings.push_back({NGHTTP2_SETTINGS_ENABLE_PUSH, 0});
  }
  DAMPER_CHECK(
      nghttp2_submit_settings(raw(), NGHTTP2_FLAG_NONE, settings.data(), settings.size()) == 0);
  nghttp2_session_set_local_window_size(raw(), NGHTTP2_FLAG_NONE, 0,
                                        static_cast<std::int32_t>(o.connection_window_bytes));
}

// --- Streams -------------------------------------------------------------------------------------

Session::Stream* Session::find(StreamId id) const {
  if (recent_ && recent_->id == id) return recent_;
  const Entry* entry = streams_.find(id);
  if (!entry) return nullptr;
  recent_ = entry->stream.get();
  return recent_;
}

Session::Stream& Session::add(std::unique_ptr<Stream> stream) {
  const StreamId id = stream->id;
  DAMPER_CHECK(streams_.empty() || streams_.back().id < id);
  recent_ = streams_.push({.id = id, .stream = std::move(stream)}).stream.get();
  return *recent_;
}

std::size_t Session::unsent_bytes(StreamId id) const {
  const Stream* stream = find(id);
  return stream ? stream->out.size() : 0;
}

bool Session::is_tunnel(StreamId id) const {
  const Stream* stream = find(id);
  return stream && stream->tunnel;
}

void Session::ignore(StreamId id) {
  if (Stream* stream = find(id)) stream->deaf = true;
}

void Session::set_tunnel(StreamId id) {
  if (Stream* stream = find(id)) stream->tunnel = true;
}

bool Session::in_head() const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const Entry& e) { return !e.stream->head_seen && !e.stream->left; });
}

bool Session::head_sent(StreamId id) const {
  const Stream* stream = find(id);
  return !stream || stream->head_sent;
}

bool Session::may_open() const {
  return !failure_ && !goaway_received_ && nghttp2_session_check_request_allowed(raw()) != 0 &&
         nghttp2_session_get_next_stream_id(raw()) < (std::uint32_t{1} << 31);
}

std::uint32_t Session::peer_max_streams() const {
  return nghttp2_session_get_remote_settings(raw(), NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

bool Session::over() const {
  return nghttp2_session_want_read(raw()) == 0 && nghttp2_session_want_write(raw()) == 0;
}

// --- What we send --------------------------------------------------------------------------------

StreamId Session::request(const RequestHead& head, bool end) {
  const NameValues block(head, indexed_);
  const bool tunnel = !head.upgrade.empty();
  auto owned = std::make_unique<Stream>();
  Stream& stream = *owned;
  stream.started = true;
  stream.tunnel = tunnel;
  stream.out_complete = end && !tunnel;
  const nghttp2_data_provider body = Callbacks::body_of(stream);
  stream.id = nghttp2_submit_request(raw(), nullptr, block.begin(), block.size(),
                                     stream.out_complete ? nullptr : &body, nullptr);
  DAMPER_CHECK(stream.id > 0);
  add(std::move(owned));
  const bool refused =
      tunnel && peer_settings_ &&
      nghttp2_session_get_remote_settings(raw(), NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL) == 0;
  if (refused) {
    reports_.push_back({stream.id, Reset::kProtocol});
    reset(stream.id, NGHTTP2_CANCEL);
  }
  return stream.id;
}

void Session::respond(StreamId id, const ResponseHead& head, bool end) {
  Stream* stream = find(id);
  if (!stream || stream->left || stream->started) return;
  stream->started = true;
  stream->out_complete = end;
  const NameValues block(head, indexed_);
  const nghttp2_data_provider body = Callbacks::body_of(*stream);
  nghttp2_submit_response(raw(), id, block.begin(), block.size(), end ? nullptr : &body);
  if (head.status != 101) {
    stream->deaf = stream->deaf || stream->tunnel;  // a refused tunnel's bytes are no body
    stream->early.reset();
  } else if (stream->early || stream->peer_ended) {
    reports_.push_back({id, std::nullopt});
  }
}

void Session::send_interim(StreamId id, const ResponseHead& head) {
  const Stream* stream = find(id);
  if (!stream || stream->left || stream->started) return;
  const NameValues block(head, indexed_);
  nghttp2_submit_headers(raw(), NGHTTP2_FLAG_NONE, id, nullptr, block.begin(), block.size(),
                         nullptr);
}

void Session::send_body(StreamId id, Buffer& body, bool end) {
  Stream* stream = find(id);
  if (!stream || stream->left || stream->out_complete) return body.clear();
  stream->out.append(std::move(body));
  if (end) stream->out_complete = true;
  wake(*stream);
}

void Session::send_trailers(StreamId id, const Fields& trailers) {
  Stream* stream = find(id);
  if (!stream || stream->left || stream->out_complete) return;
  stream->trailers = std::make_unique<StoredTrailers>(trailers, indexed_);
  stream->out_complete = true;
  wake(*stream);
}

void Session::wake(Stream& stream) {
  if (std::exchange(stream.deferred, false)) nghttp2_session_resume_data(raw(), stream.id);
}

void Session::reset(StreamId id, std::uint32_t error_code) {
  Stream* stream = find(id);
  if (!stream || stream->left) return;
  stream->left = true;
  ++leaving_;
  stream->out.clear();
  stream->early.reset();
  nghttp2_submit_rst_stream(raw(), NGHTTP2_FLAG_NONE, id, error_code);
}

void Session::consumed(StreamId id, std::size_t bytes) {
  nghttp2_session_consume_stream(raw(), id, bytes);
}

void Session::announce_shutdown() { nghttp2_submit_shutdown_notice(raw()); }

void Session::shut_down() {
  if (std::exchange(shut_, true)) return;
  nghttp2_submit_goaway(raw(), NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(raw()),
                        NGHTTP2_NO_ERROR, nullptr, 0);
}

void Session::ping() { nghttp2_submit_ping(raw(), NGHTTP2_FLAG_NONE, nullptr); }

void Session::terminate(const Fault& fault) {
  failure_ = Error{Errc::kProtocol, peer_, std::string(fault.detail)};
  nghttp2_session_terminate_session(raw(), fault.error_code);
}

void Session::pull(Buffer& out) {
  out_ = &out;
  while (out.size() < kPullBytes) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t n = nghttp2_session_mem_send(raw(), &bytes);
    if (n <= 0) break;
    out.append(text(bytes, static_cast<std::size_t>(n)));
  }
  out_ = nullptr;
}

ssize_t Session::on_read_body(Stream& stream, std::size_t at_most, std::uint32_t& flags) {
  const std::size_t n = std::min(at_most, stream.out.size());
  if (n == stream.out.size()) {
    if (stream.out_complete) {
      flags |= NGHTTP2_DATA_FLAG_EOF;
      if (stream.trailers && stream.trailers->size() > 0) {
        flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        nghttp2_submit_trailer(raw(), stream.id, stream.trailers->begin(), stream.trailers->size());
      }
    } else if (n == 0) {
      stream.deferred = true;
      return NGHTTP2_ERR_DEFERRED;
    }
  }
  flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  return static_cast<ssize_t>(n);
}

int Session::on_send_data(const nghttp2_frame& frame, const std::uint8_t* head, std::size_t n) {
  if (out_->size() >= kPullBytes) return NGHTTP2_ERR_WOULDBLOCK;
  Stream* stream = find(frame.hd.stream_id);
  if (!stream || stream->out.size() < n) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  out_->append(text(head, kFrameHeadBytes));
  out_->move_from(stream->out, n);
  flood_.data_frame_sent();
  return 0;
}

void Session::on_goaway_sent(const nghttp2_goaway& frame) {
  if (frame.error_code == NGHTTP2_NO_ERROR) {
    // nghttp2 would send a PING that is submitted together with the announcement before it.
    if (!shut_) nghttp2_submit_ping(raw(), NGHTTP2_FLAG_NONE, kDrainPing);
  } else if (!failure_) {  // nghttp2 found a fault
    const auto why = frame.opaque_data_len > 0 ? text(frame.opaque_data, frame.opaque_data_len)
                                               : nghttp2_http2_strerror(frame.error_code);
    failure_ = Error{Errc::kProtocol, peer_, "http2." + std::string(why)};
  }
}

int Session::on_frame_sent(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_GOAWAY) on_goaway_sent(frame.goaway);
  if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) return 0;
  Stream* stream = find(frame.hd.stream_id);
  if (!stream) return 0;
  stream->head_sent = true;
  const bool ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  // RFC 9113 §8.1: the rest of a request that has been answered is not wanted.
  if (ends && role_ == Role::kServer && !stream->peer_ended) {
    reset(stream->id, NGHTTP2_NO_ERROR);
  }
  return 0;
}

// --- What we read --------------------------------------------------------------------------------

void Session::receive(Buffer& in) {
  constexpr Fault kFlood{NGHTTP2_ENHANCE_YOUR_CALM, "http2.outbound_flood"};
  receiving_ = true;
  deliver_reports();
  while (!in.empty() && !failure_) receive_frame(in);
  if (failure_) in.clear();
  const std::size_t frames = nghttp2_session_get_outbound_queue_size(raw());
  if (!failure_ && frames > options_.http2.max_outbound_frames) terminate(kFlood);
  receiving_ = false;
}

// One frame, or what there is of it.
void Session::receive_frame(Buffer& in) {
  constexpr Fault kControlFlood{NGHTTP2_ENHANCE_YOUR_CALM, "http2.outbound_control_flood"};
  const std::string_view run = in.front();
  bool begins = false;
  const std::size_t n = scanner_.next(run, begins);
  if (begins) {
    const Fault* fault = flood_.on_frame(scanner_.head());
    if (!fault) fault = judge(scanner_.head());
    if (fault) return terminate(*fault);
  }
  in_ = &in;
  const ssize_t taken =
      nghttp2_session_mem_recv(raw(), reinterpret_cast<const std::uint8_t*>(run.data()), n);
  in_ = nullptr;
  deliver_chunk(false);
  if (reset_flood_) return terminate(*reset_flood_);
  if (in.empty()) return;  // whoever was told has closed the connection
  if (taken == NGHTTP2_ERR_FLOODED) return terminate(kControlFlood);
  if (taken < 0) {
    return terminate({NGHTTP2_PROTOCOL_ERROR, nghttp2_strerror(static_cast<int>(taken))});
  }
  in.drain(n);
}

void Session::deliver_reports() {
  for (const Report& report : std::exchange(reports_, {})) {
    if (report.reset) {
      owner_.on_reset(report.id, *report.reset);
      continue;
    }
    Stream* stream = find(report.id);
    if (!stream || stream->left) continue;
    Buffer early;
    if (stream->early) early = std::move(*stream->early);
    owner_.on_body(report.id, early, stream->peer_ended);
  }
}

const Fault* Session::judge(const FrameHead& frame) const {
  if (role_ == Role::kClient || closed_.is_new(frame.stream)) return nullptr;
  return find(frame.stream) ? nullptr : closed_.judge(frame);
}

int Session::on_begin_headers(const nghttp2_frame& frame) {
  Stream* stream = find(frame.hd.stream_id);
  if (!stream) {
    if (role_ == Role::kClient || frame.headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    auto opened = std::make_unique<Stream>();
    opened->id = frame.hd.stream_id;
    stream = &add(std::move(opened));
    flood_.stream_opened();
    closed_.opened(stream->id);
    // RFC 9218: all streams alike, whatever the client thinks of them.
    const nghttp2_extpri alike{.urgency = NGHTTP2_EXTPRI_DEFAULT_URGENCY, .inc = 1};
    nghttp2_session_change_extpri_stream_priority(raw(), stream->id, &alike, 1);
  }
  block_.emplace();
  return 0;
}

int Session::on_header(std::string_view name, std::string_view value) {
  if (!block_) return 0;
  return block_->add(options_, name, value) ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

int Session::on_frame(const nghttp2_frame& frame) {
  Stream* stream = find(frame.hd.stream_id);
  const bool ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  switch (frame.hd.type) {
    case NGHTTP2_HEADERS:
      if (stream && block_) on_block(*stream, *std::exchange(block_, std::nullopt), ends);
      break;
    case NGHTTP2_DATA:
      if (stream && ends) stream->peer_ended = true;
      if (!stream || stream->left || stream->deaf || waits_for_tunnel(*stream)) break;
      chunk_of_ = stream->id;
      deliver_chunk(ends);
      if (ends) peer_ended(*stream);
      break;
    case NGHTTP2_RST_STREAM:
      if (!stream) break;
      stream->peer_reset = true;
      if (role_ == Role::kServer && !stream->started) reset_flood_ = flood_.on_early_reset();
      break;
    case NGHTTP2_SETTINGS:
      if ((frame.hd.flags & NGHTTP2_FLAG_ACK) == 0) peer_settings_ = true;
      break;
    case NGHTTP2_PING:
      if ((frame.hd.flags & NGHTTP2_FLAG_ACK) != 0 &&
          std::memcmp(frame.ping.opaque_data, kDrainPing, sizeof kDrainPing) == 0)
        shut_down();
      break;
    case NGHTTP2_GOAWAY: on_goaway(frame.goaway); break;
    default: break;
  }
  return 0;
}

void Session::on_block(Stream& stream, Block&& block, bool end) {
  stream.peer_ended = end;
  if (stream.left || stream.deaf) return;
  if (stream.head_seen) {
    owner_.on_trailers(stream.id, std::move(block));
  } else {
    stream.head_seen = !block.is_interim();
    owner_.on_head(stream.id, std::move(block), end);
  }
  if (end) peer_ended(stream);
}

// The response is complete. What of the request has not been sent is of no use any more.
void Session::peer_ended(Stream& stream) {
  if (role_ == Role::kClient && !stream.out_complete) reset(stream.id, NGHTTP2_CANCEL);
}

void Session::on_goaway(const nghttp2_goaway& frame) {
  goaway_received_ = true;
  goaway_graceful_ = frame.error_code == NGHTTP2_NO_ERROR;
}

int Session::on_data(StreamId id, const std::uint8_t* data, std::size_t n) {
  nghttp2_session_consume_connection(raw(), n);
  Stream* stream = find(id);
  if (!stream || stream->left || stream->deaf) return 0;
  const auto offset =
      static_cast<std::size_t>(reinterpret_cast<const char*>(data) - in_->front().data());
  if (waits_for_tunnel(*stream)) {
    Buffer part;
    part.share_run(*in_, offset, n);
    if (!stream->early) stream->early = std::make_unique<Buffer>();
    stream->early->append(std::move(part));
    return 0;
  }
  chunk_of_ = id;
  chunk_.share_run(*in_, offset, n);
  return 0;
}

bool Session::waits_for_tunnel(const Stream& stream) const {
  return role_ == Role::kServer && stream.tunnel && !stream.started;
}

void Session::deliver_chunk(bool end) {
  if (chunk_.empty() && !end) return;
  Buffer chunk = std::move(chunk_);
  const Stream* stream = find(chunk_of_);
  if (!stream || stream->left) return;
  owner_.on_body(chunk_of_, chunk, end);
}

Reset Session::reason_of(const Stream& stream, std::uint32_t error_code) const {
  if (role_ == Role::kServer) return stream.peer_reset ? Reset::kCancel : Reset::kProtocol;
  if (error_code == NGHTTP2_REFUSED_STREAM || !stream.head_sent) {
    const bool above_goaway = goaway_received_ && goaway_graceful_ && !stream.peer_reset;
    return above_goaway ? Reset::kGoAway : Reset::kRefused;
  }
  if (!stream.peer_reset) return Reset::kProtocol;  // nghttp2 found fault with it
  if (error_code == NGHTTP2_NO_ERROR) return Reset::kNoError;
  return error_code == NGHTTP2_CANCEL ? Reset::kCancel : Reset::kInternal;
}

int Session::on_closed(StreamId id, std::uint32_t error_code) {
  Entry* const entry = streams_.find(id);
  if (!entry) return 0;
  const std::unique_ptr<Stream> stream = std::move(entry->stream);
  recent_ = nullptr;
  streams_.erase(entry);
  if (stream->left) --leaving_;
  if (!stream->peer_ended && !stream->peer_reset) closed_.left_by_us(id);
  const bool whole = stream->peer_ended && error_code == NGHTTP2_NO_ERROR;
  if (stream->left || whole) return 0;
  const Reset why = reason_of(*stream, error_code);
  if (receiving_) {
    owner_.on_reset(id, why);
  } else {
    reports_.push_back({id, why});
  }
  return 0;
}

}  // namespace damper::http::h2
