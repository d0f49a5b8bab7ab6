// As much HTTP/1.1 as the demo services need: keep-alive, and bodies with a Content-Length. What
// they say is correct; what they do not understand (chunked bodies) is an error, not a guess.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bench/demo/socket.h"

namespace damper::demo {

struct Request {
  std::string method = "GET";
  std::string path = "/";
};

struct Response {
  int status = 200;
  std::string body;
};

// One side of a connection. kClosed from a read means that the peer ended it between two messages.
class Connection {
 public:
  explicit Connection(Socket socket) : socket_(std::move(socket)) {}

  Result<Request> read_request();
  Result<Response> read_response();
  Status write(const Request& request, std::string_view host);
  Status write(const Response& response);

  // The last message that was read asked to close the connection.
  bool closing() const { return closing_; }

 private:
  struct Message {
    std::string first_line;
    std::string body;
  };
  Result<Message> read_message();
  Status read_until(std::size_t bytes);

  Socket socket_;
  std::string received_;  // and not yet consumed
  bool closing_ = false;
};

}  // namespace damper::demo
