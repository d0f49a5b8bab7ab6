// One end of a TCP connection as tests see it: blocking, with a limit of ten seconds on everything,
// so that a test fails instead of hanging.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/certificates.h"

struct ssl_st;
struct ssl_ctx_st;

namespace damper::tests {

// A request or a response as it stood on the wire.
struct WireMessage {
  std::string start_line;
  std::vector<std::pair<std::string, std::string>> fields;  // names in lower case
  std::string body;
  std::vector<std::pair<std::string, std::string>> trailers;
  bool complete = false;  // its end was seen as its framing says

  int status() const;          // of a response
  std::string method() const;  // of a request
  std::string target() const;
  std::optional<std::string> field(std::string_view name) const;
  std::size_t count(std::string_view name) const;
};

class WireConnection {
 public:
  static WireConnection connect_to(std::uint16_t port, const char* from = "127.0.0.1");
  explicit WireConnection(int fd);
  WireConnection(WireConnection&& other) noexcept;
  WireConnection& operator=(WireConnection&& other) noexcept;
  ~WireConnection();

  // From now on it speaks TLS; false: the handshake failed. `name`: a client's SNI.
  bool connect_tls(const std::string& name = "", const Pair* certificate = nullptr);
  bool accept_tls(const Pair& certificate);
  void finish_tls();              // close_notify
  std::string peer_name() const;  // the common name of the peer's certificate
  ssl_st* ssl() const { return ssl_.get(); }

  bool send(std::string_view bytes);  // false: the peer is gone
  std::optional<WireMessage> read_request();
  // 1xx are put into `interim`. `to_head`: the answer to a HEAD has no body.
  std::optional<WireMessage> read_response(bool to_head = false,
                                           std::vector<int>* interim = nullptr);
  std::string read_some();  // what comes next; empty at the end of the connection
  bool wait_for_close();  // reads and drops until the peer ends the connection; false: it does not
  bool readable_within(int milliseconds);

  void half_close();
  void close();
  void reset();  // with RST
  int fd() const { return fd_; }

 private:
  bool start_tls(ssl_ctx_st* context, bool is_server, const std::string& name,
                 const Pair* certificate);
  bool fill();
  std::optional<std::string> read_line();
  bool read_fields(std::vector<std::pair<std::string, std::string>>& out);
  void read_body(WireMessage& message, bool is_response, bool bodiless);

  int fd_ = -1;
  std::shared_ptr<ssl_st> ssl_;  // null: plain
  std::string buffer_;
};

}  // namespace damper::tests
