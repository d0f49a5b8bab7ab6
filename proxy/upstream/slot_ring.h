// Counts of the recent past, one for each slot of time. One thread writes at a time, any thread
// reads without a lock.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace damper::upstream {

// Slots are numbered by whoever divides the time. Remembers the newest kSlots of them.
template <std::size_t kSlots>
class SlotRing {
 public:
  // The highest slot that anything was counted in; -1: none.
  std::int64_t newest() const { return newest_.load(std::memory_order_relaxed); }

  // A slot older than the newest (a stale clock reading) counts as the newest. Returns the slot.
  std::int64_t add(std::int64_t slot, std::uint32_t n) {
    slot = std::max(slot, newest());
    const std::uint64_t cell = load(slot);
    store(slot, tag_of(cell) == tag(slot) ? count_of(cell) + n : n);
    newest_.store(slot, std::memory_order_relaxed);
    return slot;
  }

  void take_back(std::int64_t slot, std::uint32_t n) {
    const std::uint64_t cell = load(slot);
    if (tag_of(cell) == tag(slot)) store(slot, count_of(cell) - std::min(count_of(cell), n));
  }

  // What was counted in `current` and the kSlots - 1 slots before it.
  std::uint64_t sum(std::int64_t current) const {
    std::uint64_t total = 0;
    for (const auto& c : cells_) {
      const std::uint64_t cell = c.load(std::memory_order_relaxed);
      if (tag(current) - tag_of(cell) < kSlots) total += count_of(cell);
    }
    return total;
  }

  void clear() {
    for (auto& c : cells_) c.store(0, std::memory_order_relaxed);
    newest_.store(-1, std::memory_order_relaxed);
  }

 private:
  // Slot number (its low 32 bits) and count in one word, so that a reader never sees the count of
  // one slot under the number of another.
  static std::uint32_t tag(std::int64_t slot) { return static_cast<std::uint32_t>(slot); }
  static std::uint32_t tag_of(std::uint64_t cell) { return static_cast<std::uint32_t>(cell >> 32); }
  static std::uint32_t count_of(std::uint64_t cell) { return static_cast<std::uint32_t>(cell); }
  static std::size_t place(std::int64_t slot) { return static_cast<std::size_t>(slot) % kSlots; }

  std::uint64_t load(std::int64_t slot) const {
    return cells_[place(slot)].load(std::memory_order_relaxed);
  }
  void store(std::int64_t slot, std::uint32_t count) {
    cells_[place(slot)].store(std::uint64_t{tag(slot)} << 32 | count, std::memory_order_relaxed);
  }

  std::array<std::atomic<std::uint64_t>, kSlots> cells_{};
  std::atomic<std::int64_t> newest_{-1};
};

}  // namespace damper::upstream
