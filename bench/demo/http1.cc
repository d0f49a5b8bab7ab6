#include "bench/demo/http1.h"

#include <utility>

#include "base/text.h"

namespace damper::demo {
namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";

Error protocol_error(std::string detail) {
  return {Errc::kProtocol, Side::kLocal, std::move(detail)};
}

// What the fields of a head say about its message.
struct Framing {
  std::size_t content_length = 0;
  bool close = false;
};

Result<Framing> read_framing(std::string_view fields) {
  Framing out;
  for (const std::string_view line : split(fields, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;  // the "\r" of an empty line
    const std::string_view name = line.substr(0, colon);
    std::string_view value = line.substr(colon + 1);
    if (value.ends_with('\r')) value.remove_suffix(1);
    value = trim(value);
    if (equals_ignoring_case(name, "content-length")) {
      const auto length = parse_number(value);
      if (!length) return protocol_error("content-length");
      out.content_length = *length;
    } else if (equals_ignoring_case(name, "transfer-encoding")) {
      return protocol_error("transfer-encoding is not spoken here");
    } else if (equals_ignoring_case(name, "connection")) {
      out.close = equals_ignoring_case(value, "close");
    }
  }
  return out;
}

std::string_view reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 503: return "Service Unavailable";
    default: return "";  // the blank before it stays: RFC 9112 §4
  }
}

}  // namespace

Status Connection::read_until(std::size_t bytes) {
  while (received_.size() < bytes) TRY(socket_.read_some(received_));
  return Ok{};
}

Result<Connection::Message> Connection::read_message() {
  std::size_t end = 0;
  while ((end = received_.find(kEndOfHead)) == received_.npos) {
    TRY(socket_.read_some(received_));
  }
  const std::size_t first_line_end = received_.find("\r\n");
  TRY_ASSIGN(const Framing framing, read_framing(std::string_view(received_).substr(
                                        first_line_end, end - first_line_end)));
  closing_ = framing.close;

  const std::size_t body_start = end + kEndOfHead.size();
  TRY(read_until(body_start + framing.content_length));
  Message out{received_.substr(0, first_line_end),
              received_.substr(body_start, framing.content_length)};
  received_.erase(0, body_start + framing.content_length);
  return out;
}

Result<Request> Connection::read_request() {
  TRY_ASSIGN(const Message message, read_message());
  const auto words = split(message.first_line, ' ');
  if (words.size() != 3) return protocol_error("request line");
  return Request{std::string(words[0]), std::string(words[1])};
}

Result<Response> Connection::read_response() {
  TRY_ASSIGN(Message message, read_message());
  const auto words = split(message.first_line, ' ');
  const auto status = words.size() < 2 ? std::nullopt : parse_number(words[1]);
  if (!status || *status < 200 || *status > 599) return protocol_error("status line");
  return Response{static_cast<int>(*status), std::move(message.body)};
}

Status Connection::write(const Request& request, std::string_view host) {
  std::string out = request.method + " " + request.path + " HTTP/1.1\r\nhost: ";
  out.append(host).append("\r\n\r\n");
  return socket_.write_all(out);
}

Status Connection::write(const Response& response) {
  std::string out = "HTTP/1.1 ";
  append_number(out, response.status);
  out.append(" ").append(reason(response.status)).append("\r\ncontent-length: ");
  append_number(out, response.body.size());
  out.append("\r\n\r\n").append(response.body);
  return socket_.write_all(out);
}

}  // namespace damper::demo
