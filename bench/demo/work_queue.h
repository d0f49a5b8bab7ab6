// A first-in-first-out queue in front of a number of slots: the work of a service whose capacity is
// bounded. The work is time that passes, no computation, so that overload is a matter of logic and
// not of the machine. A slot that becomes free starts the next job at the instant at which the one
// before ended, however late the clock is told: capacity is never lost.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <vector>

#include "base/random.h"
#include "base/time.h"

namespace damper::demo {

struct WorkOptions {
  std::size_t slots = 0;  // 0: as many as there are jobs
  Duration mean{};        // of the time that a job takes
  bool exponential = false;
  std::uint64_t seed = 1;  // drawn from in the order in which jobs start
};

class WorkQueue {
 public:
  using Job = std::uint64_t;

  explicit WorkQueue(const WorkOptions& options) : options_(options), random_(options.seed) {}

  // Whoever adds or scales has advanced to that instant before.
  void add(Job job, TimePoint now);
  // The jobs that have ended by now, in the order in which they ended.
  std::vector<Job> advance(TimePoint now);
  // When there will be something to advance; nothing while no job is here.
  std::optional<TimePoint> next() const;

  // No job starts before that; those that have started go on.
  void stall(TimePoint until) { stalled_until_ = until; }
  // So many of the slots remain in use (rounded down, at least one). Jobs that have started go on.
  void scale(double share, TimePoint now);

  std::size_t waiting() const { return waiting_.size(); }
  std::size_t running() const { return running_.size(); }
  std::size_t max_running() const { return max_running_; }

 private:
  struct Running {
    TimePoint end;
    Job job;
    bool operator>(const Running& other) const { return end > other.end; }
  };
  std::size_t usable_slots() const;
  Duration draw();
  void start_waiting(TimePoint at);

  WorkOptions options_;
  Random random_;
  double share_ = 1;
  TimePoint stalled_until_{};
  std::deque<Job> waiting_;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  std::size_t max_running_ = 0;
};

}  // namespace damper::demo
