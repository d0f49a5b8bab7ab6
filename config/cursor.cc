#include "config/cursor.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "config/other_fields.h"
#include "config/session.h"

namespace damper::config {
namespace {

constexpr std::size_t kMostUnknownKeys = 20;  // reported of one mapping

std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 60;
  return "\"" + std::string(text.substr(0, kMost)) + (text.size() > kMost ? "…\"" : "\"");
}

std::string describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull: return "nothing";
    case Value::Kind::kScalar: return quoted(value.text);
    case Value::Kind::kSequence: return "a list";
    case Value::Kind::kMapping: return "a mapping";
  }
  return {};
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const auto best = nearest(word.substr(0, 80), candidates);
  return best.empty() ? std::string() : "did you mean " + quoted(best) + "?";
}

bool asks_for_nothing(const Value& value, std::string_view harmless) {
  if (value.kind == Value::Kind::kNull) return true;
  if (harmless.empty()) return false;
  if (harmless == "{}")
    return value.kind != Value::Kind::kScalar && value.items.empty() && value.entries.empty();
  return value.kind == Value::Kind::kScalar && value.text == harmless;
}

}  // namespace

Cursor::Cursor(const Value* value, std::string path, Place place, Session& session)
    : value_(value), path_(std::move(path)), place_(place), session_(session) {
  if (is_mapping()) seen_.resize(value_->entries.size());
}

Diagnostics& Cursor::diagnostics() const { return session_.diagnostics; }

const Value::Entry* Cursor::find(std::string_view key) const {
  if (!is_mapping()) return nullptr;
  const auto it = std::find_if(value_->entries.begin(), value_->entries.end(),
                               [&](const Value::Entry& e) { return same_key(e.key, key); });
  return it == value_->entries.end() ? nullptr : &*it;
}

Cursor Cursor::below(const Value::Entry& entry) const {
  return {entry.value, path_.empty() ? entry.key : path_ + "." + entry.key, entry.value->place,
          session_};
}

bool Cursor::has(std::string_view key) const {
  const Value::Entry* entry = find(key);
  return entry && entry->value->kind != Value::Kind::kNull;
}

Cursor Cursor::at(std::string_view key) {
  asked_.push_back(key);
  const Value::Entry* entry = find(key);
  if (!entry) return {nullptr, path_, place_, session_};
  const auto index = static_cast<std::size_t>(entry - value_->entries.data());
  seen_[index] = true;
  if (entry->value->kind != Value::Kind::kNull) return below(*entry);
  diagnostics().without_effect(
      {entry->place, path_, quoted(entry->key) + " has no value: as if it were not written", {}});
  return {nullptr, path_, place_, session_};
}

bool Cursor::is_mapping_or_error() const {
  if (value_ && !is_mapping()) expected("a mapping");
  return is_mapping();
}

Cursor Cursor::object(std::string_view key) {
  Cursor out = at(key);
  if (out && !out.is_mapping_or_error()) out.value_ = nullptr;
  return out;
}

std::vector<Cursor> Cursor::list(std::string_view key) {
  const Cursor value = at(key);
  if (value && !value.is_list()) value.expected("a list");
  return value.items();
}

std::vector<Cursor> Cursor::items() const {
  std::vector<Cursor> out;
  if (!is_list()) return out;
  out.reserve(value_->items.size());
  for (std::size_t i = 0; i < value_->items.size(); ++i) {
    const Value* item = value_->items[i];
    out.emplace_back(item, path_ + "[" + std::to_string(i) + "]", item->place, session_);
  }
  return out;
}

std::vector<std::pair<std::string, Cursor>> Cursor::named() {
  std::vector<std::pair<std::string, Cursor>> out;
  if (!is_mapping_or_error()) return out;
  for (const Value::Entry& entry : value_->entries) out.emplace_back(entry.key, below(entry));
  seen_.assign(seen_.size(), true);
  return out;
}

bool Cursor::get(bool& out) const {
  if (!is_scalar()) return expected("true or false"), false;
  const std::string& text = value_->text;
  if (text != "true" && text != "false") {
    const std::string small = lower(text);
    const bool yes = small == "yes" || small == "on" || small == "true";
    const bool no = small == "no" || small == "off" || small == "false";
    expected("true or false", yes ? "write true" : no ? "write false" : "");
    return false;
  }
  out = text == "true";
  return true;
}

bool Cursor::get(std::string& out) const {
  if (!is_scalar()) return expected("text"), false;
  out = value_->text;
  return true;
}

bool Cursor::get(Duration& out, Duration least) const {
  constexpr std::string_view kWhat = "a duration such as 0.5s, 500ms or 2m";
  if (!is_scalar()) return expected(kWhat), false;
  const auto duration = parse_duration(value_->text);
  if (!duration) {
    const bool bare = parse_decimal(value_->text).has_value();
    return expected(kWhat, bare ? "did you mean " + quoted(value_->text + "s") + "?" : ""), false;
  }
  if (*duration < Duration::zero()) return error("a duration must not be negative"), false;
  if (*duration < least) {
    return error(least == kPositive ? "must be more than 0" : "must be at least " + to_text(least)),
           false;
  }
  out = *duration;
  return true;
}

