// The loader's view of one value in the tree. Every getter writes to its target only what is
// written in the file and right; what is wrong is reported with its place, and the target keeps its
// default, so that one run finds every mistake.
//
//   RetryAfter out;                       // its initialisers are the documented defaults
//   c.read("ignore", out.ignore);
//   c.read("max_wait", out.max_wait);
//   c.no_other_keys("RetryAfter");        // unknown keys, with a did-you-mean
#pragma once
#include <concepts>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/diagnostics.h"
#include "config/values.h"

namespace damper::config {

struct Session;  // session.h

template <class Number>
struct Range {
  Number least = std::numeric_limits<Number>::lowest();
  Number most = std::numeric_limits<Number>::max();
};

template <class T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

// The least duration where none at all makes no sense.
inline constexpr Duration kPositive{1};

class Cursor {
 public:
  // A null value is a cursor at something that is not written: all its getters leave their targets
  // alone.
  Cursor(const Value* value, std::string path, Place place, Session& session);

  explicit operator bool() const { return value_ != nullptr; }
  const Value* value() const { return value_; }
  const Place& place() const {
    return place_;
  }  // of the value; of the enclosing one if not written
  const std::string& path() const { return path_; }
  Session& session() const { return session_; }
  bool is_scalar() const { return value_ && value_->kind == Value::Kind::kScalar; }
  bool is_list() const { return value_ && value_->kind == Value::Kind::kSequence; }
  bool is_mapping() const { return value_ && value_->kind == Value::Kind::kMapping; }

  // What stands under a key, in either spelling. `null` counts as not written, as in Envoy.
  Cursor at(std::string_view key);
  Cursor object(std::string_view key);             // a mapping, or an error
  std::vector<Cursor> list(std::string_view key);  // of mappings or of values, or an error
  std::vector<Cursor> items() const;               // of a sequence
  // A mapping whose keys are names: all its entries, in order. The keys count as known.
  std::vector<std::pair<std::string, Cursor>> named();
  bool has(std::string_view key) const;
  bool is_mapping_or_error() const;

  // This value as a T. False: reported, and `out` is as before.
  bool get(bool& out) const;
  bool get(std::string& out) const;
  bool get(Duration& out, Duration least = Duration::zero()) const;
  template <WholeNumber T>
  bool get(T& out, Range<T> range = {}) const {
    std::int64_t n = 0;
    const auto most = std::in_range<std::int64_t>(range.most)
                          ? static_cast<std::int64_t>(range.most)
                          : std::numeric_limits<std::int64_t>::max();
    if (!get_integer(n, static_cast<std::int64_t>(range.least), most)) return false;
    out = static_cast<T>(n);
    return true;
  }
  bool get_percent(double& out) const;  // 20, "20%", {value: 20}: 0 to 100
  template <class Enum>
  bool get_word(Enum& out, std::string_view field,
                std::initializer_list<std::pair<std::string_view, Enum>> words) const {
    std::vector<std::string_view> names;
    for (const auto& word : words) names.push_back(word.first);
    const auto which = get_index(field, names);
    if (which) out = (words.begin() + *which)->second;
    return which.has_value();
  }

  // What stands under the key, if it is written.
  template <class T, class... Limits>
  void read(std::string_view key, T& out, Limits... limits) {
    if (const Cursor c = at(key)) c.get(out, limits...);
  }
  template <class T, class... Limits>
  void read(std::string_view key, std::optional<T>& out, Limits... limits) {
    T value{};
    if (const Cursor c = at(key); c && c.get(value, limits...)) out = std::move(value);
  }
  template <class T, class... Limits>
  void read(std::string_view key, std::vector<T>& out, Limits... limits) {
    for (const Cursor& item : list(key)) {
      T value{};
      if (item.get(value, limits...)) out.push_back(std::move(value));
    }
  }
  void read_percent(std::string_view key, double& out) {
    if (const Cursor c = at(key)) c.get_percent(out);
  }
  template <class Enum>
  void read_word(std::string_view key, Enum& out,
                 std::initializer_list<std::pair<std::string_view, Enum>> words) {
    if (const Cursor c = at(key)) c.get_word(out, key, words);
  }

  // Reports at this value.
  void error(std::string message, std::string hint = {}) const;
  void warning(std::string message, std::string hint = {}) const;
  void without_effect(std::string message) const;
  void expected(std::string_view what, std::string hint = {}) const;  // "expected …, got …"
  void missing(std::string_view key) const;
  void unsupported(std::string_view what) const;  // by this version

  // True if exactly one of the keys is written, or none and `required` is false; otherwise an
  // error.
  bool one_of(std::initializer_list<std::string_view> keys, bool required);

  // To be called last: reports every key that no getter asked for. `message` says in which table of
  // other_fields.cc the keys stand that are known and not read.
  void no_other_keys(std::string_view message);

 private:
  const Value::Entry* find(std::string_view key) const;
  Cursor below(const Value::Entry& entry) const;
  bool get_integer(std::int64_t& out, std::int64_t least, std::int64_t most) const;
  std::optional<std::ptrdiff_t> get_index(std::string_view field,
                                          const std::vector<std::string_view>& words) const;
  void report_key(const Value::Entry& entry, std::string_view message) const;
  Diagnostics& diagnostics() const;

  const Value* value_;
  std::string path_;
  Place place_;
  Session& session_;
  std::vector<std::string_view> asked_;  // keys that getters asked for: literals
  std::vector<bool> seen_;               // entries that a getter has found
};

}  // namespace damper::config
