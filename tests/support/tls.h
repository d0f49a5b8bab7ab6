// A TLS server and a TLS client at the two ends of a socket pair, on one thread.
#pragma once
#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>

#include "net/socket.h"
#include "net/tls_context.h"
#include "net/transport.h"
#include "tests/support/certificates.h"

namespace damper::tests {

inline net::TlsTools tls_tools() {
  return {.text_match = [](const config::StringMatch& rule) -> Result<net::TextMatch> {
            return net::TextMatch([rule](std::string_view text) {
              using Kind = config::StringMatch::Kind;
              switch (rule.kind) {
                case Kind::kExact: return text == rule.text;
                case Kind::kPrefix: return text.starts_with(rule.text);
                case Kind::kSuffix: return text.ends_with(rule.text);
                case Kind::kContains: return text.find(rule.text) != std::string_view::npos;
                case Kind::kRegex: return false;
              }
              return false;
            });
          },
          .certificate_secret = {},
          .validation_secret = {},
          .system_roots = net::make_system_roots()};
}

inline config::TlsCertificate inline_certificate(const Pair& pair) {
  return {.chain = {.file = {}, .text = pair.certificate}, .key = {.file = {}, .text = pair.key}};
}

class TlsPair {
 public:
  using Http = config::UpstreamHttp;

  // Of the settings the test may change what it wants before it connects.
  explicit TlsPair(int buffer_bytes = 0) : buffer_bytes_(buffer_bytes) {
    std::signal(SIGPIPE, SIG_IGN);
    server_settings.common.certificates = {
        inline_certificate(self_signed({.name = "server", .alt_names = {"DNS:a.test"}}))};
  }

  bool prepare(const std::string& name = "", const std::string& request_host = "",
               Http http = Http::kAuto) {
    if (!make_contexts()) return false;
    int ends[2];
    ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends);
    client_end_ = net::Fd(ends[0]);
    server_end_ = net::Fd(ends[1]);
    for (const int fd : ends) {
      if (buffer_bytes_ > 0) {
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer_bytes_, sizeof buffer_bytes_);
      }
    }
    server = server_tls->make_transport();
    client = client_tls->make_transport(name, request_host, http);
    return true;
  }

  // Both handshakes have ended well.
  bool connect(const std::string& name = "", const std::string& request_host = "",
               Http http = Http::kAuto) {
    return prepare(name, request_host, http) && shake();
  }
  bool reconnect(const std::string& name = "") {
    client.reset();
    server.reset();
    return connect(name);
  }

  void send(const std::string& text) {
    Buffer out;
    out.append(text);
    while (!out.empty()) (void)client->write(client_fd(), out);
  }
  std::string read_once() { return read_from(*server, server_fd()); }

  // A word in each direction.
  void exchange() {
    send("x");
    read_once();
    Buffer out;
    out.append("y");
    (void)server->write(server_fd(), out);
    read_from(*client, client_fd());
  }

  // What arrives of the data.
  std::string carry(const std::string& data, bool upwards) {
    net::Transport& from = upwards ? *client : *server;
    net::Transport& to = upwards ? *server : *client;
    Buffer out;
    out.append(data);
    std::string got;
    for (int turns = 0; got.size() < data.size() && turns < 100'000; ++turns) {
      for (bool more = true; more && !out.empty();) {
        const auto sent = from.write(upwards ? client_fd() : server_fd(), out);
        more = sent && sent->next == net::Progress::Next::kMore;
      }
      got += read_from(to, upwards ? server_fd() : client_fd());
    }
    return got;
  }

  int client_fd() const { return client_end_.get(); }
  int server_fd() const { return server_end_.get(); }
  const Error& client_error() const { return *client_error_; }
  const Error& server_error() const { return *server_error_; }
  std::uint64_t server_count(net::TlsCounts::Count c) {
    return server_tls->rotation().counts()->get(c);
  }
  std::uint64_t client_count(net::TlsCounts::Count c) {
    return client_tls->rotation().counts()->get(c);
  }

  config::DownstreamTls server_settings;
  config::UpstreamTls client_settings;
  std::shared_ptr<net::TlsServer> server_tls;
  std::shared_ptr<net::TlsClient> client_tls;
  std::unique_ptr<net::Transport> server;
  std::unique_ptr<net::Transport> client;

 private:
  bool make_contexts() {
    if (server_tls) return true;
    auto made_server = net::TlsServer::create(server_settings, tls_tools(), "server");
    auto made_client = net::TlsClient::create(client_settings, tls_tools(), "client");
    if (!made_server || !made_client) return false;
    server_tls = *std::move(made_server);
    client_tls = *std::move(made_client);
    return true;
  }

  // In TLS 1.3 a server may refuse the client's certificate when the client is through already: it
  // learns of it with its first read.
  bool shake() {
    using Next = net::Progress::Next;
    bool client_done = false;
    bool server_done = false;
    for (int turns = 0; turns < 100 && !(client_done && server_done); ++turns) {
      if (!client_done) {
        const auto progress = client->handshake(client_fd());
        if (!progress) client_error_ = progress.error();
        client_done = !progress || progress->next == Next::kMore;
      }
      if (!server_done) {
        const auto progress = server->handshake(server_fd());
        if (!progress) server_error_ = progress.error();
        server_done = !progress || progress->next == Next::kMore;
      }
    }
    return client_done && server_done && !client_error_ && !server_error_;
  }

  static std::string read_from(net::Transport& transport, int fd) {
    std::string bytes(64 * 1024, '\0');
    const auto progress = transport.read(fd, bytes.data(), bytes.size());
    bytes.resize(progress ? progress->bytes : 0);
    return bytes;
  }

  const int buffer_bytes_;
  net::Fd client_end_;
  net::Fd server_end_;
  std::optional<Error> client_error_;
  std::optional<Error> server_error_;
};

}  // namespace damper::tests
