// Digests as text. They stand among the files of TLS because OpenSSL computes them, and only these
// may include it; whoever else needs one (http/websocket) includes this.
#pragma once
#include <string>
#include <string_view>

namespace damper::net {

std::string base64(std::string_view octets);
std::string sha1_base64(std::string_view text);
std::string sha256_base64(std::string_view text);

}  // namespace damper::net
