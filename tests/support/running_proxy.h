// The real server in this process, on free ports, for as long as a test needs it.
#pragma once
#include <memory>
#include <string>
#include <thread>

#include "server/server.h"
#include "tests/support/wire.h"

namespace damper::tests {

class RunningProxy {
 public:
  // `yaml`: a configuration in either form; its listeners should have port 0. An admin listener is
  // added.
  explicit RunningProxy(const std::string& yaml,
                        server::Options options = {.drain_time = Duration::zero()});
  ~RunningProxy();  // drains and stops
  RunningProxy(const RunningProxy&) = delete;
  RunningProxy& operator=(const RunningProxy&) = delete;

  std::uint16_t port(std::size_t listener = 0) const;
  WireConnection connect(std::size_t listener = 0) const {
    return WireConnection::connect_to(port(listener));
  }

  // One request on a connection of its own.
  WireMessage get(const std::string& target = "/", const std::string& headers = "") const;
  WireMessage ask(const std::string& request) const;  // the bytes of a whole request

  WireMessage admin(const std::string& method, const std::string& target) const;
  long stat(const std::string& name) const;  // 0 if there is none
  // Asks again and again until it has this value; false after ten seconds.
  bool stat_becomes(const std::string& name, long value) const;

  server::Server& server() { return *server_; }
  void stop();  // as SIGTERM would; returns at once
  void wait();  // until it has ended

 private:
  std::unique_ptr<server::Server> server_;
  std::thread thread_;
};

// "retry_policy: { retry_on: …, num_retries: 1, … }" with a back-off of a millisecond.
std::string retry(const std::string& retry_on, const std::string& more = "");

// A configuration with one listener, one route and one cluster; `route` and `cluster` are more YAML
// of the route action and the cluster, in flow style: "retry_policy: {…}, timeout: 1s".
std::string one_route(const std::string& endpoints, const std::string& route = "",
                      const std::string& cluster = "", const std::string& listener = "");

}  // namespace damper::tests
