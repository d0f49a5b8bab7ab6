// Names to addresses by c-ares, without ever blocking: the hosts file first, then DNS over UDP,
// over TCP where an answer was truncated. For the main thread's loop.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/model/cluster.h"
#include "event/loop.h"
#include "net/address.h"

struct ares_channeldata;
struct ares_addrinfo;

namespace damper::net {

using namespace std::chrono_literals;

struct Resolution {
  std::vector<Address> addresses;  // in the order of the answer; their port is 0
  std::chrono::seconds ttl{};  // the shortest in the answer; 0: it says nothing (the hosts file)
};

// Keeps a question alive: destroying it cancels, and then nobody is called any more.
class Query {
 public:
  Query() = default;
  explicit Query(std::function<void()> cancel) : cancel_(std::move(cancel)) {}
  Query(Query&& other) noexcept : cancel_(std::exchange(other.cancel_, nullptr)) {}
  Query& operator=(Query&& other) noexcept {
    if (const auto cancel = std::exchange(cancel_, std::exchange(other.cancel_, nullptr))) cancel();
    return *this;
  }
  ~Query() {
    if (cancel_) cancel_();
  }

 private:
  std::function<void()> cancel_;
};

struct ResolverOptions {
  // How long the first try waits. Each server is tried `tries` times, with twice the patience each
  // time that all have been tried: 14 s by default for one server that is silent.
  std::chrono::milliseconds first_timeout = 2s;
  int tries = 3;
  // Search domains and, if no servers are given, servers. Read again after a failure: it may not
  // have been there when the process started, or may have changed since.
  std::string resolv_conf = "/etc/resolv.conf";
};

class Resolver {
 public:
  // What a question came to:
  // - addresses;
  // - none: all servers' answers say so (NXDOMAIN, or no record of the family asked for);
  // - an error, when nothing is known: kTimeout, kRefused (SERVFAIL, REFUSED, no server),
  //   kProtocol (a malformed answer), kInvalid (no name that DNS could carry), kSystem.
  using Done = std::function<void(Result<Resolution>)>;

  // Servers are IP literals, port 0 means 53; none means those of resolv_conf.
  Resolver(event::Loop& loop, const std::vector<config::Endpoint>& servers,
           ResolverOptions options = {});
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // Calls `done` once, later and from the loop, never from inside resolve(). `done` may destroy the
  // query. Queries die before the resolver.
  //
  // Both families are asked at once, unless only one is wanted. kAuto: IPv6 addresses if there are
  // any that this machine has a route to, otherwise IPv4. kV4Preferred: IPv4 if there are any,
  // otherwise IPv6. kAll: IPv6, then IPv4. If one family fails, the other's addresses are the
  // answer.
  [[nodiscard]] Query resolve(const std::string& name, config::Cluster::DnsFamily family,
                              Done done);

 private:
  struct CloseChannel {
    void operator()(ares_channeldata* channel) const;
  };
  using Channel = std::unique_ptr<ares_channeldata, CloseChannel>;
  class Socket;
  struct Request;

  void open_channels();
  void read_search_list();
  std::vector<std::string> candidates(const std::string& name) const;
  bool asking() const;
  void ask_hosts_file(const std::string& name, Request& request);
  void ask_dns(Request& request);
  static void on_answer(void* request, int status, int timeouts, ares_addrinfo* answer);
  void finish(Request& request);
  void deliver(std::uint64_t id);
  void cancel(std::uint64_t id);

  static void on_socket(void* resolver, int fd, int readable, int writable);
  void process(int readable, int writable);
  void arm_timer();

  event::Loop& loop_;
  const std::string servers_;  // as c-ares reads them: "10.0.0.1:53,[::1]:53"
  const ResolverOptions options_;
  std::unique_ptr<event::Timer> timer_;  // of c-ares: when a try has waited long enough
  std::vector<std::string> search_;
  int search_below_dots_ = 1;
  bool stale_ = false;  // a question failed: perhaps resolv_conf has changed
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Request> requests_;
  std::unordered_map<int, std::unique_ptr<Socket>> sockets_;
  Channel hosts_file_;
  Channel dns_;  // first to die: it takes leave of requests and sockets
};

}  // namespace damper::net
