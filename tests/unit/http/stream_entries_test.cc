#include "http/stream_entries.h"

#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>

namespace damper::http {
namespace {

struct Entry {
  StreamId id = 0;
  int value = 0;
};

template <class Entries>
std::map<StreamId, int> contents(Entries& entries) {
  std::map<StreamId, int> out;
  StreamId last = 0;
  for (const Entry& e : entries) {
    EXPECT_LT(last, e.id);
    last = e.id;
    out.emplace(e.id, e.value);
  }
  return out;
}

TEST(StreamEntries, BehaveLikeAMapUnderRandomUse) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  StreamEntries<Entry> entries;
  std::map<StreamId, int> model;
  StreamId next = 1;
  for (int step = 0; step < 20'000; ++step) {
    const bool grows = step / 500 % 2 == 0;  // to about a hundred, and back
    if (model.empty() || below(10) < (grows ? 6u : 4u)) {
      entries.push({.id = next, .value = step});
      model.emplace(next, step);
      next += 2;
    } else if (below(8) == 0) {
      const Entry last = entries.pop();
      EXPECT_EQ(last.id, model.rbegin()->first);
      model.erase(last.id);
    } else {
      const auto victim = std::next(model.begin(), static_cast<long>(below(model.size())));
      Entry* const entry = entries.find(victim->first);
      ASSERT_NE(entry, nullptr);
      EXPECT_EQ(entry->value, victim->second);
      entries.erase(entry);
      EXPECT_EQ(entries.find(victim->first), nullptr);
      model.erase(victim);
    }
    ASSERT_EQ(entries.size(), model.size());
    ASSERT_EQ(entries.empty(), model.empty());
    if (step % 50 == 0) {
      ASSERT_EQ(contents(entries), model);
    }
  }
}

struct Drained {
  void on_drained() { on(); }
  std::function<void()> on;
};

struct Waiting {
  StreamId id = 0;
  Drained* stream = nullptr;
  bool wants_drained = false;
};

TEST(StreamEntries, TellThoseThatAskedAndHaveLittleLeft) {
  StreamEntries<Waiting> entries;
  std::vector<StreamId> told;
  std::map<StreamId, Drained> streams;
  for (const StreamId id : {1, 3, 5, 7}) {
    streams[id].on = [&, id] {
      told.push_back(id);
      if (id == 3) entries.erase(entries.find(3));  // it ends meanwhile
    };
    entries.push({id, &streams[id], id != 1});
  }
  std::map<StreamId, std::size_t> unsent = {{3, 10}, {5, 10}, {7, 11}};
  const auto tell = [&] {
    return tell_drained(
        entries, 10, [&](StreamId id) { return unsent[id]; }, [] { return false; });
  };
  EXPECT_TRUE(tell());
  EXPECT_EQ(told, (std::vector<StreamId>{3, 5}));
  unsent[7] = 0;
  EXPECT_FALSE(tell());
  EXPECT_EQ(told, (std::vector<StreamId>{3, 5, 7}));
  EXPECT_FALSE(tell());
  EXPECT_EQ(told.size(), 3u);
}

}  // namespace
}  // namespace damper::http
