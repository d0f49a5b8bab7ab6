#include "bench/demo/http1.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace damper::demo {
namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";

struct Message {
  std::string first_line;
  Fields fields;
  std::string body;
};

Error protocol_error(std::string detail) {
  return {Errc::kProtocol, Side::kLocal, std::move(detail)};
}

Fields read_fields(std::string_view lines) {
  Fields out;
  for (std::string_view line : split(lines, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;  // the "\r" of an empty line
    out.push_back({std::string(line.substr(0, colon)), std::string(trim(line.substr(colon + 1)))});
  }
  return out;
}

Result<std::size_t> body_length(const Fields& fields) {
  if (!value_of(fields, "transfer-encoding").empty()) {
    return protocol_error("transfer-encoding is not spoken here");
  }
  const std::string_view value = value_of(fields, "content-length");
  if (value.empty()) return std::size_t{0};
  const auto length = parse_number(value);
  if (!length) return protocol_error("content-length");
  return static_cast<std::size_t>(*length);
}

Result<std::optional<Message>> take_message(std::string& received) {
  const std::size_t end = received.find(kEndOfHead);
  if (end == received.npos) return std::optional<Message>();
  const std::size_t first_line = received.find("\r\n");
  Message out{received.substr(0, first_line),
              read_fields(std::string_view(received).substr(first_line, end - first_line)), ""};

  TRY_ASSIGN(const std::size_t length, body_length(out.fields));
  const std::size_t body = end + kEndOfHead.size();
  if (received.size() - body < length) return std::optional<Message>();
  out.body = received.substr(body, length);
  received.erase(0, body + length);
  return std::optional<Message>(std::move(out));
}

void append_fields(std::string& out, const Fields& fields) {
  for (const Field& field : fields) {
    out.append(field.name).append(": ").append(field.value).append("\r\n");
  }
}

std::string_view reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "";  // the blank before it stays: RFC 9112 §4
  }
}

}  // namespace

std::string_view value_of(const Fields& fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& field) {
    return equals_ignoring_case(field.name, name);
  });
  return found == fields.end() ? std::string_view() : std::string_view(found->value);
}

bool asks_to_close(const Fields& fields) {
  return equals_ignoring_case(value_of(fields, "connection"), "close");
}

Result<std::optional<Request>> take_request(std::string& received) {
  TRY_ASSIGN(std::optional<Message> message, take_message(received));
  if (!message) return std::optional<Request>();
  const auto words = split(message->first_line, ' ');
  if (words.size() != 3) return protocol_error("request line");
  return std::optional<Request>(
      {std::string(words[0]), std::string(words[1]), std::move(message->fields)});
}

Result<std::optional<Response>> take_response(std::string& received) {
  TRY_ASSIGN(std::optional<Message> message, take_message(received));
  if (!message) return std::optional<Response>();
  const auto words = split(message->first_line, ' ');
  const auto status = words.size() < 2 ? std::nullopt : parse_number(words[1]);
  if (!status || *status < 200 || *status > 599) return protocol_error("status line");
  return std::optional<Response>(
      {static_cast<int>(*status), std::move(message->body), std::move(message->fields)});
}

std::string to_bytes(const Request& request, std::string_view host) {
  std::string out = request.method + " " + request.path + " HTTP/1.1\r\nhost: ";
  out.append(host).append("\r\n");
  append_fields(out, request.fields);
  return out + "\r\n";
}

std::string to_bytes(const Response& response) {
  std::string out = "HTTP/1.1 ";
  append_number(out, response.status);
  out.append(" ").append(reason(response.status)).append("\r\ncontent-length: ");
  append_number(out, response.body.size());
  out += "\r\n";
  append_fields(out, response.fields);
  return out + "\r\n" + response.body;
}

}  // namespace damper::demo
