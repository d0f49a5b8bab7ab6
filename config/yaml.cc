#include "config/yaml.h"

#include <algorithm>
#include <istream>
#include <streambuf>
#include <unordered_set>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

namespace damper::config {
namespace {

constexpr std::string_view kYamlTag = "tag:yaml.org,2002:";
constexpr std::string_view kIgnore = "!ignore";
const std::string kTooMany =
    "more than " + std::to_string(kMostValues) + " values, aliases included";

Place place_of(int source, const YAML::Mark& mark) {
  if (mark.is_null()) return {.source = source};
  return {.source = source, .line = mark.line + 1, .column = mark.column + 1, .length = 1};
}

// A stream over memory that is not copied.
class TextBuffer : public std::streambuf {
 public:
  explicit TextBuffer(const std::string& text) {
    char* begin = const_cast<char*>(text.data());  // a get area is never written to
    setg(begin, begin, begin + text.size());
  }
};

// Makes the tree from the parser's events. After the first error it only listens.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(int source, Diagnostics& diagnostics) : source_(source), diagnostics_(diagnostics) {}

  Tree take() { return std::move(tree_); }
  bool failed() const { return failed_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1 && !failed_)
      fail(mark, "a second document: one file is one configuration");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (Value* node = begin(Value::Kind::kNull, mark, "?", anchor)) end(*node);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (failed_) return;
    const Value* target = anchor < anchors_.size() ? anchors_[anchor] : nullptr;
    if (expects_key()) return fail(mark, "an alias cannot be a key");
    if (!target) return fail(mark, "an alias inside what it stands for");
    place_value(*target);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (failed_) return;
    if (expects_key()) return take_key(mark, tag, value);
    Value* node = begin(Value::Kind::kScalar, mark, tag, anchor);
    if (!node) return;
    node->text = value;
    node->quoted = tag == "!" || tag == std::string(kYamlTag) + "str";
    node->place.length = static_cast<int>(value.size() + (tag == "!" ? 2 : 0));
    end(*node);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(Value::Kind::kSequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { end_collection(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(Value::Kind::kMapping, mark, tag, anchor);
  }
  void OnMapEnd() override {
    if (!failed_ && !open_.empty()) merge_inherited(open_.back());
    end_collection();
  }

 private:
  // A collection whose end has not come yet.
  struct Open {
    Value* node;
    YAML::anchor_t anchor;
    std::string key;  // of a mapping: the key whose value comes next
    Place key_place;
    bool has_key = false;
    bool ignored = false;   // that value only holds anchors
    bool inherits = false;  // that value stands behind <<
    std::unordered_set<std::string> keys{};
    std::vector<const Value*> inherited{};  // what << named
  };

  Place place(const YAML::Mark& mark) const { return place_of(source_, mark); }

  void fail(const YAML::Mark& mark, std::string message) { fail(place(mark), std::move(message)); }
  void fail(const Place& where, std::string message) {
    failed_ = true;
    diagnostics_.error({.place = where, .path = {}, .message = std::move(message), .hint = {}});
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().node->kind == Value::Kind::kMapping &&
           !open_.back().has_key;
  }

  bool known_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return true;
    constexpr std::string_view kKnown[] = {"str", "int", "float", "bool", "null", "seq", "map"};
    for (const auto name : kKnown) {
      if (tag == std::string(kYamlTag) + std::string(name)) return true;
    }
    fail(mark, tag == kIgnore ? "!ignore belongs before a top-level key" : "unknown tag " + tag);
    return false;
  }

  Value* begin(Value::Kind kind, const YAML::Mark& mark, const std::string& tag,
               YAML::anchor_t anchor) {
    if (failed_ || !known_tag(mark, tag)) return nullptr;
    if (expects_key()) {
      fail(mark, "a key must be a word");
      return nullptr;
    }
    if (open_.size() >= static_cast<std::size_t>(kDeepest)) {
      fail(mark, "more than " + std::to_string(kDeepest) + " levels");
      return nullptr;
    }
    Value& node = tree_.add(kind, place(mark));
    if (anchor != 0 && anchors_.size() <= anchor) anchors_.resize(anchor + 1);
    if (tree_.size() > kMostValues) fail(mark, kTooMany);
    if (kind == Value::Kind::kSequence || kind == Value::Kind::kMapping) {
      open_.push_back({.node = &node, .anchor = anchor, .key = {}, .key_place = {}});
    } else if (anchor != 0) {
      anchors_[anchor] = &node;
    }
    return &node;
  }

  void end_collection() {
    if (failed_) return;
    Value* node = open_.back().node;
    if (open_.back().anchor != 0) anchors_[open_.back().anchor] = node;
    open_.pop_back();
    end(*node);
  }

  void end(const Value& node) {
    if (!failed_) place_value(node);
  }

  void place_value(const Value& node) {
    if (open_.empty()) {
      tree_.root = &node;
      return;
    }
    Open& parent = open_.back();
    if (parent.node->kind == Value::Kind::kSequence) {
      parent.node->items.push_back(&node);
      parent.node->add_below(node);
    } else {
      place_entry(parent, node);
    }
    check_size(*parent.node);
  }

  // A small text must not unfold into a large tree: an alias counts as much as what it stands for.
  void check_size(const Value& grown) {
    if (static_cast<int>(open_.size()) + grown.height > kDeepest + 1) {
      fail(grown.place, "more than " + std::to_string(kDeepest) + " levels");
    }
    if (grown.total > kMostValues) fail(grown.place, kTooMany);
  }

  void place_entry(Open& parent, const Value& node) {
    parent.has_key = false;
    if (parent.ignored) return;
    if (parent.inherits) return inherit(parent, node);
    parent.node->entries.push_back({std::move(parent.key), parent.key_place, &node});
    parent.node->add_below(node);
  }

  void take_key(const YAML::Mark& mark, const std::string& tag, const std::string& key) {
    Open& parent = open_.back();
    const bool top = open_.size() == 1;
    parent.ignored = top && tag == kIgnore;
    if (!parent.ignored && !known_tag(mark, tag)) return;
    parent.inherits = key == "<<" && tag != "!";
    parent.key_place = place(mark);
    parent.key_place.length = static_cast<int>(key.size() + (tag == "!" ? 2 : 0));
    if (!parent.ignored && !parent.keys.insert(key).second) {
      return fail(parent.key_place, "duplicate key \"" + key + "\"");
    }
    parent.key = key;
    parent.has_key = true;
  }

  void inherit(Open& parent, const Value& node) {
    if (node.kind == Value::Kind::kMapping) {
      parent.inherited.push_back(&node);
      return;
    }
    const auto is_mapping = [](const Value* item) { return item->kind == Value::Kind::kMapping; };
    if (node.kind != Value::Kind::kSequence ||
        !std::all_of(node.items.begin(), node.items.end(), is_mapping)) {
      return fail(parent.key_place, "\"<<\" takes a mapping or a list of mappings");
    }
    parent.inherited.insert(parent.inherited.end(), node.items.begin(), node.items.end());
  }

  // What << brings comes after the mapping's own keys and never replaces one.
  void merge_inherited(Open& mapping) {
    for (const Value* from : mapping.inherited) {
      for (const Value::Entry& entry : from->entries) {
        merged_ += entry.value->total;
        if (merged_ > kMostValues) return fail(mapping.node->place, kTooMany);
        if (!mapping.keys.insert(entry.key).second) continue;
        mapping.node->entries.push_back(entry);
        mapping.node->add_below(*entry.value);
      }
    }
    check_size(*mapping.node);
  }

  const int source_;
  Diagnostics& diagnostics_;
  Tree tree_;
  std::vector<Open> open_;
  std::vector<const Value*> anchors_;  // by yaml-cpp's number; null while its collection is open
  std::size_t merged_ = 0;
  int documents_ = 0;
  bool failed_ = false;
};

// How many bytes the UTF-8 character at the front takes; 0: it is none (RFC 3629).
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return first == 0 ? 0 : 1;
  const std::size_t n = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool beyond = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
  return overlong || beyond ? 0 : n;
}

// Where the text stops being UTF-8; nothing if it is.
std::optional<Place> find_bad_byte(int source, std::string_view text) {
  Place at{.source = source, .line = 1, .column = 1, .length = 1};
  while (!text.empty()) {
    const std::size_t n = character_bytes(text);
    if (n == 0) return at;
    at.column += static_cast<int>(n);
    if (text.front() == '\n') {
      ++at.line;
      at.column = 1;
    }
    text.remove_prefix(n);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Tree> parse_yaml(int source, Diagnostics& diagnostics) {
  const std::string& text = diagnostics.text(source);
  const auto refuse = [&](const Place& where, std::string message) {
    diagnostics.error({.place = where, .path = {}, .message = std::move(message), .hint = {}});
    return std::nullopt;
  };
  if (text.size() > kLargestTextBytes) return refuse({.source = source}, "larger than 8 MiB");
  if (const auto bad = find_bad_byte(source, text)) return refuse(*bad, "not UTF-8 text");

  TextBuffer buffer(text);
  std::istream in(&buffer);
  TreeBuilder builder(source, diagnostics);
  try {
    YAML::Parser parser(in);
    while (!builder.failed() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& e) {
    return refuse(place_of(source, e.mark), "not YAML: " + e.msg);
  }
  if (builder.failed()) return std::nullopt;
  return builder.take();
}

}  // namespace damper::config
