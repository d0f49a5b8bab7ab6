// Both ends of HTTP/2 for tests, on Damper's own codecs: a client, and what a ScriptedUpstream's
// script makes of a connection. Blocking, with the limit of ten seconds that WireConnection has; a
// peer works only while one of its functions runs.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "http/h2_client_codec.h"
#include "http/h2_server_codec.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {

// A message of one stream. As in HTTP/1 an authority is the field `host` and a protocol of RFC 8441
// the field `upgrade`.
struct H2Message : WireMessage {
  http::StreamId id = 0;
  std::optional<http::Reset> reset;
  bool ended() const { return complete || reset; }
};

class H2End {
 public:
  virtual ~H2End() = default;
  H2End(const H2End&) = delete;
  H2End& operator=(const H2End&) = delete;

  // Until the stream ends, the connection does, or nothing comes for ten seconds.
  const H2Message& wait(http::StreamId id);
  bool wait_for_head(http::StreamId id);
  std::optional<http::Reset> wait_for_reset(http::StreamId id);  // even of a whole message
  std::string read_some(http::StreamId id);                      // of its body; empty: it has ended
  const H2Message& message(http::StreamId id) { return at(id); }  // as far as it has come
  // Its window stays shut once it is full, until it is opened again.
  void keep_shut(http::StreamId id) { held_back_.emplace(id, 0); }
  void open_again(http::StreamId id);

  bool send_raw(std::string_view bytes);  // after whatever waits to be sent
  bool flush();
  bool pump();  // sends what it can and reads once; false: nothing came any more

 protected:
  explicit H2End(WireConnection& connection) : connection_(connection) {}
  static std::shared_ptr<const http::H2Options> options(config::Http2Options http2);

  virtual void pull(Buffer& out) = 0;
  virtual void take(Buffer& in) = 0;
  virtual void consumed(http::StreamId id, std::size_t bytes) = 0;

  H2Message& at(http::StreamId id);
  void add_head(http::StreamId id, std::string start_line, const http::Fields& fields, bool end);
  void add_body(http::StreamId id, Buffer& body, bool end);
  void add_trailers(http::StreamId id, const http::Fields& fields);

  std::map<http::StreamId, H2Message> messages_;

 private:
  WireConnection& connection_;
  Buffer in_;
  std::map<http::StreamId, std::size_t> held_back_;  // bytes of streams kept shut
};

class H2Client final : public H2End, private http::ClientSink {
 public:
  explicit H2Client(WireConnection connection, config::Http2Options http2 = {});

  // Opens a stream, when the peer allows one more; `end`: its body and trailers are whole.
  http::StreamId open(const WireMessage& request, bool end = true);
  http::StreamId get(const std::string& target = "/");
  void send_body(http::StreamId id, std::string_view bytes, bool end);
  void reset(http::StreamId id);
  bool may_open() const { return codec_.reusable(); }  // no GOAWAY has come
  WireConnection& connection() { return owned_; }

 private:
  void pull(Buffer& out) override { codec_.pull(out); }
  void take(Buffer& in) override { (void)codec_.receive(in, *this); }
  void consumed(http::StreamId id, std::size_t n) override { codec_.consumed(id, n); }
  void on_interim(http::StreamId, http::ResponseHead&&) override {}
  void on_response_head(http::StreamId id, http::ResponseHead&& head, bool end) override;
  void on_response_body(http::StreamId id, Buffer& body, bool end) override;
  void on_response_trailers(http::StreamId id, http::Fields&& fields) override;
  void on_response_reset(http::StreamId id, http::Reset why) override { at(id).reset = why; }

  WireConnection owned_;
  http::H2ClientCodec codec_;
};

class H2Server final : public H2End, private http::ServerSink {
 public:
  H2Server(ScriptedUpstream& upstream, WireConnection& connection, config::Http2Options http2 = {});

  // The next whole request, of which the upstream keeps a record; nothing at the end of the
  // connection.
  std::optional<H2Message> receive();
  void answer(http::StreamId id, const WireMessage& response, bool end = true);
  void send_body(http::StreamId id, std::string_view bytes, bool end);
  void reset(http::StreamId id, http::Reset why);
  void close() { closed_ = true; }  // receive() returns nothing from now on

 private:
  void pull(Buffer& out) override { codec_.pull(out); }
  void take(Buffer& in) override { (void)codec_.receive(in, *this); }
  void consumed(http::StreamId id, std::size_t n) override { codec_.consumed(id, n); }
  void on_request_head(http::StreamId id, http::RequestHead&& head, bool end) override;
  void on_request_body(http::StreamId id, Buffer& body, bool end) override;
  void on_request_trailers(http::StreamId id, http::Fields&& fields) override;
  void on_request_reset(http::StreamId id, http::Reset why) override { at(id).reset = why; }
  void on_bad_request(http::StreamId id, int, const Error&) override;
  void finish(http::StreamId id);

  ScriptedUpstream& upstream_;
  http::H2ServerCodec codec_;
  std::deque<http::StreamId> whole_;
  bool closed_ = false;
};

// What an upstream does with each request; `connection` counts from 0.
using H2Answerer = std::function<void(H2Server& server, const H2Message& request, int connection)>;
ScriptedUpstream::Script h2_script(H2Answerer answerer, config::Http2Options http2 = {});

WireMessage request(const std::string& method, const std::string& target = "/",
                    const std::string& body = "");
WireMessage response(int status, const std::string& body = "");

}  // namespace damper::tests
