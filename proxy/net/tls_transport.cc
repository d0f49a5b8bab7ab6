#include "net/tls_transport.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/log.h"
#include "net/address.h"

namespace damper::net {
namespace {

constexpr std::size_t kRecordBytes = SSL3_RT_MAX_PLAIN_LENGTH;

bool was_cut() { return ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING; }

// The beginning of a buffer in one piece, a record's worth at most: where it stands, or copied.
std::string_view first_record(const Buffer& from, char* scratch) {
  constexpr int kRuns = 64;
  const std::size_t n = std::min(from.size(), kRecordBytes);
  if (from.front().size() >= n) return from.front().substr(0, n);
  iovec runs[kRuns];
  const int count = from.peek(runs, kRuns);
  std::size_t filled = 0;
  for (int i = 0; i < count && filled < n; ++i) {
    const std::size_t part = std::min(runs[i].iov_len, n - filled);
    std::memcpy(scratch + filled, runs[i].iov_base, part);
    filled += part;
  }
  return {scratch, filled};
}

std::string peer_text(int fd) {
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) != 0) return "gone";
  return Address(reinterpret_cast<const sockaddr*>(&peer), length).to_string();
}

}  // namespace

TlsTransport::TlsTransport(std::shared_ptr<const TlsProfile> profile)
    : profile_(std::move(profile)), ssl_(profile_->new_ssl()) {
  DAMPER_CHECK(ssl_);
  SSL_set_app_data(ssl_.get(), &check_);
  SSL_set_accept_state(ssl_.get());
}

TlsTransport::TlsTransport(std::shared_ptr<const TlsProfile> profile, const Wishes& wishes)
    : profile_(std::move(profile)),
      check_{.name = wishes.name, .name_must_match = wishes.name_must_match, .why = {}},
      ssl_(profile_->new_ssl()),
      needs_h2_(wishes.needs_h2) {
  DAMPER_CHECK(ssl_);
  SSL_set_app_data(ssl_.get(), &check_);
  SSL_set_connect_state(ssl_.get());
  const std::string& name = wishes.name;
  if (!name.empty() && !Address::from_ip(name, 0)) {
    SSL_set_tlsext_host_name(ssl_.get(), name.c_str());
  }
  if (!wishes.alpn.empty()) {
    SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(wishes.alpn.data()),
                        static_cast<unsigned>(wishes.alpn.size()));
  }
  if (const SessionPtr session = profile_->sessions().take(name)) {
    SSL_set_session(ssl_.get(), session.get());
  }
  forget_errors();
}

