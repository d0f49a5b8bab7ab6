// What a TLS handshake has found out: for logs and for whoever decides by it.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace damper::net {

// Of one connection.
struct TlsFacts {
  std::string_view version;  // "TLSv1.3"
  std::string_view cipher;   // "TLS_AES_128_GCM_SHA256"
  std::string server_name;   // SNI; empty: none was sent
  bool resumed = false;
  std::string peer_subject;  // RFC 2253; empty: the peer showed no certificate
  std::vector<std::string> peer_dns_sans;
  std::vector<std::string> peer_uri_sans;
  std::string local_subject;  // of what we have shown; empty: nothing
  std::vector<std::string> local_dns_sans;
  std::vector<std::string> local_uri_sans;
};

// Of one certificate that we show, or of a root that we trust.
struct CertificateFacts {
  std::string source;  // its file; empty: it stands in the configuration
  std::string secret;  // the name of the secret that it is of; empty: of none
  std::string subject;
  std::string serial;              // lower-case hexadecimal
  std::vector<std::string> names;  // its DNS names; the common name if it has none
  std::vector<std::string> dns_sans;
  std::vector<std::string> uri_sans;
  std::vector<std::string> ip_sans;
  WallTime not_before{};
  WallTime not_after{};
};

// The handshakes of a listener or a cluster, by what came of them: Envoy's ssl.* statistics. Shared
// by the workers; a handshake costs a thousand times what an atomic addition costs.
class TlsCounts {
 public:
  enum Count : std::uint8_t {
    kHandshake,
    kSessionReused,
    kVersion12,
    kVersion13,
    kNoCertificate,    // accepted without one of the peer
    kConnectionError,  // TLS failed, in the handshake or later
    kFailVerifyNoCert,
    kFailVerifyError,
    kFailVerifySan,
    kFailVerifyCertHash,
    kContextUpdate,      // new certificates were taken
    kKeyRotationFailed,  // changed files were not taken: what was there before stays
    kCounts,
  };

  void add(Count c) { counts_[c].fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t get(Count c) const { return counts_[c].load(std::memory_order_relaxed); }
  static std::string_view name(Count c);  // "handshake", "versions.TLSv1.3"

  // Ten lines a second: a scanner must not fill a disk.
  bool may_log(WallTime now);

 private:
  std::array<std::atomic<std::uint64_t>, kCounts> counts_{};
  std::atomic<std::int64_t> log_second_{0};
  std::atomic<int> lines_{0};
};

}  // namespace damper::net
