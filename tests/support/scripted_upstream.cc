#include "tests/support/scripted_upstream.h"

#include <algorithm>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

namespace damper::tests {
namespace {

constexpr std::chrono::seconds kPatience(10);

// A socket on a free port of 127.0.0.1.
int bound_socket(std::uint16_t& port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd, any, length) != 0 || ::getsockname(fd, any, &length) != 0) std::abort();
  port = ntohs(address.sin_port);
  return fd;
}

}  // namespace

ScriptedUpstream::ScriptedUpstream(Script script) : script_(std::move(script)) {
  listener_ = bound_socket(port_);
  if (::listen(listener_, 1024) != 0) std::abort();
  acceptor_ = std::thread([this] { accept_connections(); });
}

ScriptedUpstream::~ScriptedUpstream() {
  {
    const std::lock_guard lock(mu_);
    stopping_ = true;
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  wait_for_scripts_to_end();
  join_finished();
  ::close(listener_);
}

void ScriptedUpstream::join_finished() {
  std::list<std::thread> finished;
  {
    const std::lock_guard lock(mu_);
    finished.swap(finished_);
  }
  for (std::thread& thread : finished) thread.join();
}

void ScriptedUpstream::accept_connections() {
  for (int number = 0;; ++number) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    join_finished();
    const std::lock_guard lock(mu_);
    if (stopping_) {
      ::close(fd);
      return;
    }
    ++accepted_;
    ++running_;
    open_.push_back(fd);
    const auto thread = threads_.emplace(threads_.end());
    *thread = std::thread([this, fd, number, thread] {
      WireConnection connection(fd);
      script_(*this, connection, number);
      const std::lock_guard inner(mu_);
      open_.remove(fd);
      connection.close();
      --running_;
      finished_.splice(finished_.end(), threads_, thread);
      changed_.notify_all();
    });
    changed_.notify_all();
  }
}

std::optional<WireMessage> ScriptedUpstream::receive(WireConnection& connection) {
  const auto request = connection.read_request();
  if (request) record(*request);
  return request;
}

void ScriptedUpstream::record(const WireMessage& request) {
  const std::lock_guard lock(mu_);
  requests_.push_back(request);
  changed_.notify_all();
}

std::vector<WireMessage> ScriptedUpstream::requests() const {
  const std::lock_guard lock(mu_);
  return requests_;
}

std::size_t ScriptedUpstream::connections() const {
  const std::lock_guard lock(mu_);
  return accepted_;
}

bool ScriptedUpstream::wait_for_requests(std::size_t n) const {
  std::unique_lock lock(mu_);
  return changed_.wait_for(lock, kPatience, [&] { return requests_.size() >= n; });
}

bool ScriptedUpstream::wait_for_connections(std::size_t n) const {
  std::unique_lock lock(mu_);
  return changed_.wait_for(lock, kPatience, [&] { return accepted_ >= n; });
}

bool ScriptedUpstream::wait_for_scripts_to_end() const {
  std::unique_lock lock(mu_);
  return changed_.wait_for(lock, kPatience, [&] { return running_ == 0; });
}

ScriptedUpstream::Script always(std::string response) {
  return [response = std::move(response)](ScriptedUpstream& self, WireConnection& connection, int) {
    while (self.receive(connection)) {
      if (!connection.send(response)) return;
    }
  };
}

ScriptedUpstream::Script in_turn(std::vector<std::string> responses) {
  return
      [responses = std::move(responses)](ScriptedUpstream& self, WireConnection& connection, int) {
        while (self.receive(connection)) {
          const std::size_t turn = std::min(self.requests().size(), responses.size()) - 1;
          if (responses[turn].empty() || !connection.send(responses[turn])) return;
        }
      };
}

ScriptedUpstream::Script silent() {
  return [](ScriptedUpstream& self, WireConnection& connection, int) {
    if (self.receive(connection)) connection.wait_for_close();
  };
}

RefusingPort::RefusingPort() : fd_(bound_socket(port_)) {}
RefusingPort::~RefusingPort() { ::close(fd_); }

std::string http_response(int status, std::string_view body, std::string_view more_headers) {
  std::string out = "HTTP/1.1 " + std::to_string(status) + " X\r\n";
  out.append(more_headers);
  out += "content-length: " + std::to_string(body.size()) + "\r\n\r\n";
  return out.append(body);
}

}  // namespace damper::tests
