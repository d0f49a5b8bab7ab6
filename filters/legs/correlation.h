// Which inbound requests are under way, by the ids that their application forwards for tracing: so
// that a call which it makes inherits the deadline and the marks of the request that it makes it
// for, and the answer to the request can say that the call was finally refused. No code of the
// application is changed for it.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "filters/legs/trace_ids.h"

namespace damper::legs {

// One inbound request. What others read does not change once it is in the table, but for the mark.
class InboundLeg {
 public:
  std::uint64_t nonce = 0;  // 0: it was not told to the application
  std::optional<TimePoint> deadline;
  std::uint32_t attempts = 1;  // x-envoy-attempt-count
  bool owned_above = false;    // a layer above retries
  std::string idempotency_key;

  // A call made for it ended with this final mark (x-damper-retry); the last one holds.
  void mark(std::string_view final_mark);
  std::string final_mark() const;  // empty: none

  // Its caller has gone, or its deadline passed: calls for it are not worth a retry.
  bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }

 private:
  friend class Correlation;

  // Its place in the table under one id: no memory is allocated for it.
  struct Node {
    std::uint64_t key = 0;
    InboundLeg* leg = nullptr;
    Node* next = nullptr;
  };
  static constexpr std::size_t kMostIds = 3;

  std::array<Node, kMostIds> nodes_;
  std::uint32_t ids_ = 0;
  std::atomic<std::uint32_t> linked_{0};  // nodes in the table, which keep it alive:
  std::shared_ptr<InboundLeg> self_;
  std::atomic<bool> abandoned_{false};
  std::atomic<bool> marked_{false};
  mutable std::mutex mu_;  // guards what follows
  std::string mark_;
};

using InboundLegs = std::vector<std::shared_ptr<InboundLeg>>;

// What a call takes over from the requests that it may be made for. If there are several, the least
// strict holds.
struct Inheritance {
  std::optional<TimePoint> deadline;
  std::uint32_t attempts = 1;
  bool no_retry = false;  // a layer above retries, or nobody waits any more
  bool operator==(const Inheritance&) const = default;
};
Inheritance inherit(const InboundLegs& legs);

// Process-wide and bounded; 16 shards with a lock each.
class Correlation {
 public:
  // Requests under one id at once; over it nothing is inherited.
  static constexpr std::size_t kMostUnderOneId = 16;
  // How long an abandoned request is remembered after its deadline.
  static constexpr Duration kLinger = std::chrono::seconds(30);

  explicit Correlation(std::uint64_t seed, std::size_t most_ids = 65'536)
      : seed_(seed), most_per_shard_(most_ids / kShards) {}
  ~Correlation();
  Correlation(const Correlation&) = delete;
  Correlation& operator=(const Correlation&) = delete;

  // False: there is no id, or no room for it.
  bool add(const std::shared_ptr<InboundLeg>& leg, const TraceIds& ids, TimePoint now);
  // The request was answered: its ids are free for other work.
  void remove(InboundLeg& leg);
  // Nobody waits for the answer, but its application may still work for it.
  void abandon(InboundLeg& leg, TimePoint now);

  enum class Match : std::uint8_t {
    kNone,     // no id, or no request under it
    kExact,    // by the nonce as well
    kById,     // by the id alone
    kTooMany,  // under the id
  };
  struct Found {
    Match match = Match::kNone;
    InboundLegs legs;
  };
  Found find(const TraceIds& ids, TimePoint now);

  std::size_t size() const;  // ids

 private:
  static constexpr std::size_t kShards = 16;

  static constexpr std::size_t kBuckets = 1024;  // of a shard

  struct alignas(64) Shard {
    mutable std::mutex mu;
    std::array<InboundLeg::Node*, kBuckets> buckets{};
    std::size_t size = 0;
    std::multimap<TimePoint, InboundLeg::Node*> lingering;
  };

  Shard& shard_of(std::uint64_t key) { return shards_[key % kShards]; }
  static InboundLeg::Node*& bucket(Shard& shard, std::uint64_t key) {
    return shard.buckets[key / kShards % kBuckets];
  }
  std::uint64_t hash(char kind, std::string_view id) const;
  void link(InboundLeg& leg, char kind, std::string_view id, TimePoint now);
  // Of those under the id, the one with that nonce alone if it is there; one more than may be is
  // enough to know that they are too many.
  InboundLegs under(std::uint64_t key, std::optional<std::uint64_t> nonce, TimePoint now);
  // Both hold the shard's lock; what is returned is released after it.
  static std::shared_ptr<InboundLeg> unlink(Shard& shard, InboundLeg::Node& node);
  static InboundLegs take_expired(Shard& shard, TimePoint now);

  const std::uint64_t seed_;
  const std::size_t most_per_shard_;
  std::array<Shard, kShards> shards_;
};

}  // namespace damper::legs
