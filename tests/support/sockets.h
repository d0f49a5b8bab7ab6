// Connected sockets for tests on one thread: one end for the code under test, a Peer that never
// blocks for the test.
#pragma once
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "base/check.h"
#include "event/loop.h"
#include "net/socket.h"

namespace damper::tests {

// Turns of the loop until something holds; false: it does not within ten seconds.
inline bool run_until(event::Loop& loop, const std::function<bool()>& done) {
  const TimePoint give_up = Clock::now() + std::chrono::seconds(10);
  while (!done()) {
    if (Clock::now() > give_up) return false;
    loop.run_once();
  }
  return true;
}

inline void run_turns(event::Loop& loop, int turns) {
  for (int i = 0; i < turns; ++i) loop.run_once();
}

class Peer {
 public:
  Peer() = default;
  explicit Peer(net::Fd fd) : fd_(std::move(fd)) {}

  bool send(std::string_view bytes) {
    return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
           static_cast<ssize_t>(bytes.size());
  }
  // All that has come so far.
  const std::string& received() {
    char bytes[64 * 1024];
    ssize_t n = 0;
    while (!ended_ && (n = ::recv(fd_.get(), bytes, sizeof bytes, MSG_DONTWAIT)) != 0) {
      if (n < 0 && errno == EAGAIN) return received_;
      if (n < 0) break;
      received_.append(bytes, static_cast<std::size_t>(n));
    }
    reset_ = reset_ || n < 0;
    ended_ = true;
    return received_;
  }
  std::string take() {
    received();
    return std::exchange(received_, {});
  }
  bool ended() { return received(), ended_; }  // by FIN or RST
  bool was_reset() { return received(), reset_; }

  void half_close() { ::shutdown(fd_.get(), SHUT_WR); }
  void close() { fd_ = {}; }
  void reset() {
    net::set_abortive_close(fd_.get());
    close();
  }
  int fd() const { return fd_.get(); }
  explicit operator bool() const { return static_cast<bool>(fd_); }

 private:
  net::Fd fd_;
  std::string received_;
  bool ended_ = false;
  bool reset_ = false;
};

// A listening socket on a free port of 127.0.0.1.
class Backend {
 public:
  explicit Backend(int backlog = 128)
      : fd_(*net::listen_on(*net::Address::from_ip("127.0.0.1", 0), {.backlog = backlog})) {}

  net::Address address() const { return net::Address::local_of(fd_.get()); }
  Peer accept() {  // an empty one: nobody is there
    net::Fd fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) net::set_no_delay(fd.get());
    return Peer(std::move(fd));
  }

 private:
  net::Fd fd_;
};

// An address on which nobody listens.
inline net::Address deserted_address() { return Backend().address(); }

struct SocketPair {
  explicit SocketPair(int buffer_bytes = 0) {
    std::signal(SIGPIPE, SIG_IGN);  // as the server does
    Backend backend;
    ours = *net::connect_to(backend.address(), std::nullopt);
    net::set_no_delay(ours.get());
    if (buffer_bytes > 0) {
      (void)setsockopt(ours.get(), SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
    }
    peer = backend.accept();
    DAMPER_CHECK(peer);
  }

  net::Fd ours;
  Peer peer;
};

}  // namespace damper::tests