bool Cursor::get_integer(std::int64_t& out, std::int64_t least, std::int64_t most) const {
  constexpr std::string_view kWhat = "a whole number";
  if (!is_scalar()) return expected(kWhat), false;
  const auto number = parse_integer(value_->text);
  if (!number) return expected(kWhat), false;
  if (*number < least || *number > most) {
    const bool open_ended = most == std::numeric_limits<std::int64_t>::max();
    error(value_->text + " is out of range",
          open_ended ? "at least " + std::to_string(least)
                     : std::to_string(least) + " to " + std::to_string(most));
    return false;
  }
  out = *number;
  return true;
}

bool Cursor::get_percent(double& out) const {
  if (is_mapping()) {
    Cursor wrapper = *this;
    wrapper.read_percent("value", out);
    wrapper.no_other_keys("Percent");
    return true;
  }
  constexpr std::string_view kWhat = "a percentage such as 20, 20% or { value: 20 }";
  if (!is_scalar()) return expected(kWhat), false;
  std::string_view text = value_->text;
  if (!text.empty() && text.back() == '%') text.remove_suffix(1);
  const auto percent = parse_decimal(text);
  if (!percent) return expected(kWhat), false;
  if (*percent < 0 || *percent > 100)
    return error(value_->text + " is out of range", "0 to 100"), false;
  out = *percent;
  return true;
}

std::optional<std::ptrdiff_t> Cursor::get_index(std::string_view field,
                                                const std::vector<std::string_view>& words) const {
  std::string one_of = "one of";
  for (const auto word : words) one_of += (word == words.front() ? " " : ", ") + std::string(word);
  if (!is_scalar()) return expected(one_of), std::nullopt;
  const auto it = std::find(words.begin(), words.end(), value_->text);
  if (it != words.end()) return it - words.begin();
  if (const OtherFields* other = find_other_field(field, value_->text)) {
    unsupported(other->what);
  } else {
    expected(one_of, did_you_mean(value_->text, words));
  }
  return std::nullopt;
}

void Cursor::error(std::string message, std::string hint) const {
  diagnostics().error({place_, path_, std::move(message), std::move(hint)});
}

void Cursor::warning(std::string message, std::string hint) const {
  diagnostics().warning({place_, path_, std::move(message), std::move(hint)});
}

void Cursor::without_effect(std::string message) const {
  diagnostics().without_effect({place_, path_, std::move(message), {}});
}

void Cursor::expected(std::string_view what, std::string hint) const {
  if (value_)
    error("expected " + std::string(what) + ", got " + describe(*value_), std::move(hint));
}

void Cursor::missing(std::string_view key) const { error(quoted(key) + " is missing"); }

void Cursor::unsupported(std::string_view what) const {
  error("not supported by this version: " + std::string(what));
}

bool Cursor::one_of(std::initializer_list<std::string_view> keys, bool required) {
  std::string names;
  int written = 0;
  for (const auto key : keys) {
    names += (names.empty() ? "" : ", ") + std::string(key);
    written += has(key) ? 1 : 0;
  }
  if (written > 1) error("only one of " + names + " can be written");
  if (written == 0 && required) error("one of " + names + " is missing");
  return written == 1 || (written == 0 && !required);
}

void Cursor::no_other_keys(std::string_view message) {
  if (!is_mapping()) return;
  std::size_t reported = 0;
  for (std::size_t i = 0; i < value_->entries.size() && reported < kMostUnknownKeys; ++i) {
    if (seen_[i]) continue;
    report_key(value_->entries[i], message);
    ++reported;
  }
}

void Cursor::report_key(const Value::Entry& entry, std::string_view message) const {
  const auto same = [&](std::string_view key) { return same_key(entry.key, key); };
  if (std::any_of(asked_.begin(), asked_.end(), same)) {
    return diagnostics().error(
        {entry.place, path_, quoted(entry.key) + " is there twice, in two spellings", {}});
  }
  const OtherFields* other = find_other_field(message, entry.key);
  if (!other) {
    std::vector<std::string_view> candidates = asked_;
    append_other_fields(message, candidates);
    return diagnostics().error({entry.place, path_, "unknown key " + quoted(entry.key),
                                did_you_mean(entry.key, candidates)});
  }
  if (other->fate == OtherFields::Fate::kMisplaced) {
    return diagnostics().error({entry.place, path_, quoted(entry.key) + " does not belong here",
                                std::string(other->what)});
  }
  if (other->fate == OtherFields::Fate::kWithoutEffect ||
      asks_for_nothing(*entry.value, other->harmless)) {
    return diagnostics().without_effect(
        {entry.place, path_, quoted(entry.key) + " has no effect here", {}});
  }
  diagnostics().error(
      {entry.place,
       path_,
       quoted(entry.key) + " is not supported by this version: " + std::string(other->what),
       {}});
}

}  // namespace damper::config
