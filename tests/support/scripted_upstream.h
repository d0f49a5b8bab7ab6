// An upstream that does what a test says, byte by byte: a listening socket on a free port, a thread
// for each connection that runs the test's script, and a record of what came.
#pragma once
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "tests/support/wire.h"

namespace damper::tests {

class ScriptedUpstream {
 public:
  // Runs on the connection's own thread; `number` counts connections from 0. The connection is
  // closed after it.
  using Script =
      std::function<void(ScriptedUpstream& self, WireConnection& connection, int number)>;

  explicit ScriptedUpstream(Script script);
  ~ScriptedUpstream();
  ScriptedUpstream(const ScriptedUpstream&) = delete;
  ScriptedUpstream& operator=(const ScriptedUpstream&) = delete;

  std::uint16_t port() const { return port_; }
  std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }

  // Reads one request and remembers it; nothing at the end of the connection.
  std::optional<WireMessage> receive(WireConnection& connection);
  void record(const WireMessage& request);  // remembers one that the script has read itself

  std::vector<WireMessage> requests() const;  // so far, in the order of their ends
  std::size_t connections() const;
  bool wait_for_requests(std::size_t n) const;  // false after ten seconds
  bool wait_for_connections(std::size_t n) const;
  bool wait_for_scripts_to_end() const;  // every accepted connection's script has returned

 private:
  void accept_connections();
  void join_finished();

  Script script_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  mutable std::mutex mu_;
  mutable std::condition_variable changed_;
  std::vector<WireMessage> requests_;
  std::size_t accepted_ = 0;
  std::size_t running_ = 0;
  bool stopping_ = false;
  std::list<int> open_;
  std::list<std::thread> threads_;
  std::list<std::thread> finished_;  // their scripts have returned
  std::thread acceptor_;
};

// Answers every request on every connection alike.
ScriptedUpstream::Script always(std::string response);
// The first request gets the first response, and so on; the last one is repeated. An empty response
// closes the connection instead.
ScriptedUpstream::Script in_turn(std::vector<std::string> responses);
// Reads a request and never answers; its script ends when the proxy closes the connection.
ScriptedUpstream::Script silent();

// A port on which every connection is refused, for as long as this lives.
class RefusingPort {
 public:
  RefusingPort();
  ~RefusingPort();
  RefusingPort(const RefusingPort&) = delete;
  RefusingPort& operator=(const RefusingPort&) = delete;
  std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int fd_;  // bound, and nobody listens
  std::uint16_t port_ = 0;
};

std::string http_response(int status, std::string_view body, std::string_view more_headers = "");

}  // namespace damper::tests
