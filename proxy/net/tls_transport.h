// TLS over a socket, by OpenSSL directly on the descriptor: no second copy of the bytes.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "net/tls_profile.h"
#include "net/transport.h"

namespace damper::net {

class TlsTransport final : public Transport {
 public:
  explicit TlsTransport(std::shared_ptr<const TlsProfile> profile);  // a server's
  struct Wishes {
    std::string name;  // of the server; an IP address is not sent as SNI (RFC 6066 §3)
    bool name_must_match = false;
    std::string_view alpn;  // in the form of the wire; empty: as the profile has it
    bool needs_h2 = false;  // the handshake fails if the server does not agree to it
  };
  TlsTransport(std::shared_ptr<const TlsProfile> profile, const Wishes& wishes);  // a client's
  ~TlsTransport() override;

  Result<Progress> handshake(int fd) override;
  // Fills as much as there is. An end without close_notify is an Error: somebody may have cut it.
  Result<Progress> read(int fd, char* into, std::size_t at_most) override;
  Result<Progress> write(int fd, Buffer& from) override;
  void finish(int fd) override;
  void shutdown(int fd) override;
  std::string_view alpn() const override;
  bool has_buffered() const override { return more_to_read_; }
  const TlsFacts* tls() const override;
  Duration handshake_timeout() const override { return profile_->handshake_timeout(); }

 private:
  void attach(int fd);
  void established();
  Error handshake_failed(int fd, int why);
  Error broken(int why);
  Side peer_side() const;
  void log_failure(int fd, const std::string& what) const;

  const std::shared_ptr<const TlsProfile> profile_;
  PeerCheck check_;
  SslPtr ssl_;
  mutable std::unique_ptr<const TlsFacts> facts_;  // made when somebody asks
  std::unique_ptr<Error> failure_;  // found behind bytes that had to be delivered first
  bool attached_ = false;
  bool established_ = false;
  bool needs_h2_ = false;
  bool broken_ = false;  // OpenSSL must not be asked for close_notify any more
  bool more_to_read_ = false;
};

}  // namespace damper::net
