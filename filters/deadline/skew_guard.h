// Whose clock can be believed. Absolute deadlines rest on two clocks; a peer most of whose
// deadlines are past when they come has a wrong one, or we do (semantics.md §6).
#pragma once
#include <bitset>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

namespace damper::deadline {

// Shared by the workers. Remembers the last 100 absolute deadlines of each of 1,000 peers.
class SkewGuard {
 public:
  // Notes one more deadline of that peer; false: its clock is not to be believed.
  bool believes(std::string_view peer, bool past);

 private:
  static constexpr std::size_t kRemembered = 100;
  static constexpr std::size_t kMostPeers = 1000;

  struct Peer {
    std::string name;
    std::bitset<kRemembered> past;
    std::size_t next = 0;
  };

  Peer& find(std::string_view name);

  std::mutex mu_;
  std::list<Peer> peers_;  // the one heard of last first
  std::unordered_map<std::string_view, std::list<Peer>::iterator> by_name_;
};

}  // namespace damper::deadline
