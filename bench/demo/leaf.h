// The service at the end of a chain. It counts what it receives, fails as it was told to, and works
// on when its caller has left, as most services do.
//
// Which attempts fail depends only on the seed, the number of the request (header x-demo-request)
// and how many attempts of that request came before, so that an experiment repeats exactly.
//
// Control, never counted:
//   GET  /_count            {"requests", "failed", "finished", "wasted", "waiting", "running",
//                            "max_running"}; wasted: finished when the caller had left
//   GET  /_retries          when each attempt but the first of its request came, in ms since start
//   POST /_stall?ms=5000    no work starts for so long
//   POST /_scale?f=0.4      so much of the capacity remains
//   POST /_fail?percent=30  from now on
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/demo/server.h"
#include "bench/demo/work_queue.h"

namespace damper::demo {

inline constexpr std::string_view kRequestNumber = "x-demo-request";

struct LeafOptions {
  int status = 200;
  double fail_percent = 0;  // of the attempts, answered with fail_status
  int fail_status = 503;    // 0: the connection is reset instead
  WorkOptions work;         // its seed is that of the failures too
  std::size_t body_bytes = 2;
};

class Leaf {
 public:
  Leaf(event::Loop& loop, Socket listening, const LeafOptions& options);

 private:
  struct Job {
    Server::Exchange exchange;
    bool fails;
  };

  void receive(Server::Exchange exchange, const Request& request);
  void work(Server::Exchange exchange, const Request& request);
  bool fails(const Request& request);
  void advance();
  void finish(const Job& job);

  Response control(std::string_view path);
  std::string counts() const;
  std::string retries() const;

  event::Loop& loop_;
  LeafOptions options_;
  WorkQueue queue_;
  std::unique_ptr<event::Timer> timer_;
  const TimePoint start_;

  std::unordered_map<WorkQueue::Job, Job> jobs_;
  std::unordered_map<std::uint64_t, std::uint32_t> attempts_;  // by request number
  std::vector<std::int64_t> retries_;                          // ms since start
  std::uint64_t requests_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t finished_ = 0;
  std::uint64_t wasted_ = 0;
  Server server_;  // last: it calls back
};

}  // namespace damper::demo
