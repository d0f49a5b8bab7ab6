// As much HTTP/1.1 as the demo services need: heads, and bodies with a Content-Length. What they
// say is correct; what they do not understand (chunked bodies) is an error, not a guess. No I/O:
// bytes in, messages out.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace damper::demo {

struct Field {
  std::string name;
  std::string value;
};
using Fields = std::vector<Field>;
// The value of the first field of that name, whatever its case; empty if there is none.
std::string_view value_of(const Fields& fields, std::string_view name);

struct Request {
  std::string method = "GET";
  std::string path = "/";
  Fields fields = {};
};

struct Response {
  int status = 200;
  std::string body = {};
  Fields fields = {};
};

// Takes the first message out of the bytes that were received; nothing while a part is missing.
Result<std::optional<Request>> take_request(std::string& received);
Result<std::optional<Response>> take_response(std::string& received);

// The fields are written beside those that every message has (host, content-length).
std::string to_bytes(const Request& request, std::string_view host);
std::string to_bytes(const Response& response);

// The message asks to end the connection after it.
bool asks_to_close(const Fields& fields);

}  // namespace damper::demo
