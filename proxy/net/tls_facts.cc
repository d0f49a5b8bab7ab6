#include "net/tls_facts.h"

namespace damper::net {

std::string_view TlsCounts::name(Count c) {
  constexpr std::array<std::string_view, kCounts> kNames = {"handshake",
                                                            "session_reused",
                                                            "versions.TLSv1.2",
                                                            "versions.TLSv1.3",
                                                            "no_certificate",
                                                            "connection_error",
                                                            "fail_verify_no_cert",
                                                            "fail_verify_error",
                                                            "fail_verify_san",
                                                            "fail_verify_cert_hash",
                                                            "ssl_context_update_by_sds",
                                                            "key_rotation_failed"};
  return kNames[c];
}

bool TlsCounts::may_log(WallTime now) {
  constexpr int kLinesPerSecond = 10;
  const std::int64_t second =
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  if (log_second_.exchange(second, std::memory_order_relaxed) != second) {
    lines_.store(0, std::memory_order_relaxed);
  }
  return lines_.fetch_add(1, std::memory_order_relaxed) < kLinesPerSecond;
}

}  // namespace damper::net
