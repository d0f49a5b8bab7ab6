// The pool of one host, whose connections a test accepts and answers; timeouts are moved by hand.
#pragma once
#include <functional>
#include <gtest/gtest.h>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/heads.h"
#include "tests/support/manual_scheduler.h"
#include "tests/support/sockets.h"
#include "upstream/host_pool.h"

namespace damper::upstream {

constexpr const char* kOk = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

// Sends a GET on the connection that it gets.
struct NotingPoolUser final : PoolUser, http::ClientStream {
  NotingPoolUser(std::vector<std::string>& log_, std::string name_)
      : log(log_), name(std::move(name_)) {}

  void on_connection(http::ClientConnection& c) override {
    log.push_back(name + " on " + std::to_string(c.id()));
    connection = &c;
    id = c.open(*this, tests::request("x", "/" + name), true);
  }
  void on_no_connection(PoolFailure failure, std::string_view) override {
    constexpr const char* kWords[] = {"connect failure", "connect timeout", "overflow"};
    log.push_back(name + " " + kWords[static_cast<std::size_t>(failure)]);
  }
  void on_interim(http::ResponseHead&&) override {}
  void on_response_head(http::ResponseHead&&, bool) override {}
  void on_response_body(Buffer&, bool end) override {
    if (end) log.push_back(name + " answered");
    if (end && then) then();
  }
  void on_response_trailers(http::Fields&&) override {}
  void on_stream_failed(const http::StreamFailure& f) override {
    log.push_back(name + (f.reused_and_silent ? " lost the race" : " failed"));
  }
  void on_drained() override {}

  std::vector<std::string>& log;
  const std::string name;
  http::ClientConnection* connection = nullptr;
  http::StreamId id = 0;
  std::function<void()> then;
};

struct PoolBench {
  explicit PoolBench(const config::Cluster& config_ = {.name = "app"},
                     std::optional<net::Address> address = {})
      : config(std::make_shared<const config::Cluster>(config_)),
        host(std::make_shared<Host>(address.value_or(backend.address()), "app", 1, 0)) {}
  ~PoolBench() {
    pool.reset();
    worker.loop.run_once();
  }

  NotingPoolUser& acquire(const std::string& name) {
    NotingPoolUser& user = users.emplace_back(log, name);
    pool->acquire(user);
    return user;
  }
  std::vector<std::string> turn(int turns = 1) {
    tests::run_turns(worker.loop, turns);
    return std::exchange(log, {});
  }
  // The upstream's end of the next connection.
  tests::Peer& accept() {
    peers.push_back(backend.accept());
    EXPECT_TRUE(peers.back());
    return peers.back();
  }
  // A request of its own, answered: an idle connection is left.
  tests::Peer& warm_up(const std::string& name = "first") {
    acquire(name);
    turn();
    tests::Peer& peer = accept();
    answer(peer);
    return peer;
  }
  std::vector<std::string> answer(tests::Peer& peer, std::string_view response = kOk) {
    peer.send(response);
    return turn();
  }
  std::int64_t gauge(stats::Gauge g) const { return registry.value(g); }
  std::uint64_t count(stats::Counter c) const { return registry.value(c); }

  std::vector<std::string> log;
  std::list<NotingPoolUser> users;
  tests::Backend backend;
  std::list<tests::Peer> peers;
  stats::Registry registry;
  http::Worker worker{0, 1, 1, registry.new_cells()};
  tests::ManualScheduler time;
  std::shared_ptr<const config::Cluster> config;
  ClusterState state{*config, registry, {}, 1};
  PoolTimeouts timeouts{time, *config};
  HostPtr host;
  std::unique_ptr<HostPool> pool = std::make_unique<HostPool>(
      worker, config, state, timeouts, host, config::Priority::kDefault, config->http);
};

}  // namespace damper::upstream
