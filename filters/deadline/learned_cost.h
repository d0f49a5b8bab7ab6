// What an answer costs, learned from those of the last 30 s: for each route and method (gRPC
// method). Requests that were cancelled or timed out count with the time they ran.
#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "stats/recent_latency.h"
#include "stream/access_record.h"

namespace damper::deadline {

// Shared by the workers. From 1,000 operations on the rest share one.
class LearnedCost {
 public:
  // The answers of one operation.
  class Operation {
   public:
    void add(Duration took, TimePoint now);

    // At rest the 5th percentile: what hardly any request beat. With a queue the 90th: whoever
    // needs more than most has no chance. None: fewer than 20 samples. At most 100 ms old.
    std::optional<stream::ExpectedCost> cost(TimePoint now);

   private:
    std::mutex mu_;
    stats::RecentLatency latency_;
    std::optional<stream::ExpectedCost> cost_;
    std::optional<TimePoint> known_since_;
  };

  // Lives as long as this.
  Operation& operation(std::string_view route, std::string_view name);

 private:
  std::mutex mu_;
  std::map<std::string, Operation, std::less<>> known_;
};

}  // namespace damper::deadline
