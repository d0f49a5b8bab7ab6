// The streams of one connection, as both kinds of connection keep them: a vector of entries with an
// `id` and a `stream`.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "http/codec.h"

namespace damper::http {

// The entry of that stream; null if there is none (any more). Streams are opened in the order of
// their ids.
template <class Entries>
auto* find_entry(Entries& entries, StreamId id) {
  const auto at = std::lower_bound(entries.begin(), entries.end(), id,
                                   [](const auto& e, StreamId i) { return e.id < i; });
  return at == entries.end() || at->id != id ? nullptr : &*at;
}

// Tells those streams that have asked for it, and of whose bytes not more than `at_most` are left,
// until the connection closes. A stream may end and leave the list while it is told. True if others
// still wait.
template <class Entry, class Unsent, class Closed>
bool tell_drained(std::vector<Entry>& entries, std::size_t at_most, Unsent unsent, Closed closed) {
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
