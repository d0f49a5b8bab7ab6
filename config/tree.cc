#include "config/tree.h"

#include <algorithm>

#include "config/values.h"

namespace damper::config {

const Value* Value::find(const std::string& key) const {
  const auto it =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
  return it == entries.end() ? nullptr : it->value;
}

void Value::add_below(const Value& child) {
  total += child.total;
  height = std::max(height, child.height + 1);
}

Value& Tree::add(Value::Kind kind, const Place& place) {
  Value& value = values_.emplace_back();
  value.kind = kind;
  value.place = place;
  return value;
}

void Tree::merge(Tree&& over) {
  const Value* top = over.root;
  adopted_.push_back(std::move(over.values_));
  for (auto& values : over.adopted_) adopted_.push_back(std::move(values));
  if (!top || !root) {
    root = top ? top : root;
    return;
  }
  root = merged(*root, *top);
}

const Value* Tree::merged(const Value& under, const Value& over) {
  if (under.kind != over.kind) return &over;
  if (over.kind == Value::Kind::kMapping) return merged_mapping(under, over);
  if (over.kind != Value::Kind::kSequence) return &over;
  Value& out = add(Value::Kind::kSequence, over.place);
  out.items = under.items;
  out.items.insert(out.items.end(), over.items.begin(), over.items.end());
  return &out;
}

const Value* Tree::merged_mapping(const Value& under, const Value& over) {
  Value& out = add(Value::Kind::kMapping, over.place);
  out.entries = under.entries;
  for (const Value::Entry& entry : over.entries) {
    const auto old =
        std::find_if(out.entries.begin(), out.entries.end(),
                     [&](const Value::Entry& e) { return same_key(e.key, entry.key); });
    if (old == out.entries.end()) {
      out.entries.push_back(entry);
    } else {
      *old = {entry.key, entry.place, merged(*old->value, *entry.value)};
    }
  }
  return &out;
}

}  // namespace damper::config
