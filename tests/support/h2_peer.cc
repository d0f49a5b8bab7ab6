#include "tests/support/h2_peer.h"

#include <utility>

namespace damper::tests {
namespace {

http::Fields fields_of(const std::vector<std::pair<std::string, std::string>>& all) {
  http::Fields out;
  for (const auto& [name, value] : all) {
    if (name != "host" && name != "upgrade") out.add(name, value);
  }
  return out;
}

// The body and the trailers of a message whose head has been sent.
template <class Codec>
void send_rest(Codec& codec, http::StreamId id, const WireMessage& message, bool end) {
  const bool trailers = !message.trailers.empty();
  if (!message.body.empty()) {
    Buffer body;
    body.append(message.body);
    codec.send_body(id, body, end && !trailers);
  }
  if (trailers) codec.send_trailers(id, fields_of(message.trailers));
}

bool is_head_only(const WireMessage& message) {
  return message.body.empty() && message.trailers.empty();
}

}  // namespace

// --- Both ----------------------------------------------------------------------------------------

std::shared_ptr<const http::H2Options> H2End::options(config::Http2Options http2) {
  return std::make_shared<const http::H2Options>(http::H2Options{.http2 = http2});
}

bool H2End::flush() {
  while (true) {
    Buffer out;
    pull(out);
    if (out.empty()) return true;
    if (!connection_.send(out.to_string())) return false;
  }
}

bool H2End::send_raw(std::string_view bytes) { return flush() && connection_.send(bytes); }

bool H2End::pump() {
  if (!flush()) return false;
  const std::string bytes = connection_.read_some();
  in_.append(bytes);
  take(in_);
  return flush() && !bytes.empty();
}

const H2Message& H2End::wait(http::StreamId id) {
  while (!at(id).ended() && pump()) {
  }
  return at(id);
}

bool H2End::wait_for_head(http::StreamId id) {
  while (at(id).start_line.empty() && !at(id).ended() && pump()) {
  }
  return !at(id).start_line.empty();
}

std::optional<http::Reset> H2End::wait_for_reset(http::StreamId id) {
  while (!at(id).reset && pump()) {
  }
  return at(id).reset;
}

std::string H2End::read_some(http::StreamId id) {
  while (at(id).body.empty() && !at(id).ended() && pump()) {
  }
  return std::exchange(at(id).body, "");
}

H2Message& H2End::at(http::StreamId id) {
  H2Message& message = messages_[id];
  message.id = id;
  return message;
}

void H2End::add_head(http::StreamId id, std::string start_line, const http::Fields& fields,
                     bool end) {
  H2Message& message = at(id);
  message.start_line = std::move(start_line);
  for (const http::Field& field : fields) message.fields.emplace_back(field.name, field.value);
  message.complete = end;
}

void H2End::add_body(http::StreamId id, Buffer& body, bool end) {
  H2Message& message = at(id);
  message.body += body.to_string();
  message.complete = end;
  if (const auto shut = held_back_.find(id); shut != held_back_.end()) {
    shut->second += body.size();
  } else {
    consumed(id, body.size());
  }
}

void H2End::open_again(http::StreamId id) {
  if (const auto shut = held_back_.extract(id)) consumed(id, shut.mapped());
  flush();
}

void H2End::add_trailers(http::StreamId id, const http::Fields& fields) {
  H2Message& message = at(id);
  for (const http::Field& field : fields) message.trailers.emplace_back(field.name, field.value);
  message.complete = true;
}

// --- The client ----------------------------------------------------------------------------------

H2Client::H2Client(WireConnection connection, config::Http2Options http2)
    : H2End(owned_), owned_(std::move(connection)), codec_(options(http2)) {
  flush();
}

http::StreamId H2Client::open(const WireMessage& request, bool end) {
  while (!codec_.can_open()) {
    if (!pump()) return 0;
  }
  http::RequestHead head;
  const std::string method = request.method();
  const std::string upgrade = request.field("upgrade").value_or("");
  head.fields = fields_of(request.fields);
  head.method = method;
  head.upgrade = upgrade;
  head.set_authority(request.field("host").value_or("a"));
  head.set_path(request.target());
  const http::StreamId id = codec_.send_head(head, end && is_head_only(request));
  send_rest(codec_, id, request, end);
  flush();
  return id;
}

http::StreamId H2Client::get(const std::string& target) { return open(request("GET", target)); }

void H2Client::send_body(http::StreamId id, std::string_view bytes, bool end) {
  Buffer body;
  body.append(bytes);
  codec_.send_body(id, body, end);
  flush();
}

void H2Client::reset(http::StreamId id) {
  codec_.reset(id, http::Reset::kCancel);
  flush();
}

void H2Client::on_response_head(http::StreamId id, http::ResponseHead&& head, bool end) {
  if (head.content_length) {
    head.fields.add("content-length", std::to_string(*head.content_length));
  }
  add_head(id, "HTTP/2 " + std::to_string(head.status), head.fields, end);
}

void H2Client::on_response_body(http::StreamId id, Buffer& body, bool end) {
  add_body(id, body, end);
}

void H2Client::on_response_trailers(http::StreamId id, http::Fields&& fields) {
  add_trailers(id, fields);
}

// --- The upstream --------------------------------------------------------------------------------

H2Server::H2Server(ScriptedUpstream& upstream, WireConnection& connection,
                   config::Http2Options http2)
    : H2End(connection), upstream_(upstream), codec_(options(http2)) {
  flush();
}

std::optional<H2Message> H2Server::receive() {
  while (whole_.empty()) {
    if (closed_ || !pump()) return std::nullopt;
  }
  const http::StreamId id = whole_.front();
  whole_.pop_front();
  return messages_.at(id);
}

void H2Server::answer(http::StreamId id, const WireMessage& response, bool end) {
  http::ResponseHead head;
  head.status = response.status();
  head.fields = fields_of(response.fields);
  codec_.send_head(id, head, end && is_head_only(response));
  send_rest(codec_, id, response, end);
  flush();
}

void H2Server::send_body(http::StreamId id, std::string_view bytes, bool end) {
  Buffer body;
  body.append(bytes);
  codec_.send_body(id, body, end);
  flush();
}

void H2Server::reset(http::StreamId id, http::Reset why) {
  codec_.reset(id, why);
  flush();
}

void H2Server::on_request_head(http::StreamId id, http::RequestHead&& head, bool end) {
  head.fields.add("host", std::string(head.authority));
  if (!head.upgrade.empty()) head.fields.add("upgrade", std::string(head.upgrade));
  const bool tunnel = !head.upgrade.empty();  // it goes on, as raw bytes
  add_head(id, std::string(head.method) + " " + std::string(head.path) + " HTTP/2", head.fields,
           end && !tunnel);
  if (end) finish(id);
}

void H2Server::on_request_body(http::StreamId id, Buffer& body, bool end) {
  add_body(id, body, end);
  if (end && !at(id).field("upgrade")) finish(id);
}

void H2Server::on_request_trailers(http::StreamId id, http::Fields&& fields) {
  add_trailers(id, fields);
  finish(id);
}

void H2Server::on_bad_request(http::StreamId id, int, const Error&) {
  at(id).reset = http::Reset::kProtocol;
}

void H2Server::finish(http::StreamId id) {
  upstream_.record(at(id));
  whole_.push_back(id);
}

ScriptedUpstream::Script h2_script(H2Answerer answerer, config::Http2Options http2) {
  return [answerer = std::move(answerer), http2](ScriptedUpstream& self, WireConnection& connection,
                                                 int number) {
    H2Server server(self, connection, http2);
    while (const auto request = server.receive()) answerer(server, *request, number);
    server.flush();
  };
}

WireMessage request(const std::string& method, const std::string& target, const std::string& body) {
  return {.start_line = method + " " + target + " HTTP/2", .body = body};
}

WireMessage response(int status, const std::string& body) {
  return {.start_line = "HTTP/2 " + std::to_string(status), .body = body};
}

}  // namespace damper::tests
