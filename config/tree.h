// A configuration text as a tree: what YAML and JSON have in common, and where each part stands.
#pragma once
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

namespace damper::config {

// Where something stands, for a message that points at it. Lines and columns count from 1, columns
// in bytes.
struct Place {
  int source = 0;  // which text: Diagnostics::add_source
  int line = 0;    // 0: the text as a whole
  int column = 0;
  int length = 1;  // of the underlined part, cut at the end of its line
  bool operator==(const Place&) const = default;
};

struct Value {
  enum class Kind { kNull, kScalar, kSequence, kMapping };
  struct Entry {
    std::string key;
    Place place;  // of the key
    const Value* value = nullptr;
  };

  Kind kind = Kind::kNull;
  Place place;
  bool quoted = false;              // a scalar that is surely text: "5" is not 5
  std::string text;                 // of a scalar
  std::vector<const Value*> items;  // of a sequence
  std::vector<Entry> entries;       // of a mapping; every key once, in the order of the file
  std::size_t total = 1;  // it and everything below it, aliases counted where they are used
  int height = 1;         // levels, itself included

  const Value* find(const std::string& key) const;
  void add_below(const Value& child);  // keeps `total` and `height`
};

// Owns the values. An alias is a second pointer to the same value, so the tree may be a directed
// graph without cycles.
class Tree {
 public:
  Value& add(Value::Kind kind, const Place& place);
  std::size_t size() const { return values_.size(); }

  const Value* root = nullptr;  // null: an empty text

  // Lays `over` on top of this tree: mappings are merged key by key, sequences are joined,
  // everything else is replaced. Takes over its values.
  void merge(Tree&& over);

 private:
  const Value* merged(const Value& under, const Value& over);
  const Value* merged_mapping(const Value& under, const Value& over);

  std::deque<std::deque<Value>> adopted_;  // of trees that were laid over this one
  std::deque<Value> values_;
};

}  // namespace damper::config
