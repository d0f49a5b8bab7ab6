#include "http/websocket.h"

#include <cstring>

#include "net/tls_digest.h"

namespace damper::http {
namespace {

constexpr std::string_view kKey = "sec-websocket-key";
constexpr std::string_view kAccept = "sec-websocket-accept";

}  // namespace

std::string websocket_key(Random& random) {
  const std::uint64_t bits[] = {random.next(), random.next()};
  char octets[sizeof bits];
  std::memcpy(octets, bits, sizeof bits);
  return net::base64({octets, sizeof octets});
}

std::string websocket_accept(std::string_view key) {
  constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // RFC 6455 §1.3
  return net::sha1_base64(std::string(key).append(kGuid));
}

WebSocketHandshake::WebSocketHandshake(const RequestHead& asked, Random& random)
    : http2_client_(asked.protocol == Protocol::kHttp2) {
  const auto clients = asked.fields.find(kKey);
  if (!http2_client_) {
    key_ = clients.value_or("");
  } else if (!clients) {
    key_ = websocket_key(random);
  }
}

RequestHead WebSocketHandshake::request(const RequestHead& asked) const {
  RequestHead out = asked.clone();
  if (!http2_client_) {
    out.fields.remove(kKey);
  } else if (!key_.empty()) {
    out.fields.add(kKey, key_);
  }
  return out;
}

bool WebSocketHandshake::take_answer(ResponseHead& answer) const {
  const bool granted = answer.status == 101;
  if (!http2_client_) {
    if (granted && !key_.empty()) answer.fields.set(kAccept, websocket_accept(key_));
    return true;
  }
  if (!granted) return answer.status >= 300;
  if (key_.empty()) return true;
  const bool fits = answer.fields.find(kAccept) == websocket_accept(key_);
  answer.fields.remove(kAccept);
  return fits;
}

}  // namespace damper::http
