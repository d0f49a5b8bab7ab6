// The streams of one connection, as connections and codecs keep them: in the order of their ids,
// which is that in which they are opened. An entry has an `id`.
#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "http/codec.h"

namespace damper::http {

// A sorted vector that forgets near its begin as cheaply as near its end: streams end about in the
// order in which they were opened, and there may be a thousand.
template <class Entry>
class StreamEntries {
 public:
  bool empty() const { return first_ == all_.size(); }
  std::size_t size() const { return all_.size() - first_; }
  auto begin() { return all_.begin() + static_cast<std::ptrdiff_t>(first_); }
  auto end() { return all_.end(); }
  auto begin() const { return all_.begin() + static_cast<std::ptrdiff_t>(first_); }
  auto end() const { return all_.end(); }
  Entry& operator[](std::size_t i) { return all_[first_ + i]; }
  Entry& back() { return all_.back(); }

  // Null if there is none (any more).
  Entry* find(StreamId id) {
    if (empty()) return nullptr;
    if (back().id == id) return &back();
    // Ids are two apart: while none has left before its elders, this is the place.
    const auto guess = static_cast<std::size_t>(id - begin()->id) / 2;
    if (guess < size() && (*this)[guess].id == id) return &(*this)[guess];
    const auto at =
        std::lower_bound(begin(), end(), id, [](const Entry& e, StreamId i) { return e.id < i; });
    return at != end() && at->id == id ? &*at : nullptr;
  }

  const Entry* find(StreamId id) const { return const_cast<StreamEntries*>(this)->find(id); }

  Entry& push(Entry&& entry) {
    if (first_ > 0 && all_.size() == all_.capacity()) {
      std::move(begin(), end(), all_.begin());
      all_.resize(all_.size() - std::exchange(first_, 0));
    }
    all_.push_back(std::move(entry));
    return all_.back();
  }

  void erase(Entry* entry) {
    const auto at = all_.begin() + (entry - all_.data());
    if (at - begin() < end() - at) {
      std::move_backward(begin(), at, at + 1);
      *begin() = Entry{};
      ++first_;
    } else {
      all_.erase(at);
    }
    if (!empty()) return;
    all_.clear();
    first_ = 0;
  }

  Entry pop() {  // the last
    Entry last = std::move(back());
    erase(&back());
    return last;
  }

  void release_memory() {
    if (empty()) all_ = std::vector<Entry>();
  }

 private:
  std::vector<Entry> all_;  // from first_ on
  std::size_t first_ = 0;
};

// HTTP/2: bytes of a body have been handed on. The stream's window is given back, or, while it is
// paused, when it goes on. The stream may have ended over them.
template <class Entries, class Codec>
void body_delivered(Entries& entries, Codec& codec, StreamId id, std::size_t bytes) {
  auto* const entry = entries.find(id);
  if (entry && entry->paused) {
    entry->unconsumed += bytes;
  } else {
    codec.consumed(id, bytes);
  }
}

// A paused stream goes on. False: it is not there, or was not paused.
template <class Entries, class Codec>
bool body_resumed(Entries& entries, Codec& codec, StreamId id) {
  auto* const entry = entries.find(id);
  if (!entry || !std::exchange(entry->paused, false)) return false;
  codec.consumed(id, std::exchange(entry->unconsumed, 0));
  return true;
}

// Tells those streams that have asked for it, and of whose bytes not more than `at_most` are left,
// until the connection closes. A stream may end and leave the list while it is told. True if others
// still wait.
template <class Entries, class Unsent, class Closed>
bool tell_drained(Entries& entries, std::size_t at_most, Unsent unsent, Closed closed) {
  bool others_wait = false;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].wants_drained) continue;
    const StreamId id = entries[i].id;
    if (unsent(id) > at_most) {
      others_wait = true;
      continue;
    }
    entries[i].wants_drained = false;
    if (entries[i].stream) entries[i].stream->on_drained();
    if (closed()) return false;
    if (i < entries.size() && entries[i].id != id) --i;
  }
  return others_wait;
}

}  // namespace damper::http
