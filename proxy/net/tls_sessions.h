// The sessions that a client may resume, by the name of the server. Thread-safe.
#pragma once
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "net/tls_openssl.h"

namespace damper::net {

class SessionStore {
 public:
  explicit SessionStore(std::size_t per_name) : per_name_(per_name) {}

  void put(const std::string& name, SessionPtr session);
  // The youngest; null: none. One of TLS 1.3 is used once (RFC 8446 appendix C.4).
  SessionPtr take(const std::string& name);

 private:
  static constexpr std::size_t kNames = 1024;  // with auto_sni clients choose the names

  const std::size_t per_name_;
  std::mutex mu_;
  std::map<std::string, std::deque<SessionPtr>> by_name_;  // guarded by mu_
};

}  // namespace damper::net
