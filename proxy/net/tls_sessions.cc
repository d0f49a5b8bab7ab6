#include "net/tls_sessions.h"

#include <utility>

namespace damper::net {

void SessionStore::put(const std::string& name, SessionPtr session) {
  if (per_name_ == 0) return;
  const std::lock_guard lock(mu_);
  if (by_name_.size() >= kNames && by_name_.count(name) == 0) by_name_.erase(by_name_.begin());
  auto& sessions = by_name_[name];
  sessions.push_back(std::move(session));
  if (sessions.size() > per_name_) sessions.pop_front();
}

SessionPtr SessionStore::take(const std::string& name) {
  const std::lock_guard lock(mu_);
  const auto at = by_name_.find(name);
  if (at == by_name_.end()) return nullptr;
  auto& sessions = at->second;
  SessionPtr session;
  if (SSL_SESSION_get_protocol_version(sessions.back().get()) == TLS1_3_VERSION) {
    session = std::move(sessions.back());
    sessions.pop_back();
  } else {
    SSL_SESSION_up_ref(sessions.back().get());
    session.reset(sessions.back().get());
  }
  if (sessions.empty()) by_name_.erase(at);
  return session;
}

}  // namespace damper::net
