// A WebSocket's opening handshake between versions of HTTP. In HTTP/1 the client sends a key and
// the server proves by its answer that it has read it (RFC 6455 §4); over HTTP/2 there is neither
// (RFC 8441 §5). So where client and upstream speak different versions, the side with HTTP/1 needs
// somebody to shake hands with. Between equals the handshake is theirs and passes untouched.
#pragma once
#include <string>
#include <string_view>

#include "base/random.h"
#include "http/message.h"

namespace damper::http {

std::string websocket_key(Random& random);           // of 16 octets
std::string websocket_accept(std::string_view key);  // what sec-websocket-accept has to be

// That of one attempt.
class WebSocketHandshake {
 public:
  static bool is_needed(const RequestHead& asked, bool http2_upstream) {
    return !asked.upgrade.empty() && (asked.protocol == Protocol::kHttp2) != http2_upstream;
  }

  // `asked`: the client's request, to an upstream that speaks another version. An HTTP/2 client
  // that sends a key all the same gets the answer to it, and judges that.
  WebSocketHandshake(const RequestHead& asked, Random& random);

  RequestHead request(const RequestHead& asked) const;  // what goes to the upstream
  // Makes the upstream's answer the client's. False: it must not have it. Either it does not fit
  // our key, or it is a success without the upgrade, which HTTP/2 could only read as the upgrade.
  bool take_answer(ResponseHead& answer) const;

 private:
  bool http2_client_;
  std::string key_;  // the HTTP/1 client's, or ours; empty: there is none that would concern us
};

}  // namespace damper::http
