// One request and its response: routes it, runs it through the filters, hands it to the end of the
// chain and brings the answer back. Everything that is known about it ends up in its AccessRecord.
#pragma once
#include <memory>
#include <vector>

#include "base/chunk.h"
#include "http/server_connection.h"
#include "stream/frontend.h"

namespace damper::stream {

class Stream final : public http::ServerStream,
                     private Downstream,
                     private event::TimeoutQueue::Member {
  DAMPER_LIVES_IN_A_CHUNK(Stream)

 public:
  Stream(std::shared_ptr<Frontend> frontend, http::ServerConnection& connection, http::StreamId id);
  ~Stream() override;

  // http::ServerStream
  void on_request_head(http::RequestHead&& head, bool end) override;
  void on_request_body(Buffer& body, bool end) override;
  void on_request_trailers(http::Fields&& trailers) override;
  void on_bad_request(int status, const Error& why) override;
  void on_request_reset(http::Reset why) override;
  void on_connection_closed(const Error& why) override;
  void on_drained() override;

 private:
  // How far each direction is. A response may be over before its request.
  enum class Half { kIdle, kBody, kEnded };

  // The chain stands at one filter at a time; what comes meanwhile waits in `held_`.
  enum class Chain { kRunning, kPaused, kOver };

  // The request's rest, while the chain is paused or its trailers are under way.
  struct Held {
    Buffer body;
    bool end = false;
    std::optional<http::Fields> trailers;
  };

  class RequestTimeout final : public event::TimeoutQueue::Member {
   public:
    explicit RequestTimeout(Stream& stream) : stream_(stream) {}
    void on_timeout() override { stream_.on_request_timeout(); }

   private:
    Stream& stream_;
  };

  // StreamContext and Downstream
  event::Scheduler& scheduler() override { return worker().loop; }
  const route::RouteEntry* route() const override { return route_; }
  std::optional<TimePoint> deadline() const override { return record_.deadline; }
  void tighten_deadline(TimePoint at) override;
  void resume(Verdict verdict) override;
  AccessRecord& record() override { return record_; }
  const http::RequestHead& request() const override { return head_; }
  bool may_steer() const override { return may_steer_; }
  // All of it has passed the chain: what is held has yet to.
  bool request_ended() const override { return request_ == Half::kEnded && !rest_is_held(); }
  void set_cluster(const route::ClusterPick& pick) override { pick_ = pick; }
  void prepare_attempt(http::RequestHead& head, const AttemptTime& time) override {
    for (const auto& filter : filters_) filter->on_attempt_head(head, time);
  }
  void send_interim(const http::ResponseHead& head) override;
  void send_head(http::ResponseHead&& head, bool end) override;
  void send_body(Buffer& body, bool end) override;
  void send_trailers(http::Fields&& trailers) override;
  void send_reply(Reply&& reply) override;
  void cut() override;
  void pause_request() override;
  void resume_request() override;
  // event::TimeoutQueue::Member
  void on_timeout() override;

  http::Worker& worker() const { return frontend_->worker; }
  const config::HttpOptions& options() const { return frontend_->options(); }
  bool over() const { return response_ == Half::kEnded; }

  void start_clocks();
  void progress() { idle_->restart(*this); }
  std::optional<Reply> admit(bool end);  // an answer if the request may not pass
  std::optional<Reply> find_route();
  void build_chain();
  void run_head(std::size_t from);
  void run_body(Buffer& body, bool end);
  void run_trailers();
  bool stopped_by(Verdict& verdict, std::size_t at);
  Held& held();
  bool rest_is_held() const { return held_ && (!held_->body.empty() || held_->trailers); }
  void release_held();
  void end_request();
  void on_request_timeout();
  void on_max_duration();
  void time_out(int status, std::string_view details, std::string_view body, Flag flag);
  void finish_head(http::ResponseHead& head);
  void finish();
  void count_finished();

  std::shared_ptr<Frontend> frontend_;
  http::ServerConnection* connection_;  // null once it is gone
  const http::StreamId id_;
  const route::RouteEntry* route_ = nullptr;
  route::ClusterPick pick_;
  event::TimeoutQueue* idle_ = &frontend_->stream_idle;
  http::RequestHead head_;
  http::ResponseHead response_head_;
  std::unique_ptr<http::Fields> response_trailers_;
  AccessRecord record_;
  std::unique_ptr<std::string> details_;  // what record_.details views where it is no static text
  std::vector<std::unique_ptr<Filter>> filters_;
  std::unique_ptr<ChainEnd> end_;
  std::unique_ptr<event::Timer> max_duration_;
  RequestTimeout request_timeout_{*this};

  Half request_ = Half::kIdle;
  Half response_ = Half::kIdle;
  Chain chain_ = Chain::kRunning;
  std::size_t paused_at_ = 0;  // the filter that paused
  std::unique_ptr<Held> held_;
  bool may_steer_ = false;
  bool finished_ = false;
  bool blocked_ = false;
};

}  // namespace damper::stream
