#include "tests/support/wire.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "net/tls_openssl.h"

namespace damper::tests {
namespace {

constexpr int kPatienceMs = 10'000;

void set_patience(int fd) {
  const timeval patience{.tv_sec = kPatienceMs / 1000, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

std::string word(const std::string& line, int index) {
  const auto words = split(line, ' ');
  return index < static_cast<int>(words.size())
             ? std::string(words[static_cast<std::size_t>(index)])
             : "";
}

}  // namespace

int WireMessage::status() const {
  return static_cast<int>(parse_number(word(start_line, 1)).value_or(0));
}
std::string WireMessage::method() const { return word(start_line, 0); }
std::string WireMessage::target() const { return word(start_line, 1); }

std::optional<std::string> WireMessage::field(std::string_view name) const {
  for (const auto& [key, value] : fields) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::size_t WireMessage::count(std::string_view name) const {
  std::size_t n = 0;
  for (const auto& [key, value] : fields) n += key == name ? 1 : 0;
  return n;
}

WireConnection WireConnection::connect_to(std::uint16_t port, const char* from) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in source{};
  source.sin_family = AF_INET;
  ::inet_pton(AF_INET, from, &source.sin_addr);
  sockaddr_in address = source;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  if (::bind(fd, reinterpret_cast<sockaddr*>(&source), sizeof source) != 0 ||
      ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    ::close(fd);
    return WireConnection(-1);
  }
  return WireConnection(fd);
}

WireConnection::WireConnection(int fd) : fd_(fd) {
  if (fd_ >= 0) set_patience(fd_);
}

WireConnection::WireConnection(WireConnection&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      ssl_(std::move(other.ssl_)),
      buffer_(std::move(other.buffer_)) {}

WireConnection& WireConnection::operator=(WireConnection&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(ssl_, other.ssl_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

WireConnection::~WireConnection() { close(); }

bool WireConnection::start_tls(SSL_CTX* context, bool is_server, const std::string& name,
                               const Pair* certificate) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> owned(context, &SSL_CTX_free);
  ssl_.reset(SSL_new(context), SSL_free);
  if (certificate) {
    const net::BioPtr pem(BIO_new_mem_buf(certificate->certificate.data(), -1));
    const net::BioPtr key_pem(BIO_new_mem_buf(certificate->key.data(), -1));
    const net::X509Ptr leaf(PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr));
    const net::KeyPtr key(PEM_read_bio_PrivateKey(key_pem.get(), nullptr, nullptr, nullptr));
    SSL_use_cert_and_key(ssl_.get(), leaf.get(), key.get(), nullptr, 1);
  }
  SSL_set_fd(ssl_.get(), fd_);
  if (!name.empty()) SSL_set_tlsext_host_name(ssl_.get(), name.c_str());
  const int done = is_server ? SSL_accept(ssl_.get()) : SSL_connect(ssl_.get());
  ERR_clear_error();
  return done == 1;
}

bool WireConnection::connect_tls(const std::string& name, const Pair* certificate) {
  return start_tls(SSL_CTX_new(TLS_client_method()), false, name, certificate);
}

bool WireConnection::accept_tls(const Pair& certificate) {
  return start_tls(SSL_CTX_new(TLS_server_method()), true, "", &certificate);
}

void WireConnection::finish_tls() { SSL_shutdown(ssl_.get()); }

std::string WireConnection::peer_name() const {
  const X509* peer = ssl_ ? SSL_get0_peer_certificate(ssl_.get()) : nullptr;
  char name[256] = "";
  if (peer) {
    X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, name, sizeof name);
  }
  return name;
}

bool WireConnection::send(std::string_view bytes) {
  if (ssl_) {
    const int n = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
    ERR_clear_error();
    return n == static_cast<int>(bytes.size());
  }
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool WireConnection::fill() {
  char bytes[64 * 1024];
  const ssize_t n =
      ssl_ ? SSL_read(ssl_.get(), bytes, sizeof bytes) : ::recv(fd_, bytes, sizeof bytes, 0);
  if (ssl_) ERR_clear_error();
  if (n <= 0) return false;
  buffer_.append(bytes, static_cast<std::size_t>(n));
  return true;
}

std::optional<std::string> WireConnection::read_line() {
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n")) == std::string::npos) {
    if (!fill()) return std::nullopt;
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 2);
  return line;
}

bool WireConnection::read_fields(std::vector<std::pair<std::string, std::string>>& out) {
  while (const auto line = read_line()) {
    if (line->empty()) return true;
    const auto colon = line->find(':');
    if (colon == std::string::npos) return false;
    out.emplace_back(lower(line->substr(0, colon)),
                     std::string(trim(std::string_view(*line).substr(colon + 1))));
  }
  return false;
}

void WireConnection::read_body(WireMessage& message, bool is_response, bool bodiless) {
  if (bodiless) {
    message.complete = true;
    return;
  }
  if (message.field("transfer-encoding")) {
    while (const auto size_line = read_line()) {
      const std::size_t size = std::stoul(*size_line, nullptr, 16);
      if (size == 0) {
        message.complete = read_fields(message.trailers);
        return;
      }
      while (buffer_.size() < size + 2) {
        if (!fill()) {
          message.body += buffer_;
          buffer_.clear();
          return;
        }
      }
      message.body += buffer_.substr(0, size);
      buffer_.erase(0, size + 2);
    }
    return;
  }
  const auto length = message.field("content-length");
  if (!length && !is_response) {
    message.complete = true;
    return;
  }
  const auto wanted = length ? parse_number(*length) : std::nullopt;
  while (!wanted || buffer_.size() < *wanted) {
    if (fill()) continue;
    message.complete = !wanted;
    message.body = std::exchange(buffer_, "");
    return;
  }
  message.body = buffer_.substr(0, *wanted);
  buffer_.erase(0, *wanted);
  message.complete = true;
}

std::optional<WireMessage> WireConnection::read_request() {
  WireMessage message;
  const auto line = read_line();
  if (!line) return std::nullopt;
  message.start_line = *line;
  if (!read_fields(message.fields)) return std::nullopt;
  read_body(message, false, false);
  return message;
}

std::optional<WireMessage> WireConnection::read_response(bool to_head, std::vector<int>* interim) {
  while (true) {
    WireMessage message;
    const auto line = read_line();
    if (!line) return std::nullopt;
    message.start_line = *line;
    if (!read_fields(message.fields)) return std::nullopt;
    const int status = message.status();
    if (status >= 100 && status < 200 && status != 101) {
      if (interim) interim->push_back(status);
      continue;
    }
    read_body(message, true, to_head || status == 101 || status == 204 || status == 304);
    return message;
  }
}

std::string WireConnection::read_some() {
  if (buffer_.empty()) fill();
  return std::exchange(buffer_, "");
}

bool WireConnection::wait_for_close() {
  char bytes[4096];
  while (true) {
    pollfd poll_for{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&poll_for, 1, kPatienceMs) <= 0) return false;
    if (::recv(fd_, bytes, sizeof bytes, 0) <= 0) return true;
  }
}

bool WireConnection::readable_within(int milliseconds) {
  if (!buffer_.empty()) return true;
  pollfd poll_for{.fd = fd_, .events = POLLIN, .revents = 0};
  return ::poll(&poll_for, 1, milliseconds) > 0;
}

void WireConnection::half_close() { ::shutdown(fd_, SHUT_WR); }

void WireConnection::close() {
  ssl_.reset();
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void WireConnection::reset() {
  const linger abort{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
  close();
}

}  // namespace damper::tests
