// A transport that follows a script: delivers these bytes, then wants to read, then is reset. It
// never touches the socket, whose readiness only drives the loop: keep a byte waiting in it.
#pragma once
#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <variant>

#include "net/transport.h"

namespace damper::tests {

// The test keeps it. What is done when the steps have run out: handshakes succeed, reads wait,
// writes take all.
struct TransportScript {
  using Next = net::Progress::Next;

  std::deque<std::variant<Next, Error>> handshakes;
  std::deque<std::variant<std::string, Next, Error>> reads;
  std::deque<std::variant<std::size_t, Next, Error>> writes;  // a number: takes that many bytes
  std::string written;
  int shutdowns = 0;
  int finishes = 0;
  bool buffers = false;  // as TLS does: the socket says nothing of the reads that are left
  Duration handshake_timeout{};
};

class ScriptedTransport final : public net::Transport {
 public:
  using Next = net::Progress::Next;

  explicit ScriptedTransport(TransportScript& script) : script_(script) {}

  Result<net::Progress> handshake(int) override {
    if (script_.handshakes.empty()) return net::Progress{};
    return result_of(pop(script_.handshakes));
  }

  Result<net::Progress> read(int, char* into, std::size_t at_most) override {
    if (script_.reads.empty()) return net::Progress{.next = Next::kWantRead};
    auto step = pop(script_.reads);
    auto* const bytes = std::get_if<std::string>(&step);
    if (!bytes) return result_of(step);
    const std::size_t n = bytes->copy(into, at_most);
    if (n < bytes->size()) script_.reads.emplace_front(bytes->substr(n));
    return net::Progress{.bytes = n};
  }

  Result<net::Progress> write(int, Buffer& from) override {
    if (script_.writes.empty()) return take(from, from.size());
    auto step = pop(script_.writes);
    const auto* const n = std::get_if<std::size_t>(&step);
    return n ? take(from, std::min(*n, from.size())) : result_of(step);
  }

  void finish(int) override { ++script_.finishes; }
  void shutdown(int) override { ++script_.shutdowns; }
  bool has_buffered() const override { return script_.buffers && !script_.reads.empty(); }
  Duration handshake_timeout() const override { return script_.handshake_timeout; }
  std::string_view alpn() const override { return {}; }

 private:
  template <class Steps>
  static typename Steps::value_type pop(Steps& steps) {
    auto step = std::move(steps.front());
    steps.pop_front();
    return step;
  }

  template <class Step>
  static Result<net::Progress> result_of(const Step& step) {
    if (const auto* const error = std::get_if<Error>(&step)) return *error;
    return net::Progress{.next = std::get<Next>(step)};
  }

  net::Progress take(Buffer& from, std::size_t n) {
    script_.written += from.to_string().substr(0, n);
    from.drain(n);
    return {.bytes = n};
  }

  TransportScript& script_;
};

}  // namespace damper::tests
