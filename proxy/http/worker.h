// What every object of one worker thread may use: its loop, its memory for reading, its randomness,
// its statistics.
#pragma once
#include <cstdint>

#include "base/random.h"
#include "event/loop.h"
#include "net/connection.h"
#include "stats/stats.h"

namespace damper::http {

struct Worker {
  Worker(unsigned index_, unsigned workers_, std::uint64_t seed, stats::Cells& cells_)
      : index(index_), workers(workers_), random(seed), cells(cells_), next_id_(index_) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Ids of connections and streams: unique in the process without a shared counter.
  std::uint64_t new_id() { return next_id_ += workers; }

  const unsigned index;
  const unsigned workers;
  event::Loop loop;
  net::ReadBlock read_block;
  Random random;
  stats::Cells& cells;
  std::size_t replay_bytes = 0;      // held by all replay copies of this worker
  std::size_t replay_bytes_max = 0;  // over it, copies are given up
  bool overloaded = false;           // no memory for new requests

 private:
  std::uint64_t next_id_;
};

}  // namespace damper::http
