// One try on one host: waits for a connection, sends the request, brings the response, and ends in
// exactly one of done, failed or cancelled. Says what happened; what follows from it is the
// router's business.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "base/chunk.h"
#include "filters/retry/outcome.h"
#include "http/client_connection.h"
#include "http/websocket.h"
#include "http/worker.h"
#include "upstream/cluster.h"

namespace damper::router {

// Why there is no response, of an attempt or in place of one.
struct AttemptFailure {
  retry::Failure failure = retry::Failure::kReset;
  bool request_on_wire = false;
  bool keep_alive_race = false;
  bool stream_only = false;      // by RST_STREAM: its connection lives
  bool cancelled = false;        // by RST_STREAM(CANCEL)
  bool graceful_goaway = false;  // kRefusedStream because the host is draining
  std::string detail;
  Duration retry_after{};  // what we ask the client to wait; 0: nothing
};

struct AttemptTimeouts {
  Duration per_try{};  // until the response head, waiting for a connection included; 0: none
  Duration idle{};     // between two signs of life; 0: none
};

class Attempt final : private upstream::PoolUser, private http::ClientStream {
  DAMPER_LIVES_IN_A_CHUNK(Attempt)

 public:
  // Called back by the attempt, which must not be destroyed meanwhile.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_attempt_connected(Attempt& attempt) = 0;  // send the request now
    virtual void on_attempt_interim(http::ResponseHead&& head) = 0;
    // May a gRPC status that follows this head at once still change what becomes of the attempt?
    virtual bool on_attempt_open_head(const http::ResponseHead& head) = 0;
    // `trailers`: those that ended the response before any of its body; null: there are none yet.
    virtual void on_attempt_head(Attempt& attempt, http::ResponseHead&& head, bool end,
                                 http::Fields* trailers) = 0;
    virtual void on_attempt_body(Buffer& body, bool end) = 0;
    virtual void on_attempt_trailers(http::Fields&& trailers) = 0;
    virtual void on_attempt_failed(Attempt& attempt, const AttemptFailure& failure) = 0;
    // Its per-try time is over. True: it may go on all the same.
    virtual bool on_attempt_slow(Attempt& attempt) = 0;
    virtual void on_attempt_drained() = 0;  // more of the request may come
  };

  // `number`: 1 for the original. `pass`: of the cluster's breaker. `server_name`: see
  // Cluster::pool.
  Attempt(Owner& owner, http::Worker& worker, upstream::Cluster& cluster, std::size_t number,
          upstream::HostPtr host, upstream::FailureBreaker::Pass pass, config::Priority priority,
          http::Protocol downstream, AttemptTimeouts timeouts, std::string server_name);
  ~Attempt() override;
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  void start();

  // Once connected, and until the attempt has ended.
  void send_head(const http::RequestHead& head, bool end);
  void send_body(Buffer& body, bool end);
  void send_trailers(const http::Fields& trailers);
  bool may_send() const { return state_ == State::kOpen; }
  std::size_t unsent_bytes() const;
  void notify_when_drained() { connection_->notify_when_drained(id_); }

  void pause_response();
  void resume_response();
  void restart_clock();  // it has another per-try time, if it has used one up
  void head_accepted();  // the response goes downstream: its head was in time
  void cancel();         // really: the request is reset or its connection closed, its place is free
  void abandon();        // the answer is not wanted, but its connection is

  // What it has come to, for the cluster to judge its hosts by. Once; an attempt that nobody
  // reports says nothing.
  void report(upstream::Evidence evidence) {
    reported_ = true;
    cluster_.report(*host_, evidence, pass_);
  }
  bool reported() const { return reported_; }
  bool is_probe() const { return pass_.is_probe(); }  // of a half-open breaker

  std::size_t number() const { return number_; }
  bool ended() const { return state_ == State::kEnded; }
  const upstream::HostPtr& host() const { return host_; }
  TimePoint started() const { return started_; }
  std::optional<TimePoint> head_came() const { return head_came_; }
  bool holds_head() const { return held_ != nullptr; }
  bool request_on_wire() const;
  std::uint64_t connection_id() const { return connection_id_; }
  const std::string& local_address() const { return local_address_; }

 private:
  enum class State { kNew, kWaiting, kOpen, kEnded };

  // upstream::PoolUser
  void on_connection(http::ClientConnection& connection) override;
  void on_no_connection(upstream::PoolFailure failure, std::string_view detail) override;
  // http::ClientStream
  void on_interim(http::ResponseHead&& head) override;
  void on_response_head(http::ResponseHead&& head, bool end) override;
  void on_response_body(Buffer& body, bool end) override;
  void on_response_trailers(http::Fields&& trailers) override;
  void on_stream_failed(const http::StreamFailure& failure) override;
  void on_drained() override;

  // The head of a gRPC answer is held back for as long as its status may come with the next frame.
  void hold(http::ResponseHead&& head);
  bool hand_over(bool end, http::Fields* trailers);
  void refuse_handshake();

  // The per-try clock runs while we wait for the upstream, and stands still while the client is
  // sending.
  void run_clock();
  void stop_clock();
  void sign_of_life();
  void on_time(retry::Failure failure);
  void fail(AttemptFailure failure);
  void end();

  Owner& owner_;
  http::Worker& worker_;
  upstream::Cluster& cluster_;
  const std::size_t number_;
  const upstream::HostPtr host_;
  upstream::FailureBreaker::Pass pass_;
  const config::Priority priority_;
  const http::Protocol downstream_;
  const AttemptTimeouts timeouts_;
  const std::string server_name_;
  std::unique_ptr<event::Timer> per_try_;
  std::unique_ptr<event::Timer> idle_;
  Duration per_try_left_{};
  TimePoint clock_started_{};
  // While it waits: asked for again, the cluster might have another, if the host has left
  // meanwhile.
  upstream::Pool* pool_ = nullptr;
  http::ClientConnection* connection_ = nullptr;
  http::StreamId id_ = 0;
  upstream::Limit::Ticket place_;
  TimePoint started_{};
  std::optional<TimePoint> head_came_;
  std::unique_ptr<http::ResponseHead> held_;
  std::unique_ptr<event::Timer> hold_;
  std::unique_ptr<http::WebSocketHandshake> websocket_;  // where it takes part in one
  std::uint64_t connection_id_ = 0;
  std::string local_address_;
  State state_ = State::kNew;
  bool request_sent_ = false;
  bool head_seen_ = false;
  bool reported_ = false;
};

}  // namespace damper::router
