// The streams of one connection, as both kinds of connection keep them: a vector of entries with an
// `id` and a `stream`.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "http/codec.h"

namespace damper::http {

// The entry of that stream; null if there is none (any more).
template <class Entries>
auto* find_entry(Entries& entries, StreamId id) {
  const auto at =
      std::find_if(entries.begin(), entries.end(), [id](const auto& e) { return e.id == id; });
  return at == entries.end() ? nullptr : &*at;
}

// Tells every stream that what it sent has left, until the connection closes. A stream may end and
// leave the list while it is told.
template <class Entry, class Closed>
void tell_drained(std::vector<Entry>& entries, Closed closed) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const StreamId id = entries[i].id;
    if (entries[i].stream) entries[i].stream->on_drained();
    if (closed()) return;
    if (i < entries.size() && entries[i].id != id) --i;
  }
}

}  // namespace damper::http
