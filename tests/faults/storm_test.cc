// Load through a proxy whose upstreams reset, stall, trickle and lie, and whose clients vanish. For
// some seconds, or for DAMPER_FAULT_SECONDS. In the end nothing may be left over.
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>

#include "tests/support/gauges.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

using Dice = std::minstd_rand;

Duration storm_time() {
  const char* seconds = std::getenv("DAMPER_FAULT_SECONDS");
  return std::chrono::seconds(seconds ? std::atol(seconds) : 3);
}

std::string chunked(const std::string& head, const std::string& body) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", body.size());
  return "HTTP/1.1 200 OK\r\n" + head + "transfer-encoding: chunked\r\n\r\n" +
         (body.empty() ? "" : size + body + "\r\n") + "0\r\nx-sum: 1\r\n\r\n";
}

// --- Upstreams

struct Exchange {
  WireConnection& connection;
  std::string id;  // x-id of the request; a truthful answer repeats it
  Dice& dice;

  std::string head() const { return "x-id: " + id + "\r\n"; }
  std::string grpc_head() const {
    return "HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\n" + head() +
           "transfer-encoding: chunked\r\n\r\n";
  }
  std::string body() { return std::string(dice() % 50'000, 'x'); }
};

// True if the connection may go on.
using Trick = bool (*)(Exchange&);

constexpr Trick kTricks[] = {
    [](Exchange& e) { return e.connection.send(http_response(200, e.body(), e.head())); },
    [](Exchange& e) { return e.connection.send(chunked(e.head(), e.body())); },
    [](Exchange& e) { return e.connection.send(http_response(204, "", e.head())); },
    [](Exchange& e) { return e.connection.send(http_response(503, "busy", e.head())); },
    [](Exchange& e) {
      return e.connection.send(http_response(503, "", e.head() + "grpc-retry-pushback-ms: 20\r\n"));
    },
    [](Exchange& e) {  // trickles
      for (const char byte : http_response(200, "slowly", e.head())) {
        if (!e.connection.send(std::string_view(&byte, 1))) return false;
      }
      return true;
    },
    [](Exchange& e) {  // stalls before or in its answer
      if (e.dice() % 2 == 0) e.connection.send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf");
      e.connection.wait_for_close();
      return false;
    },
    [](Exchange& e) {
      e.connection.reset();
      return false;
    },
    [](Exchange&) { return false; },
    [](Exchange& e) {  // ends short
      const std::string response = chunked(e.head(), e.body());
      e.connection.send(response.substr(0, e.dice() % response.size()));
      return false;
    },
    [](Exchange& e) {  // says less than it sends: the rest is an answer to nobody
      return e.connection.send(http_response(200, "", e.head()) + http_response(200, "evil"));
    },
    [](Exchange& e) {
      return e.connection.send(
          "HTTP/1.1 200 OK\r\ncontent-length: 4\r\ntransfer-encoding: "
          "chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n");
    },
    [](Exchange& e) {
      return e.connection.send(
          "HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nevil");
    },
    [](Exchange& e) {
      return e.connection.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nevil\r\n");
    },
    [](Exchange& e) { return e.connection.send(std::string(100, '\0') + "evil"); },
    [](Exchange& e) {
      return e.connection.send("HTTP/1.1 200 OK\r\nx: " + std::string(200'000, 'x') + "\r\n\r\n");
    },
    [](Exchange& e) {  // more interim responses than anybody takes
      std::string all;
      for (int i = 0; i < 100; ++i) all += "HTTP/1.1 103 Early Hints\r\n\r\n";
      return e.connection.send(all + http_response(200, "", e.head()));
    },
    [](Exchange& e) {
      return e.connection.send(
          "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: evil\r\n\r\n");
    },
    [](Exchange& e) {
      e.connection.send("HTTP/1.1 200 OK\r\n" + e.head() + "\r\nuntil the end");
      return false;
    },
    [](Exchange& e) {  // a gRPC call that fails after its head, at once or after a moment
      e.connection.send(e.grpc_head());
      if (e.dice() % 2 == 0) e.connection.readable_within(static_cast<int>(e.dice() % 20));
      return e.connection.send("0\r\ngrpc-status: 14\r\n\r\n");
    },
    [](Exchange& e) {  // one that never tells its status
      e.connection.send(e.grpc_head());
      if (e.dice() % 2 == 0) e.connection.send("4\r\nhalf\r\n");
      if (e.dice() % 2 == 0) e.connection.wait_for_close();
      return false;
    },
};

ScriptedUpstream::Script tricks(unsigned seed) {
  return [seed](ScriptedUpstream&, WireConnection& connection, int number) {
    Dice dice(seed + static_cast<unsigned>(number));
    if (dice() % 20 == 0) {  // does not read what it is sent
      connection.readable_within(1000);
      connection.send(http_response(413, "too much"));
      return;
    }
    while (const auto request = connection.read_request()) {
      Exchange exchange{connection, request->field("x-id").value_or(""), dice};
      // Half of the answers are good, so that connections are used again.
      const std::size_t trick = dice() % 2 == 0 ? dice() % 3 : dice() % std::size(kTricks);
      if (!kTricks[trick](exchange)) return;
    }
  };
}

// --- Clients

class Client {
 public:
  Client(const RunningProxy& proxy, unsigned number)
      : proxy_(proxy), dice_(1000 + number), name_(std::to_string(number)) {}

  void run_until(TimePoint end) {
    while (Clock::now() < end) one_connection();
  }
  std::size_t stuck() const { return stuck_; }
  std::size_t mixed_up() const { return mixed_up_; }
  std::size_t answered() const { return answered_; }

 private:
  std::string request(const std::string& id) {
    std::string head = " / HTTP/1.1\r\nhost: a\r\nx-id: " + id + "\r\n";
    if (dice_() % 2 == 0) {
      head += "x-envoy-expected-rq-timeout-ms: " + std::to_string(dice_() % 500) + "\r\n";
    }
    if (dice_() % 2 == 0) {
      head += "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n";
    }
    if (dice_() % 3 == 0) head += "content-type: application/grpc\r\n";
    switch (dice_() % 4) {
      case 0: {
        const std::string body(dice_() % 100'000, 'y');
        return "PUT" + head + "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
      }
      case 1:
        return "POST" + head +
               "transfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nx-sum: 1\r\n\r\n";
      default: return "GET" + head + "\r\n";
    }
  }

  void one_connection() {
    WireConnection connection = proxy_.connect();
    switch (dice_() % 8) {
      case 0: return leave_in_request(connection);
      case 1: return leave_before_answer(connection);
      case 2: return pipeline(connection);
      case 3:
        connection.send("\x16\x03\x01 nonsense\r\n\r\n");
        connection.wait_for_close();
        return;
      default:
        for (int i = 0; i < 5 && ask(connection); ++i) {
        }
    }
  }

  void leave_in_request(WireConnection& connection) {
    const std::string bytes = request("left");
    connection.send(bytes.substr(0, dice_() % bytes.size()));
    if (dice_() % 2 == 0) connection.reset();
  }

  void leave_before_answer(WireConnection& connection) {
    connection.send(request("left"));
    connection.readable_within(static_cast<int>(dice_() % 20));
    if (dice_() % 2 == 0) connection.reset();
  }

  void pipeline(WireConnection& connection) {
    const std::string ids[] = {next_id(), next_id(), next_id()};
    for (const std::string& id : ids) {
      connection.send("GET / HTTP/1.1\r\nhost: a\r\nx-id: " + id + "\r\n\r\n");
    }
    for (const std::string& id : ids) {
      if (!read_answer(connection, id)) return;
    }
  }

  bool ask(WireConnection& connection) {
    const std::string id = next_id();
    connection.send(request(id));
    return read_answer(connection, id);
  }

  std::string next_id() { return name_ + "-" + std::to_string(++requests_); }

  bool read_answer(WireConnection& connection, const std::string& id) {
    const TimePoint start = Clock::now();
    const auto answer = connection.read_response();
    if (Clock::now() - start > std::chrono::seconds(9)) ++stuck_;
    if (!answer) return false;
    ++answered_;
    const bool foreign = answer->field("x-id").value_or(id) != id;
    if (foreign || answer->body.find("evil") != std::string::npos) ++mixed_up_;
    return answer->complete;
  }

  const RunningProxy& proxy_;
  Dice dice_;
  const std::string name_;
  std::size_t requests_ = 0;
  std::size_t stuck_ = 0;
  std::size_t mixed_up_ = 0;
  std::size_t answered_ = 0;
};

// What is on besides retries.
struct Features {
  std::string listener;
  std::string filters;
  std::string route;
  std::string cluster;
};

std::string config(const std::vector<std::unique_ptr<ScriptedUpstream>>& upstreams,
                   const LogFile& log, const Features& features) {
  const std::string trailers = "http_protocol_options: { enable_trailers: true }";
  std::string endpoints;
  for (const auto& upstream : upstreams) endpoints += upstream->endpoint() + ", ";
  return "listeners:\n- { name: in, address: \"127.0.0.1:0\", " + trailers + features.listener +
         ", filters: [ " + features.filters +
         "fault: { delay: { fixed_delay: 5ms, percentage: 10 } } ], " +
         log.setting("format: \"x\\n\"") +
         ", routes: [ { match: { prefix: / }, request_body_buffer_limit: 20000, route: { cluster: "
         "app, timeout: 400ms, " +
         retry("5xx,reset,connect-failure,timeout,unavailable",
               "num_retries: 2, per_try_timeout: 150ms") +
         features.route + " } } ] }\nclusters:\n- { name: app, endpoints: [ " + endpoints + "], " +
         trailers + features.cluster +
         ", outlier_detection: { consecutive_local_origin_failure: 20, base_ejection_time: 100ms "
         "}, "
         "circuit_breakers: { thresholds: [ { max_connections: 6, max_pending_requests: 3, "
         "max_requests: 8, retry_budget: { disabled: true } } ] } }\n";
}

void expect_that_nothing_is_left_of(const Features& features) {
  LogFile log;
  std::vector<std::unique_ptr<ScriptedUpstream>> upstreams;
  for (unsigned i = 0; i < 3; ++i) {
    upstreams.push_back(std::make_unique<ScriptedUpstream>(tricks(10'000 * i)));
  }
  RunningProxy proxy(config(upstreams, log, features),
                     {.concurrency = 2, .drain_time = Duration::zero()});

  std::vector<Client> clients;
  for (unsigned i = 0; i < 12; ++i) clients.emplace_back(proxy, i);
  std::vector<std::thread> threads;
  const TimePoint end = Clock::now() + storm_time();
  for (Client& client : clients) threads.emplace_back([&client, end] { client.run_until(end); });
  for (std::thread& thread : threads) thread.join();

  std::size_t answered = 0;
  for (const Client& client : clients) {
    EXPECT_EQ(client.stuck(), 0u);
    EXPECT_EQ(client.mixed_up(), 0u);
    answered += client.answered();
  }
  EXPECT_GT(answered, 100u);
  EXPECT_GT(proxy.stat("cluster.app.upstream_rq_retry"), 10);
  upstreams.clear();
  expect_nothing_left(proxy, log);
}

TEST(Storm, LeavesNothingBehind) { expect_that_nothing_is_left_of({}); }

TEST(Storm, LeavesNothingBehindWithEverythingOn) {
  expect_that_nothing_is_left_of(
      {.listener = ", direction: inbound",
       .filters = "deadline: { expected_cost: learned }, idempotency: { generate: true }, "
                  "admission: { max_concurrency: 7, max_queue: 4, max_wait: 50ms }, ",
       .route = ", hedge_policy: { hedge_after: 20ms, hedge_on_per_try_timeout: true }",
       .cluster =
           ", breaker: { failure_percent: 90, min_requests: 50, window: 1s, open_for: 50ms }"});
}

}  // namespace
}  // namespace damper::tests
