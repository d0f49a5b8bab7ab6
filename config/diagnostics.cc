#include "config/diagnostics.h"

#include <algorithm>
#include <tuple>

namespace damper::config {
namespace {

constexpr std::size_t kMostOfAKind = 200;    // a list longer than this helps nobody
constexpr std::size_t kWidestExcerpt = 120;  // bytes of a line that are shown
constexpr std::size_t kBeforeCaret = 60;     // of them, at most so many before the caret

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

// The part of a line around its column, and where the caret stands in it.
struct Excerpt {
  std::string text;
  std::size_t caret_column = 0;  // in characters
  std::size_t caret_length = 1;
};

Excerpt excerpt(std::string_view line, std::size_t column, std::size_t length) {
  const std::size_t caret = std::min(column - 1, line.size());
  std::size_t begin =
      caret > kBeforeCaret && line.size() > kWidestExcerpt ? caret - kBeforeCaret : 0;
  while (begin < caret && continues_character(line[begin])) ++begin;
  std::size_t end = std::min(line.size(), begin + kWidestExcerpt);
  while (end < line.size() && continues_character(line[end])) ++end;
  Excerpt out{
      .text = std::string(line.substr(begin, end - begin)), .caret_column = 0, .caret_length = 1};
  for (char& c : out.text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  out.caret_column = characters(line.substr(begin, caret - begin));
  out.caret_length =
      std::max<std::size_t>(characters(line.substr(caret, std::min(length, end - caret))), 1);
  return out;
}

std::string margin(std::string_view number) {
  return std::string(number.size() < 6 ? 6 - number.size() : 0, ' ') + std::string(number) + " | ";
}

}  // namespace

std::string_view Diagnostics::Source::line(int number) const {
  if (number < 1 || static_cast<std::size_t>(number) > line_starts.size()) return {};
  const std::size_t begin = line_starts[static_cast<std::size_t>(number) - 1];
  std::size_t end = std::min(text.find('\n', begin), text.size());
  if (end > begin && text[end - 1] == '\r') --end;
  return std::string_view(text).substr(begin, end - begin);
}

int Diagnostics::add_source(std::string name, std::string text) {
  Source source{.name = std::move(name), .text = std::move(text), .line_starts = {0}};
  for (std::size_t at = source.text.find('\n'); at != std::string::npos;
       at = source.text.find('\n', at + 1)) {
    source.line_starts.push_back(at + 1);
  }
  sources_.push_back(std::move(source));
  return static_cast<int>(sources_.size()) - 1;
}

const std::string& Diagnostics::text(int source) const {
  return sources_[static_cast<std::size_t>(source)].text;
}

void Diagnostics::add(std::vector<Diagnostic>& list, Diagnostic d) {
  // An alias is read wherever it is used: its mistakes are told once.
  const auto same = [&](const Diagnostic& old) {
    return old.place == d.place && old.message == d.message;
  };
  if (list.size() >= kMostOfAKind || std::any_of(list.begin(), list.end(), same)) return;
  list.push_back(std::move(d));
}

void Diagnostics::error(Diagnostic d) { add(errors_, std::move(d)); }
void Diagnostics::warning(Diagnostic d) { add(warnings_, std::move(d)); }
void Diagnostics::without_effect(Diagnostic d) { add(without_effect_, std::move(d)); }

void Diagnostics::sort() {
  const auto earlier = [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.place.source, a.place.line, a.place.column) <
           std::tie(b.place.source, b.place.line, b.place.column);
  };
  for (auto* list : {&errors_, &warnings_, &without_effect_})
    std::stable_sort(list->begin(), list->end(), earlier);
}

std::string Diagnostics::render(const Diagnostic& d) const { return render(d, ""); }

std::string Diagnostics::render(const Diagnostic& d, std::string_view label) const {
  const Source& source = sources_[static_cast<std::size_t>(d.place.source)];
  std::string out = source.name;
  const bool placed = d.place.line > 0;
  if (placed) out += ":" + std::to_string(d.place.line) + ":" + std::to_string(d.place.column);
  out += ": " + std::string(label);
  if (!d.path.empty()) out += d.path + ": ";
  out += d.message + "\n";
  if (!placed) return d.hint.empty() ? out : out + "       " + d.hint + "\n";

  const Excerpt shown =
      excerpt(source.line(d.place.line), static_cast<std::size_t>(std::max(d.place.column, 1)),
              static_cast<std::size_t>(std::max(d.place.length, 1)));
  out += margin(std::to_string(d.place.line)) + shown.text + "\n";
  out += margin("") + std::string(shown.caret_column, ' ') + "^" +
         std::string(shown.caret_length - 1, '~');
  if (!d.hint.empty()) out += " " + d.hint;
  return out + "\n";
}

std::string Diagnostics::render_all() const {
  std::string out;
  for (const Diagnostic& d : errors_) out += render(d);
  for (const Diagnostic& d : warnings_) out += render(d, "warning: ");
  for (const Diagnostic& d : without_effect_) out += render(d, "note: ");
  return out;
}

}  // namespace damper::config