// Without the flags OpenSSL would take the missing close_notify for a reason to forget the session.
TlsTransport::~TlsTransport() {
  if (!broken_) SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

void TlsTransport::attach(int fd) {
  if (std::exchange(attached_, true)) return;
  SSL_set_fd(ssl_.get(), fd);
}

Result<Progress> TlsTransport::handshake(int fd) {
  attach(fd);
  forget_errors();
  const int done = SSL_do_handshake(ssl_.get());
  if (done == 1) {
    established();
    if (!needs_h2_ || alpn() == "h2") return Progress{};
    return Error{Errc::kRefused, peer_side(), "ALPN: the server does not speak h2"};
  }
  switch (const int why = SSL_get_error(ssl_.get(), done)) {
    case SSL_ERROR_WANT_READ: return Progress{.next = Progress::Next::kWantRead};
    case SSL_ERROR_WANT_WRITE: return Progress{.next = Progress::Next::kWantWrite};
    default: return handshake_failed(fd, why);
  }
}

void TlsTransport::established() {
  forget_errors();  // a ticket of an older key is no failure, and may have left a word
  established_ = true;
  // The client's first request may have come along with the end of its handshake.
  more_to_read_ = SSL_has_pending(ssl_.get()) == 1;
  TlsCounts& counts = profile_->counts();
  counts.add(TlsCounts::kHandshake);
  counts.add(SSL_version(ssl_.get()) == TLS1_3_VERSION ? TlsCounts::kVersion13
                                                       : TlsCounts::kVersion12);
  if (SSL_session_reused(ssl_.get()) == 1) counts.add(TlsCounts::kSessionReused);
  if (!SSL_get0_peer_certificate(ssl_.get())) counts.add(TlsCounts::kNoCertificate);
}

Side TlsTransport::peer_side() const {
  return profile_->role() == TlsProfile::Role::kServer ? Side::kDownstream : Side::kUpstream;
}

Error TlsTransport::handshake_failed(int fd, int why) {
  const int error = errno;
  broken_ = true;
  TlsCounts& counts = profile_->counts();
  if (why == SSL_ERROR_SYSCALL && ERR_peek_error() == 0) {
    return {Errc::kRefused, peer_side(),
            error == 0 ? "the peer left in the TLS handshake" : std::strerror(error)};
  }
  const bool cut = was_cut();
  const bool no_certificate =
      ERR_GET_REASON(ERR_peek_error()) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE;
  const std::string what = take_tls_error(check_.why);
  // Who only looks whether a port is open leaves without a word, and is not worth one.
  if (cut && peer_side() == Side::kDownstream) return {Errc::kRefused, peer_side(), what};
  if (!cut) counts.add(TlsCounts::kConnectionError);
  if (no_certificate) counts.add(TlsCounts::kFailVerifyNoCert);
  if (!check_.why.empty()) counts.add(check_.failure);
  log_failure(fd, what);
  return {Errc::kRefused, peer_side(), what};
}

void TlsTransport::log_failure(int fd, const std::string& what) const {
  const bool allowed = profile_->counts().may_log(std::chrono::system_clock::now());
  log::line(allowed ? log::Level::kWarn : log::Level::kDebug,
            "tls_handshake_failed {} peer={} why=\"{}\"", profile_->log_name(), peer_text(fd),
            what);
}

// A failure of an established connection.
Error TlsTransport::broken(int why) {
  const int error = errno;
  broken_ = true;
  if (was_cut() || (why == SSL_ERROR_SYSCALL && ERR_peek_error() == 0 && error == 0)) {
    ERR_clear_error();
    return {Errc::kReset, peer_side(), "truncated: the peer ended without TLS close_notify"};
  }
  if (why == SSL_ERROR_SYSCALL && ERR_peek_error() == 0) {
    return {error == ETIMEDOUT ? Errc::kTimeout : Errc::kReset, Side::kLocal, std::strerror(error)};
  }
  profile_->counts().add(TlsCounts::kConnectionError);
  return {Errc::kReset, peer_side(), take_tls_error({})};
}

Result<Progress> TlsTransport::read(int, char* into, std::size_t at_most) {
  more_to_read_ = false;
  if (failure_) return *failure_;
  forget_errors();
  std::size_t total = 0;
  while (total < at_most) {
    std::size_t n = 0;
    const int good = SSL_read_ex(ssl_.get(), into + total, at_most - total, &n);
    total += n;
    if (good == 1) {
      // All that the last system call brought is used up; what is left in the socket is announced.
      if (SSL_has_pending(ssl_.get()) == 0) return Progress{.bytes = total};
      continue;
    }
    const int why = SSL_get_error(ssl_.get(), good);
    if (why == SSL_ERROR_WANT_READ) {
      return Progress{.bytes = total,
                      .next = total > 0 ? Progress::Next::kMore : Progress::Next::kWantRead};
    }
    more_to_read_ = total > 0;  // what it was is told with the next read
    if (why == SSL_ERROR_WANT_WRITE) {
      return Progress{.bytes = total,
                      .next = total > 0 ? Progress::Next::kMore : Progress::Next::kWantWrite};
    }
    if (why == SSL_ERROR_ZERO_RETURN) {
      if (total > 0) return Progress{.bytes = total};
      return Progress{.next = Progress::Next::kEof};
    }
    Error error = broken(why);
    if (total == 0) return error;
    failure_ = std::make_unique<Error>(std::move(error));
    return Progress{.bytes = total};
  }
  more_to_read_ = true;
  return Progress{.bytes = total};
}

// One record a call. After a write that has blocked OpenSSL wants the same bytes again and allows
// more of them: what waits in `from` only grows at its end, so that is what it gets.
Result<Progress> TlsTransport::write(int, Buffer& from) {
  char scratch[kRecordBytes];
  const std::string_view bytes = first_record(from, scratch);
  forget_errors();
  std::size_t written = 0;
  const int good = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &written);
  if (good == 1) {
    from.drain(written);
    return Progress{.bytes = written};
  }
  switch (const int why = SSL_get_error(ssl_.get(), good)) {
    case SSL_ERROR_WANT_WRITE: return Progress{.next = Progress::Next::kWantWrite};
    case SSL_ERROR_WANT_READ: return Progress{.next = Progress::Next::kWantRead};
    default: return broken(why);
  }
}

void TlsTransport::finish(int) {
  if (!established_ || broken_) return;
  forget_errors();
  SSL_shutdown(ssl_.get());
  forget_errors();
}

void TlsTransport::shutdown(int fd) {
  finish(fd);
  (void)::shutdown(fd, SHUT_WR);
}

std::string_view TlsTransport::alpn() const {
  const unsigned char* name = nullptr;
  unsigned length = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &length);
  return {reinterpret_cast<const char*>(name), length};
}

const TlsFacts* TlsTransport::tls() const {
  if (!established_) return nullptr;
  if (facts_) return facts_.get();
  auto facts = std::make_unique<TlsFacts>();
  facts->version = SSL_get_version(ssl_.get());
  facts->cipher = SSL_get_cipher_name(ssl_.get());
  const char* name = SSL_get_servername(ssl_.get(), TLSEXT_NAMETYPE_host_name);
  if (name) facts->server_name = name;
  facts->resumed = SSL_session_reused(ssl_.get()) == 1;
  if (const X509* peer = SSL_get0_peer_certificate(ssl_.get())) {
    facts->peer_subject = text_of(X509_get_subject_name(peer));
    facts->peer_dns_sans = subject_alt_names(peer, GEN_DNS);
    facts->peer_uri_sans = subject_alt_names(peer, GEN_URI);
  }
  if (const X509* shown = SSL_get_certificate(ssl_.get())) {
    facts->local_subject = text_of(X509_get_subject_name(shown));
    facts->local_dns_sans = subject_alt_names(shown, GEN_DNS);
    facts->local_uri_sans = subject_alt_names(shown, GEN_URI);
  }
  forget_errors();
  facts_ = std::move(facts);
  return facts_.get();
}

}  // namespace damper::net
